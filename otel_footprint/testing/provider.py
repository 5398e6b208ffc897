"""A provider that follows a script: real SDKs talk to it over HTTP on 127.0.0.1, without a key or a network.

    with ScriptedProvider([ToolCalls([ToolUse("get_order", {"id": "W-1"})]), Text("It left today.")]) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)

It speaks OpenAI chat completions and responses, Anthropic messages, Gemini generateContent and Bedrock converse, each
plain and streamed, as the request asks.

Rules
-----
- A script is one step, a list of steps played in order, or a function from the request to a step.
- A step too many is an answer of status 500 that says so, never a hang. ``repeat=True`` starts the list anew.
- A script function that raises cuts the connection; its traceback goes where an unhandled thread error goes.
- Every request is recorded, also one that no dialect knows (status 404); ``record=False`` keeps none, for benchmarks.
- ``strict=True`` refuses a history that the real API would refuse (:mod:`otel_footprint.testing.wire_rules`) with status 400
  in that API's own form, and plays no step for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeAlias

from otel_footprint.testing.dialects import Dialect, api_of, dialect_of
from otel_footprint.testing.http11 import Server
from otel_footprint.testing.script import (
    Error,
    Raw,
    Request,
    Step,
    Text,
    ToolCalls,
    ToolUse,
    Wire,
    compact,
    settle,
)
from otel_footprint.testing.wire_rules import problems

__all__ = ["Error", "Raw", "Request", "Script", "ScriptedProvider", "Step", "Text", "ToolCalls", "ToolUse"]

Script: TypeAlias = Step | Sequence[Step] | Callable[[Request], Step]


class ScriptedProvider:
    """A context manager: listens from construction on, stops at the end of the block or at :meth:`close`."""

    def __init__(self, script: Script, *, repeat: bool = False, record: bool = True, strict: bool = False) -> None:
        self._next = script if callable(script) else _in_order(script, repeat=repeat)
        self._record = record
        self._strict = strict
        self._requests: list[Request] = []
        self._stored: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._responses = 0
        self._calls = 0
        self._server = Server(self._respond)

    def __enter__(self) -> ScriptedProvider:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop and cut open connections."""
        self._server.close()

    @property
    def url(self) -> str:
        """Where it listens: ``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def openai_url(self) -> str:
        """``base_url`` of ``openai.OpenAI``."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """``base_url`` of ``anthropic.Anthropic``."""
        return self.url

    @property
    def gemini_url(self) -> str:
        """``base_url`` of ``google.genai.types.HttpOptions``."""
        return self.url

    @property
    def bedrock_url(self) -> str:
        """``endpoint_url`` of boto3's ``bedrock-runtime`` client."""
        return self.url

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in the order they arrived."""
        with self._lock:
            return tuple(self._requests)

    def _respond(self, request: Request) -> Wire:
        if self._record:
            with self._lock:
                self._requests.append(request)
        dialect = dialect_of(request)
        if request.method == "GET":
            return self._retrieve(request)
        refusal = _refusal(request) if self._strict else None
        try:
            step = refusal or self._next(request)
        except _Exhausted:
            step = Error(500, "the script has no more steps")
        if step.delay:
            time.sleep(step.delay)
        if isinstance(step, Raw):
            return _raw(step)
        if dialect is None:
            return Wire(status=404, body=compact({"error": {"message": f"no API at {request.path}"}}))
        if isinstance(step, Error):
            headers = () if step.retry_after is None else (("retry-after", f"{step.retry_after:g}"),)
            body, more = dialect.error(step)
            return Wire(status=step.status, body=body, headers=headers + more)
        return self._render(step, request, dialect)

    def _render(self, step: Text | ToolCalls, request: Request, dialect: Dialect) -> Wire:
        with self._lock:
            self._responses += 1
            number, first_call = self._responses, self._calls + 1
            if isinstance(step, ToolCalls):
                self._calls += len(step.calls)
        answer = settle(
            step,
            number=number,
            model=dialect.model(request),
            request_bytes=len(request.body),
            first_call=first_call,
        )
        if dialect.streams(request):
            return Wire(
                chunks=dialect.stream(answer, request),
                content_type=dialect.stream_type,
                pace=step.pace,
                break_after=step.break_after,
            )
        body = compact(dialect.plain(answer, request))
        if dialect.retrievable:
            with self._lock:
                self._stored[dialect.response_id(answer)] = body
        return Wire(body=body, break_after=step.break_after)

    def _retrieve(self, request: Request) -> Wire:
        """A response given earlier, by the id at the end of the path."""
        key = request.path.partition("?")[0].rpartition("/")[2]
        with self._lock:
            body = self._stored.get(key)
        if body is None:
            return Wire(status=404, body=compact({"error": {"message": f"nothing stored as {key}"}}))
        return Wire(body=body)


def _refusal(request: Request) -> Error | None:
    """The error that the real API answers a history with that breaks its rules."""
    api = api_of(request)
    if api is None:
        return None
    body = {"model": request.path, **request.json} if api == "gemini.generate_content" else request.json
    found = problems(api, body)
    return Error(400, "; ".join(found)) if found else None


class _Exhausted(Exception):
    """The list of steps is played."""


def _in_order(script: Step | Sequence[Step], *, repeat: bool) -> Callable[[Request], Step]:
    steps = tuple(script) if isinstance(script, Sequence) else (script,)
    lock = threading.Lock()
    position = 0

    def play(request: Request) -> Step:
        nonlocal position
        with lock:
            if not steps or (position >= len(steps) and not repeat):
                raise _Exhausted
            step = steps[position % len(steps)]
            position += 1
        return step

    return play


def _raw(step: Raw) -> Wire:
    body = step.body.encode() if isinstance(step.body, str) else step.body
    return Wire(
        body=body,
        chunks=step.chunks or None,
        status=step.status,
        content_type=step.content_type,
        headers=step.headers,
        pace=step.pace,
        break_after=step.break_after,
    )
