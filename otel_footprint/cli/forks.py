"""Processes that fork under ``otel-footprint run``: a child exports what it sees, whatever it was forked from and however it ends.

Rules
-----
- No export is under way while a process forks. gRPC makes no preparations for a fork where another thread is inside it, and
  the child's exports then hang. A fork waits a second for that at most.
- A child counts from nothing. It is an instance of its own, so sums that it inherited would count a second time.
- A child sends over connections of its own. One that the parent keeps open would be written on by both: requests and
  answers of the two get mixed up, and exports are lost.
- A child that ends without Python's own end (``os._exit``, as the children of multiprocessing and of Celery's pool do)
  sends what it has at the place where its library says that it ends; that takes five seconds at most.
- What the SDK does not show is looked for and may be missing: then nothing is held, and nothing breaks.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

from wrapt import register_post_import_hook

from otel_footprint.boundary import guard

_WAIT_SECONDS: Final = 1.0
_FLUSH_SECONDS: Final = 5.0


def survive_forks(providers: tuple[Any, ...]) -> None:
    """Set this up for the process's three providers."""
    if not hasattr(os, "register_at_fork"):
        return
    _hold_exports(providers)
    flusher = _Flusher(providers)
    register_post_import_hook(lambda module: _at_the_end_of(module, flusher), "multiprocessing.util")
    register_post_import_hook(lambda module: _at_celerys_end(module, flusher), "celery.signals")


def flush(providers: tuple[Any, ...], seconds: float) -> None:
    """Send what there is, all signals at once, in ``seconds`` at most."""
    workers = [threading.Thread(target=_force, args=(provider, seconds), daemon=True) for provider in providers]
    end = time.monotonic() + seconds
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(max(0.0, end - time.monotonic()))


def _force(provider: Any, seconds: float) -> None:
    force = getattr(provider, "force_flush", None)
    if force is not None:
        with guard("run.flush"):
            force(int(seconds * 1000))


class _Flusher:
    """Flushes the providers in a child; an object of its own, since multiprocessing remembers it weakly."""

    def __init__(self, providers: tuple[Any, ...]) -> None:
        self._providers: Final = providers

    def __call__(self, **_: object) -> None:
        flush(self._providers, _FLUSH_SECONDS)


_kept: Final[list[_Flusher]] = []


def _at_the_end_of(util: Any, flusher: _Flusher) -> None:
    """``multiprocessing``: its children run their finalisers and then ``os._exit``."""
    with guard("run.forks"):
        _kept.append(flusher)
        util.register_after_fork(flusher, lambda it: util.Finalize(None, it, exitpriority=0))


def _at_celerys_end(signals: Any, flusher: _Flusher) -> None:
    """Celery: a pool's child says that it ends, and then ``os._exit``."""
    with guard("run.forks"):
        signals.worker_process_shutdown.connect(flusher, weak=False)


def _hold_exports(providers: tuple[Any, ...]) -> None:
    held: list[Any] = []

    def before() -> None:
        with guard("run.forks"):
            end = time.monotonic() + _WAIT_SECONDS
            for lock in _export_locks(providers):
                if lock.acquire(timeout=max(0.0, end - time.monotonic())):
                    held.append(lock)

    def after() -> None:
        while held:
            held.pop().release()

    def after_in_child() -> None:
        after()
        with guard("run.forks"):
            for provider in providers:
                _count_from_nothing(provider)
        with guard("run.forks"):
            for exporting in _exporting(providers):
                _connect_anew(getattr(exporting, "_exporter", None))

    os.register_at_fork(before=before, after_in_parent=after, after_in_child=after_in_child)


def _count_from_nothing(provider: Any) -> None:
    """Forget the sums of a meter provider, and locks that another thread may have held when the process forked."""
    consumer = getattr(provider, "_measurement_consumer", None)
    for storage in getattr(consumer, "_reader_storages", {}).values():
        if hasattr(storage, "_instrument_view_instrument_matches"):
            storage._instrument_view_instrument_matches = {}
        if hasattr(storage, "_lock"):
            storage._lock = threading.RLock()
    if hasattr(consumer, "_lock"):
        setattr(consumer, "_lock", threading.Lock())  # noqa: B010 - the SDK's own, of a type that is not to be had


def _connect_anew(exporter: Any) -> None:
    """Close an HTTP exporter's connections in this process; the parent's own stay open."""
    client = getattr(exporter, "_client", None)
    for holder in (exporter, client, getattr(client, "_transport", None)):
        close = getattr(getattr(holder, "_session", None), "close", None)
        if close is not None:
            close()  # a session of requests makes new connections when it is used again


def _export_locks(providers: tuple[Any, ...]) -> Iterator[Any]:
    """The locks that the SDK holds while it exports."""
    for exporting in _exporting(providers):
        lock = getattr(exporting, "_export_lock", None)
        if lock is not None:
            yield lock


def _exporting(providers: tuple[Any, ...]) -> Iterator[Any]:
    """What exports in the SDK: batch processors and periodic metric readers, each with its ``_exporter``."""
    for provider in providers:
        spans = getattr(getattr(provider, "_active_span_processor", None), "_span_processors", ())
        logs = getattr(getattr(provider, "_multi_log_record_processor", None), "_log_record_processors", ())
        readers = getattr(provider, "_metric_readers", ())
        yield from (getattr(it, "_batch_processor", None) for it in (*spans, *logs))
        yield from readers
