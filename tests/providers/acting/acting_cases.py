"""A small director, and what it saw: drops and puts messages, asks again, holds streams back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.providers.surface import Delivery, Reading, Surface

TOKEN = otel_context.create_key("acting-test-token")
NOTICE = Put(Message("user", (Text("[notice] earlier messages left"),), authored="notice"))
CORRECTION = Message("user", (Text("[correction] say it again without the number"),), authored="correction")


def last_with_notice(reading: Reading) -> Sequence[Item]:
    """Drops everything but the last message, and says so."""
    return [NOTICE, Kept(len(reading.natives) - 1)]


def everything(reading: Reading) -> Sequence[Item]:
    """Leaves the window as it is."""
    return [Kept(index) for index in range(len(reading.natives))]


@dataclass
class Director:
    """Acts on every call. ``window`` plans; ``wrong`` says of an answer's text whether to ask again (once)."""

    window: Callable[[Reading], Sequence[Item]] = everything
    wrong: Callable[[str], bool] = lambda text: False
    hold: bool = False
    acting: bool = True
    takes_up: bool = True
    plan_error: BaseException | None = None
    finish_error: Exception | None = None
    broken_at: str | None = None
    seen: list[str] = field(default_factory=list)
    plains: list[Any] = field(default_factory=list)
    handed: list[Any] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    surfaces: list[str] = field(default_factory=list)
    made: list[Acting] = field(default_factory=list)

    def at(self, place: str) -> None:
        self.seen.append(place)
        if self.broken_at == place:
            raise ValueError(f"a fault of ours in {place}")

    def acts(self) -> bool:
        if self.broken_at == "acts":
            raise ValueError("a fault of ours in acts")
        return self.acting

    def begin(self, surface: Surface, kwargs: Mapping[str, Any], delivery: Delivery) -> Acting | None:
        self.at("begin")
        if not self.takes_up:
            return None
        self.deliveries.append(delivery)
        self.surfaces.append(surface.name)
        self.made.append(Acting(self, surface, kwargs))
        return self.made[-1]


class Acting:
    """One call of that director. It takes nothing out of an answer."""

    def __init__(
        self, director: Director, surface: Surface, kwargs: Mapping[str, Any], *, revision: bool = False
    ) -> None:
        self.director = director
        self.surface = surface
        self.kwargs = kwargs
        self.revises = revision
        self.hold = director.hold
        self.context: Context = otel_context.set_value(TOKEN, self)
        self.planned = revision

    def plan(self) -> None:
        self.director.at("plan")
        if self.director.plan_error is not None:
            raise self.director.plan_error
        if not self.planned:
            reading = self.surface.read(self.kwargs)
            if reading is None:
                return
            self.kwargs = self.surface.write(self.kwargs, reading, self.director.window(reading))

    async def aplan(self) -> None:
        self.plan()

    def revision(self, response: Any | None) -> Acting | None:
        self.director.at("revision")
        self.director.plains.append(response)
        draft = None if response is None else self.surface.draft(self.kwargs, response)
        if self.revises or draft is None or not self.director.wrong(draft.message.text):
            return None
        reading = self.surface.read(self.kwargs)
        assert reading is not None
        items = [*everything(reading), Put(draft.message, draft.native), Put(CORRECTION)]
        again = Acting(self.director, self.surface, self.surface.write(self.kwargs, reading, items), revision=True)
        self.director.made.append(again)
        return again

    peels = False

    def peeler(self) -> None:
        return None

    def take_out(self, plain: Any) -> None:
        self.director.at("take_out")

    def failed(self, error: BaseException) -> None:
        self.director.at("failed")
        self.director.failures.append(error)

    def store(self) -> None:
        pass

    async def astore(self) -> None:
        pass

    def finish(self, handed: Any) -> None:
        self.director.at("finish")
        self.director.handed.append(handed)
        if self.director.finish_error is not None:
            raise self.director.finish_error


@dataclass
class Hook:
    """A completion hook that notes whose call it was told of."""

    tokens: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def on_completion(self, *, inputs: Any = (), outputs: Any = (), **_: Any) -> None:
        self.tokens.append(otel_context.get_value(TOKEN))
        self.inputs.append(list(inputs))
        self.outputs.append(list(outputs))
