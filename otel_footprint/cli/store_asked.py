"""Whether the configured store answers, and how fast, asked once with a timeout of its own.

Rules
-----
- Nothing is read or written but a PING. What comes back is held against how long a call of a model may wait.
- No user, password or option of the address shows, and no words of the client's: they may quote it.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Final

from otel_footprint.cli.endpoints import shown_endpoint
from otel_footprint.store import Store

_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What came back. ``answers`` is None where there is no way to ask; ``remedy`` says what to do, empty where nothing is."""

    address: str
    answers: bool | None
    detail: str
    remedy: str = ""


def ask(store: Store, address: str) -> Asked:
    """Ask the store at an address of the environment. Takes two seconds at most for connecting, and two for the answer."""
    import redis

    from otel_footprint.store_redis import RedisStore

    shown = shown_endpoint(address)
    if not isinstance(store, RedisStore):
        return Asked(shown, None, "not a Redis server; not asked")
    try:
        took = store.answers_in(_TIMEOUT_S)
    except redis.AuthenticationError:
        remedy = "put the user and the password before the host, redis://user:password@host:6379/0"
        return Asked(shown, False, "it refuses the user or the password", remedy)
    except redis.TimeoutError:
        return Asked(shown, False, f"no answer in {_TIMEOUT_S:g} s", "see whether the host and the port are right")
    except (redis.RedisError, OSError) as error:
        remedy = "start Redis there, or set OTEL_FOOTPRINT_STORE to where it is (rediss:// for TLS)"
        return Asked(shown, False, _why(error), remedy)
    detail = f"it answers in {took * 1000:.1f} ms; a call waits {store.wait_s * 1000:g} ms at most"
    if took > store.wait_s / 2:  # a call reads and writes
        return Asked(shown, False, detail, f"give it longer: ?wait_ms={max(1, round(took * 4000))}")
    return Asked(shown, True, detail)


def _why(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, socket.gaierror):
        return "its host has no address"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno).lower()
    return f"it refuses ({type(error).__name__})"
