"""The one guard between us and the application: a fault of ours is logged once per place, counted and swallowed.

Rules
-----
- Only ``Exception`` is swallowed: ``KeyboardInterrupt``, ``SystemExit`` and cancellation pass.
- Only code of ours runs inside the guard, never the application's or the provider's: their exceptions pass unmodified.
- What something outside of us did, such as a store that does not answer, is said in words of ours: once, wherever it shows.
- The log line names the place, the exception's type and the line that raised it, with a traceback at debug level: a
  message of an exception may quote the conversation.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from otel_footprint.core.raising import position

_UNAFFECTED: Final = "the application is not affected, and further ones are only counted"
_logger = logging.getLogger("otel_footprint")
_said: Final[set[str]] = set()
_lock: Final = threading.RLock()  # re-entrant: a guarded place may run from a finaliser inside another one
_seen: Final[set[str]] = set()
_counts: Final[dict[str, int]] = {}
_listeners: Final[list[Callable[[str], None]]] = []


class OutsideFault(Exception):
    """Something outside of us failed. ``str()`` is the whole log line, without a word of the conversation or a password."""


class guard:
    """Run a block of ours so that no exception of it reaches the application.

    ``place`` is a short constant name; ``says`` ends the log line. A class and no generator, since dozens are entered in
    every call.
    """

    __slots__ = ("_place", "_says")

    def __init__(self, place: str, says: str = _UNAFFECTED) -> None:
        self._place = place
        self._says = says

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: object) -> bool:
        if not isinstance(fault, Exception):
            return False
        _report(self._place, fault, self._says)
        return True


def ask(place: str, question: Callable[[], bool]) -> bool:
    """The answer to a question of ours that is asked at every call; False where asking fails. A guard that costs nothing."""
    try:
        return question()
    except Exception as fault:
        _report(place, fault, _UNAFFECTED)
        return False


def _report(place: str, fault: Exception, says: str) -> None:
    with _lock:
        _counts[place] = _counts.get(place, 0) + 1
        seen, line = (_said, str(fault)) if isinstance(fault, OutsideFault) else (_seen, place)
        first = line not in seen
        seen.add(line)
        listeners = tuple(_listeners)
    if first and isinstance(fault, OutsideFault):
        _logger.warning("otel-footprint: %s.", line)
    elif first:
        _logger.warning(
            "otel-footprint: internal error in %s (%s, %s); %s.", place, type(fault).__name__, position(fault), says
        )
    _logger.debug("otel-footprint: internal error in %s", place, exc_info=fault)
    for listener in listeners:
        try:
            listener(place)
        except Exception as second:
            _logger.debug("otel-footprint: counting an internal error failed", exc_info=second)


def listen(listener: Callable[[str], None]) -> Callable[[], None]:
    """Call ``listener(place)`` for each swallowed fault; returns the function that stops it."""
    with _lock:
        _listeners.append(listener)

    def stop() -> None:
        with _lock:
            if listener in _listeners:
                _listeners.remove(listener)

    return stop


def fault_counts() -> dict[str, int]:
    """How many faults were swallowed, by place, since the process started."""
    with _lock:
        return dict(_counts)


def after_fork_in_child() -> None:
    """Forget the parent's counts: a forked worker is a process of its own."""
    with _lock:
        _counts.clear()
