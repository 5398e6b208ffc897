"""A place where calls are acted on, and the wrapper that goes there.

Rules
-----
- Where nothing acts, a call costs one look.
- What a method calls of the same resource by itself belongs to the same call and passes.
- Taking up a call reads nothing that can be read only once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry import context as otel_context

from otel_footprint.boundary import ask, guard
from otel_footprint.providers.acting_calls import Job, arun, attached, run
from otel_footprint.providers.acting_handing import Handing
from otel_footprint.providers.acting_managers import AsyncManager, Building, Manager
from otel_footprint.providers.carrying_seam import Wrapper
from otel_footprint.providers.surface import Acting, Delivery, Director, Surface

_INSIDE: Final = otel_context.create_key("otel-footprint-acting-inside")
"""The resource whose method runs just now and calls others of its own."""


@dataclass(frozen=True, slots=True)
class Place:
    """A method: its module, its class, its name, its API and how its SDK hands answers out.

    ``streams``: whether it gives a stream; None where ``stream=True`` asks for one. ``manages``: it returns a context manager
    that makes the request when it is entered, by another method of the same resource.
    """

    module: str
    owner: str
    method: str
    surface: Surface
    handing: Handing
    asynchronous: bool = False
    streams: bool | None = None
    manages: bool = False


def wrapper_of(place: Place, director: Callable[[], Director | None]) -> Wrapper:
    """What stands above a method. ``director`` is asked at every call."""
    handle = _manage if place.manages else _act

    def wrapper(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        asked = director()
        if asked is None or not ask("acting.acts", asked.acts):
            return wrapped(*args, **kwargs)
        if instance is None and args:  # under somebody's closure, which gives us the resource among the arguments
            instance, args = args[0], args[1:]
            wrapped = functools.partial(wrapped, instance)
        if otel_context.get_value(_INSIDE) is instance:
            return wrapped(*args, **kwargs)
        given = place.handing.arguments(args, kwargs)
        if given is None:
            return wrapped(*args, **kwargs)
        return handle(place, asked, _Method(place.handing, wrapped, instance, args), given)

    return wrapper


@dataclass(frozen=True, slots=True)
class _Method:
    """One call of the SDK's method, to be made with arguments of ours."""

    handing: Handing
    wrapped: Callable[..., Any]
    instance: Any
    args: tuple[Any, ...]

    def call(self, kwargs: Mapping[str, Any]) -> Any:
        """Make it."""
        return self.handing.call(self.wrapped, self.args, kwargs)

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The plain response."""
        return self.handing.answer(kwargs, response)

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The stream."""
        return self.handing.stream(kwargs, response)

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """The same with another stream."""
        return self.handing.with_stream(kwargs, response, stream)


def _act(place: Place, director: Director, method: _Method, given: Mapping[str, Any]) -> Any:
    delivery = place.handing.delivery(given, streams=place.streams, asynchronous=place.asynchronous)
    kwargs = place.surface.settle(given)
    if place.asynchronous:
        return _begun(place, director, method, kwargs, delivery)
    acting = _begin(director, place.surface, kwargs, delivery)
    if acting is None:
        return method.call(kwargs)
    return run(Job(method, place.surface, delivery, kwargs), acting)


async def _begun(
    place: Place, director: Director, method: _Method, kwargs: Mapping[str, Any], delivery: Delivery
) -> Any:
    """Taken up when it is awaited: a coroutine that nobody awaits is no call."""
    acting = _begin(director, place.surface, kwargs, delivery)
    if acting is None:
        return await method.call(kwargs)
    return await arun(Job(method, place.surface, delivery, kwargs), acting)


def _begin(director: Director, surface: Surface, kwargs: Mapping[str, Any], delivery: Delivery) -> Acting | None:
    with guard("acting.begin"):
        return director.begin(surface, kwargs, delivery)
    return None


def _manage(place: Place, director: Director, method: _Method, given: Mapping[str, Any]) -> Any:
    kwargs = place.surface.settle(given)

    def inside() -> AbstractContextManager[None]:
        return attached(otel_context.set_value(_INSIDE, method.instance))

    building = Building(method.call, inside, functools.partial(_begin, director, place.surface, kwargs))
    kind: Any = AsyncManager if place.asynchronous else Manager
    return kind(building, kwargs, place.surface)
