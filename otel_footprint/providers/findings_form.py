"""How the reserved argument is offered on a provider's API, taken out of what it answers, and put back into the history.

Rules for a form
----------------
- Nothing of the caller's is changed: what differs in a request is copied.
- What the application is given differs by the reserved argument and by nothing else; it is taken out in place, since the
  objects are the SDK's own and new.
- What the model wrote goes back into the history byte by byte where arguments are text, as equal JSON where they are an
  object; unless the application has changed that call since.
- Where no tool can carry the argument, our texts stay out.
- Our texts in the system part stand apart from the application's, so that whoever observes the call can leave them out.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Protocol

from otel_footprint.core.findings.offer import Undecorated, decorate
from otel_footprint.core.findings.peeling import RESERVED, Peeler, peel_text
from otel_footprint.core.findings.stripping import strip_answer
from otel_footprint.core.messages import Json, canonical_json

_COUNT: Final = 8192
_BYTES: Final = 16_000_000


@dataclass(frozen=True, slots=True)
class Offering:
    """What goes into a request: the schema of the argument, our texts for the system part, and results to be served as
    tickets, by tool call id."""

    reserved: Mapping[str, Any]
    texts: tuple[str, ...]
    tickets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Offered:
    """The arguments that carry the offering. ``owned`` are tools that have an argument of that name themselves."""

    kwargs: dict[str, Any]
    undecorated: tuple[tuple[str, Undecorated], ...] = ()
    owned: frozenset[str] = frozenset()


class Decorating:
    """Decorates the tools of one request, and keeps account. ``count`` is how many carry the argument now."""

    def __init__(self, offering: Offering) -> None:
        self.reserved: Final = offering.reserved
        self.count = 0
        self._undecorated: list[tuple[str, Undecorated]] = []
        self._owned: set[str] = set()

    def schema(self, name: str, schema: Mapping[str, Any] | None, *, strict: bool) -> dict[str, Any] | None:
        """A tool's parameters with the argument; None where the tool is left alone."""
        made = decorate(schema, self.reserved, strict=strict)
        if not isinstance(made, str):
            self.count += 1
            return made
        self.leave(name, made)
        return None

    def leave(self, name: str, why: Undecorated) -> None:
        """A tool is left alone."""
        self._undecorated.append((name, why))
        if why == "owned":
            self._owned.add(name)

    def offered(self, kwargs: dict[str, Any]) -> Offered:
        """The arguments with the tools in them, and the account."""
        return Offered(kwargs, tuple(self._undecorated), frozenset(self._owned))


class EventPeeler(Protocol):
    """Takes the reserved argument out of one stream, event by event."""

    def feed(self, event: Any) -> Iterable[Any]:
        """The events the application is given now, for this one of the SDK's."""
        ...

    def close(self) -> Iterable[Any]:
        """What is still owed when the stream has ended."""
        ...

    def result(self, value: Any) -> Any:
        """What a helper of the stream gives (a final message, a snapshot), without it; any other value as it is."""
        ...


