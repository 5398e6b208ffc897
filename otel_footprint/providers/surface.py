"""How a provider's API is read and written by whoever acts on its calls, and what the acting wrappers ask of them.

Three parties: a :class:`Surface` is one API (its wire form, and nothing else); the wrappers (``acting.py``) stand above the
official instrumentations and know how calls and streams of an SDK pass; a :class:`Director` decides.

The way of one call, as the wrappers go it
------------------------------------------
1. ``director.acts()``: False and the call goes straight through.
2. ``surface.settle(kwargs)``: what can be read only once becomes a list, so that reading takes nothing from the call.
3. ``director.begin(surface, kwargs, delivery)``: None and the call goes straight through, with the settled arguments.
4. ``acting.plan()`` (``aplan()`` under an asynchronous client). For a stream manager: when it is entered.
5. The SDK's method is called with ``acting.kwargs``, ``acting.context`` attached meanwhile: the completion hook runs inside.
   A stream is read to its end here where ``acting.hold``; else it is handed out at once and nothing below happens.
6. ``acting.revision(response)``: None, or the call to make instead, which is planned and goes from step 4. ``response`` is
   the plain response (a raw one parsed, a held stream merged); None where there is none to read.
7. ``acting.take_out(plain)``, and of a stream ``acting.peeler()`` whether it was held or not, on the acting whose response is
   handed out: what the model declares is not for the application.
8. ``acting.store()`` (asynchronous clients: ``await acting.astore()``): what came of the call goes to where other workers
   find it.
9. ``acting.finish(handed)``, once, on the acting whose response is handed out. It may raise ``UnsupportedValuesError``.

An exception of the SDK is told by ``acting.failed(error)``. Of a first call it goes on to the application; of a revision,
where it is an ``Exception``, the response before it is handed out: its acting gets ``finish``. Of the Director's own
exceptions only ``WindowUnmeasurableError`` and ``UnsupportedValuesError`` pass; any other is logged, counted, and the call
goes on without us.

Rules for a surface
-------------------
- Pure: no clock, no network, no SDK imported before the application has imported it.
- Nothing of the caller's is changed: no list, no dict, no object. Native items that stay keep their identity.
- A request that the provider would reject because of us is a defect.
- ``kwargs`` are the keyword arguments of the SDK's method (of Bedrock: the parameters of the operation). Values that mean
  "not given" (``omit``, ``NOT_GIVEN``) may stand in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from opentelemetry.context import Context

from otel_footprint.core.messages import Message
from otel_footprint.core.window.items import Item, Kept
from otel_footprint.providers.findings_form import EventPeeler
from otel_footprint.providers.native import Native


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a request says.

    - ``source`` is the provider's list of history items as the call carries it, never changed; the positions in
      ``natives`` index it. A history given as one string is a list of one item.
    - ``envelope`` is how many items at the front of ``source`` are the system envelope: ``write`` keeps them in front.
    - ``system`` is the whole envelope in canonical form: the system instruction that stands outside of the list, then
      those items.
    - ``natives`` is the rest in canonical form; :class:`~otel_footprint.core.window.items.Kept` counts in it.
    - ``tools`` are the names offered; None where they cannot be known, empty where none is offered.
    - ``provider`` is the value of ``gen_ai.provider.name`` for this API.
    - ``server_held``: the window is the provider's, and the list only what is new.
    """

    provider: str
    source: Sequence[object]
    natives: tuple[Native, ...]
    system: tuple[Message, ...] = ()
    envelope: int = 0
    tools: tuple[str, ...] | None = None
    model: str | None = None
    server_held: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history in canonical form, without the leading envelope."""
        return tuple(native.message for native in self.natives)

    def is_whole(self, items: Sequence[Item]) -> bool:
        """Whether ``items`` are the application's list and nothing else."""
        return len(items) == len(self.natives) and all(
            isinstance(item, Kept) and item.index == place for place, item in enumerate(items)
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer of the model as history: the canonical message, and the native items that put it back."""

    message: Message
    native: tuple[object, ...]


class Surface(Protocol):
    """One API of one provider."""

    @property
    def name(self) -> str:
        """``openai.chat``, ``openai.responses``, ``anthropic.messages``, ``gemini.generate_content`` or ``bedrock.converse``."""
        ...

    def settle(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with a one-shot iterable among those we read made a list. Everything else is passed on as it is.

        Must not raise for arguments that the SDK itself will refuse: those are for the SDK to refuse.
        """
        ...

    def read(self, kwargs: Mapping[str, Any]) -> Reading | None:
        """Read a settled request; None where it cannot be read: the call then goes through untouched.

        May raise ``UnreadableInputError``, which means the same.
        """
        ...

    def write(self, kwargs: Mapping[str, Any], reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
        """New arguments that carry the window ``items``, behind the envelope; all else as it was.

        ``items`` keep the order of the list. Where they are the whole list and nothing else, the caller's own list is passed
        on. A ``Put`` without native items is one user message with one text; it is built in the provider's form, joined
        to a neighbour where the provider wants roles to alternate. A native item from which several messages were read
        (results put together in one user message) is passed on as it is where all of them stay, else copied with what
        stays. ``Put`` with native items puts those items, as they are.
        """
        ...

    def draft(self, kwargs: Mapping[str, Any], response: Any, choice: int = 0) -> Draft | None:
        """The model's answer in a plain response, as it goes back into the history; None where there is none.

        ``kwargs`` are those of the request that was answered.
        """
        ...

    def merge(self, kwargs: Mapping[str, Any], events: Sequence[Any]) -> Any | None:
        """The plain response that the events of a stream, in order, amount to; None where it is not whole.

        ``draft`` takes what this returns. ``events`` are the objects the application would have been given.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How the application asked for the answer.

    ``holdable``: a stream that can be read to its end and played back without a difference but in time. A response whose
    body the application reads by itself cannot: ``by_itself``. ``asynchronous``: ``aplan`` is awaited in place of ``plan``.
    """

    streamed: bool = False
    holdable: bool = False
    asynchronous: bool = False
    by_itself: bool = False


class Acting(Protocol):
    """One call of a model that is acted on, from the plan to what is handed out."""

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """The arguments to call with; read after the plan."""
        ...

    @property
    def context(self) -> Context:
        """The OpenTelemetry context of the call; attached while the SDK's code runs, detached whatever happens."""
        ...

    @property
    def hold(self) -> bool:
        """Whether the stream is to be held back until it is judged. Only asked where ``Delivery.holdable``."""
        ...

    def plan(self) -> None:
        """Decide about the window. May raise ``WindowUnmeasurableError``."""
        ...

    async def aplan(self) -> None:
        """The same under an asynchronous client."""
        ...

    def revision(self, response: Any | None) -> Acting | None:
        """The call to make instead of handing this response out, with the answer and a correction in its window."""
        ...

    @property
    def peels(self) -> bool:
        """Whether something of ours may have to be taken out of the answer."""
        ...

    def peeler(self) -> EventPeeler | None:
        """What takes something of ours out of a stream while the application reads it; None where nothing is to be."""
        ...

    def take_out(self, plain: Any) -> None:
        """Take it out of the plain response that is handed out, in place."""
        ...

    def failed(self, error: BaseException) -> None:
        """The call, or reading its stream, ended with this exception of the SDK (or was cancelled)."""
        ...

    def store(self) -> None:
        """Put what came of the call where other workers find it."""
        ...

    async def astore(self) -> None:
        """The same under an asynchronous client."""
        ...

    def finish(self, handed: Any) -> None:
        """``handed`` is what the application is given. May raise ``UnsupportedValuesError``."""
        ...


class Director(Protocol):
    """Who decides which calls are acted on, and how."""

    def acts(self) -> bool:
        """Whether any call made here and now may be acted on. Asked at every call, so it must cost next to nothing."""
        ...

    def begin(self, surface: Surface, kwargs: Mapping[str, Any], delivery: Delivery) -> Acting | None:
        """Take up one call; None leaves it alone."""
        ...
