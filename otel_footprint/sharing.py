"""Shares conversations with other workers through a store, and never makes a call wait for it longer than it may.

Rules
-----
- A call takes what the store has before its window is planned, and puts what came of it there after it is answered: in the
  wrapper, never in the completion hook. A stream is put there once it has ended, on a thread of its own.
- A call waits ``wait_s`` of the store in all, for reading and writing together. What takes longer is given up and counted
  (``store.read``, ``store.write``); after some in a row the store is left alone for a while. What is given up is only not
  waited for: a write that comes late is a write, and what is read later in that conversation is read after it.
- The first connection is made when observation is turned on, in the background. While it is being made a call waits for it as
  long as it may, and that it was not there yet is no failure.
- That the store does not answer is said once, with its name and never with its password.
- What cannot be read back (``store.document``), is too large (``store.size``) or has been overtaken by another worker
  (``store.overtaken``) is counted too. Nothing of it reaches the application.
- Only conversations whose id the application gave are shared.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from otel_footprint import boundary
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.state.breaker import Breaker
from otel_footprint.core.state.document import from_document, to_document
from otel_footprint.restoring import go_on, saved_of

if TYPE_CHECKING:
    from otel_footprint.running import Runtime
    from otel_footprint.store import Kept, Store

MOST_BYTES: Final = 8_000_000
"""The largest document that is kept."""
_AT_ONCE: Final = 64
_STRIPES: Final = 64
_REMEMBERED: Final = 10_000
OPENING_S: Final = 0.2
"""How long turning observation on waits for the first connection, in seconds."""
_SILENT: Final = re.compile("Timeout|Connection|BusyLoading")
T = TypeVar("T")


class StoreFault(boundary.OutsideFault):
    """Why the store could not be used. It is counted and never raised into the application."""


class _Asking:
    """Makes what goes wrong between us and the store a :class:`StoreFault`."""

    def __init__(self, store: Store) -> None:
        self._name: Final = name_of(store)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, StoreFault):
            silent = isinstance(error, (OSError, TimeoutError, FutureTimeout)) or _SILENT.search(type(error).__name__)
            does = f"does not answer ({type(error).__name__})" if silent else f"fails ({type(error).__name__})"
            raise StoreFault(f"the store {self._name} {does}; conversations go on without it") from error


def name_of(store: Store) -> str:
    """What a store is called in a log line: its ``name``, else its type."""
    name = getattr(store, "name", None)
    return name if isinstance(name, str) else type(store).__name__


class _Told:
    """Hands an exception to whoever waits for the future."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None:
            self._future.set_exception(error)
        return error is not None


class Sharing:
    """The store, as the calls of one runtime use it."""

    def __init__(self, running: Runtime, store: Store) -> None:
        self._running: Final = running
        self._store: Final = store
        self._lock = threading.Lock()
        self.wait_s: Final = store.wait_s
        self._breaker = Breaker()
        self._versions: OrderedDict[str, str] = OrderedDict()
        self._under_way = 0
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]
        self._opened = threading.Event()
        self.asking: Final = _Asking(store)
        self._refused: ConfigurationError | None = None

    def start(self) -> None:
        """Make a connection in the background, so that the first call finds one.

        Raises :class:`ConfigurationError` where the store says at once that its address cannot be used.
        """
        with boundary.guard("store.start"):
            threading.Thread(target=self._open, name="otel-footprint-store", daemon=True).start()
        if self._opened.wait(OPENING_S) and self._refused is not None:
            raise self._refused

    def stop(self) -> None:
        """Let connections go, once what is being written is there, if that is soon."""
        until = time.monotonic() + OPENING_S
        while self._under_way and time.monotonic() < until:
            time.sleep(0.005)
        with boundary.guard("store.close"), self.asking:
            self._store.close()

    def after_fork_in_child(self) -> None:
        """The child's own lock; nothing of the parent's is under way here."""
        self._lock = threading.Lock()
        self._breaker = Breaker()
        self._under_way = 0
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]
        self._opened = threading.Event()
        self._opened.set()

    def call(self, conversation_id: str) -> SharedCall:
        """A call of a conversation begins."""
        return SharedCall(self, conversation_id)

    def told(self, conversation_id: str) -> None:
        """The application has said something of a conversation since its last call."""
        call = self.call(conversation_id)
        call.completed()
        call.save()

    def _open(self) -> None:
        try:
            with boundary.guard("store.open"), self.asking:
                try:
                    self._store.open()
                except ConfigurationError as error:
                    self._refused = error
                    raise StoreFault(f"{error}; conversations go on without it") from None
        finally:
            self._opened.set()

    # what a call does

    def read(self, conversation_id: str) -> Future[Kept | None] | None:
        """Ask for the document; None where the store is not to be asked."""
        return self._begin(lambda: self._get(conversation_id))

    def _get(self, conversation_id: str) -> Kept | None:
        with self._stripe(conversation_id):  # what this process is writing is no news to it
            with self._lock:
                version = self._versions.get(conversation_id)
            with self.asking:
                return self._store.read(conversation_id, version)

    def _stripe(self, conversation_id: str) -> threading.Lock:
        return self._stripes[hash(conversation_id) % len(self._stripes)]

    def take(self, conversation_id: str, kept: Kept) -> None:
        """Go on with the document."""
        with boundary.guard("store.document"):
            try:
                saved = from_document(json.loads(kept.document), "the document in the store")
            except (ValueError, RecursionError) as error:
                raise StoreFault(
                    f"what the store {name_of(self._store)} has of a conversation is no document that this version reads; "
                    "it goes on without"
                ) from error
            go_on(self._running, conversation_id, saved)
            self._has(conversation_id, kept.version)

    def write(self, conversation_id: str) -> Future[None] | None:
        """Put what is known of the conversation there; None where the store is not to be asked."""
        return self._begin(lambda: self._put(conversation_id))

    def _put(self, conversation_id: str) -> None:
        with self._stripe(conversation_id):  # what is written later has come further
            saved = saved_of(self._running, conversation_id, named=True, text=self._store.keeps_text)
            if saved.session is None:
                return
            document = json.dumps(to_document(saved), ensure_ascii=False, separators=(",", ":"))
            data = document.encode("utf-8", "surrogatepass")
            if len(data) > MOST_BYTES:
                with boundary.guard("store.size"):
                    raise StoreFault(
                        f"a conversation has come to more than {MOST_BYTES // 1_000_000} MB and is no longer kept in the store"
                    )
                return
            with self._lock:
                version = self._versions.get(conversation_id)
            with self.asking:
                now = self._store.write(conversation_id, data, based_on=version, calls=saved.session.calls)
            self._has(conversation_id, now)
        if now is None:
            with boundary.guard("store.overtaken"):
                raise StoreFault(
                    "two workers called in one conversation at once; in the store stands what the one has that came further"
                )

    def _has(self, conversation_id: str, version: str | None) -> None:
        """What this process knows of the conversation is that version; None: another one, to be read."""
        with self._lock:
            self._versions.pop(conversation_id, None)
            if version is not None:
                self._versions[conversation_id] = version
            while len(self._versions) > _REMEMBERED:
                self._versions.popitem(last=False)

    def _begin(self, work: Callable[[], T]) -> Future[T] | None:
        """Do some work on a thread of its own, unless the store is left alone just now."""
        with self._lock:
            if self._under_way >= _AT_ONCE or not self._breaker.passes(time.monotonic()):
                return None
            self._under_way += 1
        future: Future[T] = Future()

        def run() -> None:
            with _Told(future):
                try:
                    self._opened.wait()  # what is asked meanwhile finds the connection
                    result = work()
                finally:
                    with self._lock:
                        self._under_way -= 1
                future.set_result(result)

        threading.Thread(target=run, name="otel-footprint-store", daemon=True).start()
        return future

    def came(self, *, answered: bool) -> None:
        """Whether the store answered in time."""
        with self._lock:
            if answered:
                self._breaker.succeeded()
            elif self._opened.is_set():
                self._breaker.failed(time.monotonic())


