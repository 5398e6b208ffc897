"""Where conversations are kept so that other workers go on with them: the protocol, and how a store is named.

Rules
-----
- Without a store conversations live in this process only: that is the default.
- A document has a version, a word that is another one after each write. A worker that has that version has the same state.
- A write names the version it is based on. Where another one is kept by now, the document that has come further stays; of two
  that have come as far the one that is written last. So the numbers of turns and calls never go back.
- Documents hold texts of messages and results only where the store says so (``keeps_text``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from otel_footprint.core.errors import ConfigurationError

SCHEMES: Final = ("redis", "rediss", "unix")


@dataclass(frozen=True, slots=True)
class Kept:
    """A document as it is kept: JSON in UTF-8."""

    version: str
    document: bytes


@runtime_checkable
class Store(Protocol):
    """A store. Its methods may raise anything and may hang: they are called with a deadline, on threads of their own."""

    @property
    def keeps_text(self) -> bool:
        """Whether texts of messages and of results may be kept there."""
        ...

    @property
    def wait_s(self) -> float:
        """How long one call of a model may wait for the store, reading and writing together, in seconds."""
        ...

    def open(self) -> None:
        """Make a first connection, so that the first call need not. Called once, when observation is turned on."""
        ...

    def read(self, conversation_id: str, version: str | None) -> Kept | None:
        """What is kept of a conversation; None for nothing, and where it is the ``version`` that is known."""
        ...

    def write(self, conversation_id: str, document: bytes, *, based_on: str | None, calls: int) -> str | None:
        """Keep a document that is based on a version and has come ``calls`` calls far: its version.

        None where it was not kept, since another one has come further.
        """
        ...

    def close(self) -> None:
        """Let connections go."""
        ...


def store_of(given: object, setting: str) -> Store:
    """The store that an argument or a variable names, or is. Raises :class:`ConfigurationError` that quotes ``setting``."""
    if isinstance(given, str):
        if given.partition("://")[0] not in SCHEMES:
            raise ConfigurationError(
                f"{setting}: {_without_secret(given)!r} is not known; write redis://host:6379/0, or rediss:// for TLS"
            )
        try:
            from otel_footprint.store_redis import RedisStore
        except ImportError as error:
            raise ConfigurationError(
                f"{setting}={_without_secret(given)!r} needs the Redis client: install the extra `redis` (pip install redis)"
            ) from error
        return RedisStore.from_url(given, setting)
    if isinstance(given, type) or not isinstance(given, Store):
        raise ConfigurationError(
            f"{setting}={type(given).__name__}: give the address of a Redis server, such as redis://localhost:6379/0"
        )
    return given


def _without_secret(address: str) -> str:
    """An address without what stands before its host and after its path: a password may be in both."""
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2].partition('?')[0]}"[:120]
