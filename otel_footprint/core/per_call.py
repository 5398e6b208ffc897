"""The dataclass of what is made anew for every call: frozen for the type checker, and at run time not.

A frozen dataclass sets each of its fields through ``object.__setattr__``. A call sets a hundred, which makes a twentieth of
what it costs beside judging; and that none of them is written to later, the type checker sees. What an application gets into
its hands is frozen in earnest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as per_call
else:
    from dataclasses import dataclass

    def per_call(*, frozen: bool, **options: bool):
        """As ``dataclass``, with equality and hash of a frozen one."""
        return dataclass(unsafe_hash=frozen, **options)


__all__ = ["per_call"]
