"""Turn an official instrumentation off and leave alone what others laid over it.

The instrumentations take the outermost wrapper off an SDK's methods, or put the methods back that they found: a wrapper
that came later, of whoever, would go instead of theirs. So it is put back, with theirs taken out from under it. A wrapper
that is a plain closure cannot be opened; the instrumentations leave such a one in place, and theirs under it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from otel_footprint.genai.sdks import Sdk

_LAYERS: Final = 16


@dataclass(frozen=True, slots=True)
class _Covered:
    """A method on which others have wrappers over the official one. ``lowest`` is the last of theirs above it."""

    owner: type[Any]
    name: str
    outermost: Any
    lowest: Any
    beneath: Any


def uninstrument(sdk: Sdk, instrumentor: Any) -> None:
    """Turn ``instrumentor`` off, keeping the wrappers of others on the SDK's methods."""
    covered = list(_covered(sdk, sdk.instrumentor.partition(":")[0]))
    instrumentor.uninstrument()
    for method in covered:
        method.lowest.__wrapped__ = method.beneath
        setattr(method.owner, method.name, method.outermost)


def _covered(sdk: Sdk, official: str) -> Iterator[_Covered]:
    root = sdk.module.partition(".")[0] + "."
    seen: set[int] = set()
    for module_name, module in list(sys.modules.items()):
        if not (module_name + ".").startswith(root):
            continue
        for owner in list(vars(module).values()) if module is not None else ():
            # By its real type: isinstance would ask a lazy proxy for its class, and so load what it stands for.
            if not issubclass(type(owner), type) or id(owner) in seen:
                continue
            seen.add(id(owner))
            for name, outermost in list(vars(owner).items()):
                if hasattr(type(outermost), "_self_wrapper"):
                    found = _open(outermost, official)
                    if found is not None:
                        yield _Covered(owner, name, outermost, *found)


def _open(outermost: Any, official: str) -> tuple[Any, Any] | None:
    """The wrapper right above the official one, and what is beneath that; None where nothing is above it."""
    above, layer = None, outermost
    for _ in range(_LAYERS):
        wrapper = getattr(layer, "_self_wrapper", None)
        if wrapper is None:
            return None
        if str(getattr(wrapper, "__module__", "")).startswith(official):
            return None if above is None else (above, layer.__wrapped__)
        above, layer = layer, layer.__wrapped__
    return None