class SharedCall:
    """One call of a conversation that is shared: it reads once, writes once, and has ``wait_s`` for both."""

    def __init__(self, sharing: Sharing, conversation_id: str) -> None:
        self._sharing: Final = sharing
        self._conversation_id: Final = conversation_id
        self._left = sharing.wait_s
        self._read = False
        self._completed = False

    def load(self) -> None:
        """Before the window is planned: go on with what the store has."""
        future = self._ask()
        if future is not None:
            self._take(self._waited(future, "store.read"))

    async def aload(self) -> None:
        """The same under an asynchronous client."""
        future = self._ask()
        if future is not None:
            self._take(await self._awaited(future, "store.read"))

    def completed(self) -> None:
        """The call was answered, and what it means is known."""
        self._completed = True

    def save(self) -> None:
        """After the answer: put what came of the call into the store."""
        future = self._put()
        if future is not None:
            self._waited(future, "store.write")

    async def asave(self) -> None:
        """The same under an asynchronous client."""
        future = self._put()
        if future is not None:
            await self._awaited(future, "store.write")

    def save_later(self) -> None:
        """The same once whoever calls is done: from a completion hook, which does not wait for anything."""

        def run() -> None:
            self._left = self._sharing.wait_s
            self.save()

        threading.Thread(target=run, name="otel-footprint-store", daemon=True).start()

    def _ask(self) -> Future[Kept | None] | None:
        if self._read:
            return None
        self._read = True
        with boundary.guard("store.read"):
            return self._sharing.read(self._conversation_id)
        return None

    def _take(self, kept: Kept | None) -> None:
        if kept is not None:
            self._sharing.take(self._conversation_id, kept)

    def _put(self) -> Future[None] | None:
        if not self._completed:
            return None
        self._completed = False
        with boundary.guard("store.write"):
            return self._sharing.write(self._conversation_id)
        return None

    def _waited(self, future: Future[T], place: str) -> T | None:
        started = time.monotonic()
        answered = False
        result: T | None = None
        with boundary.guard(place), self._sharing.asking:
            try:
                result = future.result(max(0.0, self._left))
                answered = True
            finally:
                self._spend(started, answered=answered)
        return result

    async def _awaited(self, future: Future[T], place: str) -> T | None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # another library's loop
            return self._waited(future, place)
        started = time.monotonic()
        answered, given_up = False, False
        result: T | None = None
        with boundary.guard(place), self._sharing.asking:
            try:
                result = await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), max(0.0, self._left))
                answered = True
            except asyncio.CancelledError:  # the application does not want its answer any more
                given_up = True
                raise
            finally:
                if not given_up:
                    self._spend(started, answered=answered)
        return result

    def _spend(self, started: float, *, answered: bool) -> None:
        self._left -= time.monotonic() - started
        self._sharing.came(answered=answered)
