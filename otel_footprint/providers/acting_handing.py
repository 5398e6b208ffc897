"""How each SDK takes a call's arguments and hands its answer out: what the acting wrappers must know besides the API.

Rules
-----
- Reading an answer before the application has it changes nothing that the application can see of it.
- A response whose body the application reads by itself (``with_streaming_response``) is not read here where that would take
  it away.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from otel_footprint.providers.carrying_seam import PROXY
from otel_footprint.providers.surface import Delivery

_RAW: Final = "x-stainless-raw-response"


class Handing(Protocol):
    """One SDK's way."""

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The request's arguments; None for a call that is not ours to act on."""
        ...

    def call(self, wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call with these arguments instead."""
        ...

    def delivery(self, kwargs: Mapping[str, Any], *, streams: bool | None, asynchronous: bool) -> Delivery:
        """How the answer was asked for. ``streams``: what the method itself says, None where the arguments do."""
        ...

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The plain response in what the SDK gave, or an awaitable of it; None where it is not to be read."""
        ...

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The stream in what the SDK gave, or an awaitable of it."""
        ...

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """What the SDK gave, with another stream in it."""
        ...


class Keywords:
    """Keyword arguments, and the answer itself is handed out: Google's SDK."""

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Positional arguments are for the SDK to refuse."""
        return None if args else kwargs

    def call(self, wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """As they are."""
        return wrapped(**kwargs)

    def delivery(self, kwargs: Mapping[str, Any], *, streams: bool | None, asynchronous: bool) -> Delivery:
        """``stream=True`` asks for a stream where the method does not say."""
        streamed = kwargs.get("stream") is True if streams is None else streams
        return Delivery(streamed=streamed, holdable=streamed, asynchronous=asynchronous)

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The response itself."""
        return response

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The response itself."""
        return response

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """The stream itself."""
        return stream


class Stainless(Keywords):
    """The SDKs of OpenAI and Anthropic: a raw response stands before the answer where the request asks for one."""

    def delivery(self, kwargs: Mapping[str, Any], *, streams: bool | None, asynchronous: bool) -> Delivery:
        """A streaming response is read by the application, line by line, as it comes; an asynchronous one by nobody before."""
        plain = super().delivery(kwargs, streams=streams, asynchronous=asynchronous)
        by_itself = _raw(kwargs) == "stream"
        return Delivery(
            streamed=plain.streamed or (by_itself and asynchronous),
            holdable=plain.streamed and not by_itself,
            asynchronous=asynchronous,
            by_itself=by_itself,
        )

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """A raw response is parsed, which the SDK remembers; a streaming one only where its parsing does not wait."""
        raw = _raw(kwargs)
        if raw is None:
            return response
        if raw == "stream" and inspect.iscoroutinefunction(response.parse):
            return None
        return response.parse()

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """What a raw response parses to."""
        return response if _raw(kwargs) is None else response.parse()

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """A raw response goes on being one, that parses to the other stream."""
        return stream if _raw(kwargs) is None else _Parsed(response, stream)


class _Parsed(PROXY):  # type: ignore[misc]
    """A raw response whose stream was read: ``parse()`` gives its replay."""

    def __init__(self, response: Any, stream: Any) -> None:
        super().__init__(response)
        self._self_stream = stream

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        """The replay, each time the same; awaited where the SDK's own is."""
        if inspect.iscoroutinefunction(self.__wrapped__.parse):
            return _ready(self._self_stream)
        return self._self_stream


async def _ready(value: Any) -> Any:
    return value


def _raw(kwargs: Mapping[str, Any]) -> str | None:
    """``stream`` or another word for a raw response; None for a call that wants the answer itself."""
    headers = kwargs.get("extra_headers")
    if not isinstance(headers, Mapping):
        return None
    for name, value in headers.items():
        if isinstance(name, str) and name.lower() == _RAW and value:
            return str(value)
    return None


class BedrockOperation:
    """botocore: an operation's name and its parameters; a stream stands in the answer under ``stream``."""

    _STREAMED: Final = {"Converse": False, "ConverseStream": True}

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The parameters of an operation that is a conversation."""
        if len(args) == 2 and not kwargs and args[0] in self._STREAMED and isinstance(args[1], Mapping):
            return _Parameters(args[0], args[1])
        return None

    def call(self, wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """With other parameters."""
        return wrapped(args[0], dict(kwargs))

    def delivery(self, kwargs: Mapping[str, Any], *, streams: bool | None, asynchronous: bool) -> Delivery:
        """The operation says whether it streams."""
        streamed = isinstance(kwargs, _Parameters) and self._STREAMED[kwargs.operation]
        return Delivery(streamed=streamed, holdable=streamed, asynchronous=asynchronous)

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The response itself."""
        return response

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The event stream."""
        return response["stream"]

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """A copy of the response with the other stream."""
        return {**response, "stream": stream}


class _Parameters(dict[str, Any]):
    """Parameters that know their operation."""

    def __init__(self, operation: str, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self.operation = operation