class FindingsForm(Protocol):
    """One API of one provider."""

    def offer(self, kwargs: Mapping[str, Any], offering: Offering) -> Offered | None:
        """New arguments that carry the offering; None where the request offers no tool, which then goes as it is."""
        ...

    def has_schema(self, kwargs: Mapping[str, Any]) -> bool:
        """Whether the answer has to have a form that the request gives."""
        ...

    def put_back(self, kwargs: Mapping[str, Any], memory: EmissionMemory) -> dict[str, Any]:
        """New arguments whose history holds the model's own words again, where the memory has them."""
        ...

    def take_out(self, response: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
        """Take it out of a plain response (also a parsed one), in place, and remember what the model wrote."""
        ...

    def peeler(self, memory: EmissionMemory, owned: frozenset[str]) -> EventPeeler:
        """One that does the same to the events of a stream."""
        ...


class EmissionMemory:
    """What the model wrote, by what the application saw of it. Thread-safe and bounded: the oldest go.

    Keys hold the call's id, its tool and the arguments as the application saw them, so that a call that was changed since,
    or another one with the same id, finds nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    def keep_call(self, id_: str | None, tool: str, seen: Json, written: Json) -> None:
        """The model wrote ``written`` as the arguments of a call, of which the application saw ``seen``."""
        self._keep(_key("call", id_ or "", tool, _spelled(seen)), written)

    def call(self, id_: str | None, tool: str, seen: Json) -> Json:
        """What the model wrote for this call; None where nothing was taken out of it, or it was changed since."""
        found: Json = self._find(_key("call", id_ or "", tool, _spelled(seen)))
        return found

    def keep_answer(self, seen: str, written: str) -> None:
        """The model answered ``written``, of which the application saw ``seen``."""
        self._keep(_key("answer", seen.strip()), written)

    def answer(self, seen: str) -> str | None:
        """What the model wrote as this answer; None where nothing was taken out of it."""
        found = self._find(_key("answer", seen.strip()))
        return found if isinstance(found, str) else None

    def __len__(self) -> int:
        return len(self._kept)

    def _keep(self, key: bytes, written: Any) -> None:
        size = 200 + len(_spelled(written))
        with self._lock:
            old = self._kept.pop(key, None)
            self._bytes += size - (0 if old is None else old[1])
            self._kept[key] = (written, size)
            while len(self._kept) > _COUNT or (self._bytes > _BYTES and len(self._kept) > 1):
                _, (_, gone) = self._kept.popitem(last=False)
                self._bytes -= gone

    def _find(self, key: bytes) -> Any:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]


class Arriving:
    """One call's arguments, or one answer, of which pieces are arriving: what was written and what was seen so far."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self._peeler = Peeler()
        self._written: list[str] = []
        self._seen: list[str] = []

    @property
    def removed(self) -> bool:
        """Whether something was taken out."""
        return bool(self._peeler.removed)

    @property
    def written(self) -> str:
        """All that the model wrote."""
        return "".join(self._written)

    @property
    def seen(self) -> str:
        """All that the application was given."""
        return "".join(self._seen)

    def feed(self, piece: str) -> str:
        """The next piece; what of it, and of what was held back, the application is given now."""
        self._written.append(piece)
        seen = self._peeler.feed(piece)
        self._seen.append(seen)
        return seen

    def close(self) -> str:
        """It is whole: what was held back and is none of ours."""
        rest = self._peeler.close()
        self._seen.append(rest)
        return rest


def take_from_arguments(
    memory: EmissionMemory, owned: frozenset[str], *, id_: str | None, tool: str, written: Json
) -> Json:
    """The arguments without it, remembered; the same object where nothing is to be taken out."""
    if tool in owned:
        return written
    if isinstance(written, str):
        seen, removed = peel_text(written)
        if removed:
            memory.keep_call(id_, tool, seen, written)
        return written if seen == written else seen  # it differs too where the text breaks off inside
    if isinstance(written, dict) and RESERVED in written:
        rest: dict[str, Json] = without(written)
        memory.keep_call(id_, tool, rest, dict(written))
        return rest
    return written


def take_from_answer(memory: EmissionMemory, written: str) -> str:
    """The text of an answer without it, remembered; the same text where nothing is to be taken out."""
    seen, declared = strip_answer(written)
    if declared is None:
        return written
    memory.keep_answer(seen, written)
    return seen


def without(value: Any) -> Any:
    """An object without the reserved member, as a new one; any other value as it is."""
    return {key: item for key, item in value.items() if key != RESERVED} if isinstance(value, dict) else value


def unchanged(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether two lists of one length hold the very same items."""
    return all(a is b for a, b in zip(before, after, strict=True))


def field_of(value: Any, name: str) -> Any:
    """A field of a history item, which may be a dict or an object of the SDK; None where it has none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def remember_block(memory: EmissionMemory, arriving: Arriving) -> None:
    """Keep what the model wrote in a block that is whole: an answer, or, where it has a name, a call's object."""
    if not arriving.name:
        memory.keep_answer(arriving.seen, arriving.written)
        return
    seen, written = _object(arriving.seen), _object(arriving.written)
    if seen is not None and written is not None:
        memory.keep_call(arriving.id, arriving.name, seen, written)


def _object(text: str) -> Json:
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def as_new_dict(value: Any) -> dict[str, Any]:
    """A history item as a new dict: the application may put the SDK's own objects there."""
    if isinstance(value, Mapping):
        return dict(value)
    dumped: dict[str, Any] = value.model_dump(exclude_unset=True)
    return dumped


def as_list(value: Any) -> list[Any]:
    """A list of what was given; empty for anything that is no sequence."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else []


def _spelled(value: Json) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _key(*parts: str) -> bytes:
    blob = "\x00".join([",".join(str(len(part)) for part in parts), *parts])
    return blake2b(blob.encode("utf-8", "surrogatepass"), digest_size=16).digest()
