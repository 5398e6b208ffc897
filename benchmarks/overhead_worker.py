"""Measures one way of instrumenting, in a process of its own: reads JSON commands on stdin, answers on stdout.

Rules
-----
- One command is one batch: ``{"size", "kind", "samples"}``. Each sample is a fresh conversation: two calls grow it, then
  the call at ``size`` messages is timed. What is timed is therefore a call of a running conversation, not its first.
- The real SDK runs against a transport in memory, handed over by its public ``http_client`` argument: no socket, no server.
- Timed is the CPU time of the calling thread (what the call costs, however busy the machine is) and the wall time, each
  for the whole call and for what the instrumentation added: the SDK's methods are given timers before anything is
  instrumented and others after, and what was added is the difference of the two in the same call.
- Spans go through a real batch processor into an exporter that drops them; it is flushed between samples, outside the
  timing. Metrics and logs likewise.
"""

from __future__ import annotations

import functools
import gc
import importlib.metadata
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from conversation import Conversation


class Script:
    """The transport in memory: answers each request with the message that was set."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.body = b""
        self.count = 0

    def set(self, message: dict[str, Any]) -> None:
        self.count += 1
        body = _openai_body(message, self.count) if self.api == "openai" else _anthropic_body(message, self.count)
        self.body = json.dumps(body).encode()

    def client(self) -> Any:
        http = _http_package()
        transport = http.MockTransport(
            lambda request: http.Response(200, content=self.body, headers={"content-type": "application/json"})
        )
        if self.api == "openai":
            import openai

            return openai.OpenAI(
                api_key="none", base_url="http://127.0.0.1/v1", http_client=http.Client(transport=transport)
            )
        import anthropic

        return anthropic.Anthropic(
            api_key="none", base_url="http://127.0.0.1", http_client=http.Client(transport=transport)
        )


def _http_package() -> Any:
    try:
        import httpx2 as http  # what current SDKs sit on
    except ImportError:
        import httpx as http
    return http


def _openai_body(message: dict[str, Any], count: int) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{count}",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "gpt-4o-2024-08-06",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            }
        ],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280},
    }


def _anthropic_body(message: dict[str, Any], count: int) -> dict[str, Any]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {
        "id": f"msg_{count}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": blocks,
        "stop_reason": "end_turn" if isinstance(content, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1200, "output_tokens": 80},
    }


class Timer:
    """Times the last call of a function that it was put around."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0

    def around(self, owner: Any, name: str) -> None:
        """Replace the method by itself with this timer around it."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def timed(*args: Any, **kwargs: Any) -> Any:
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            try:
                return original(*args, **kwargs)
            finally:
                self.cpu, self.wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall

        setattr(owner, name, timed)


class Seams:
    """A timer on either side of whatever is installed on ``create``, and on the client's ``request`` that it ends in.

    Some wrap the one, some the other, and we wrap both.
    """

    def __init__(self, api: str) -> None:
        if api == "openai":
            import openai as sdk
            from openai._base_client import SyncAPIClient
            from openai.resources.chat.completions import Completions

            self._outer_places = ((Completions, "create"), (sdk.OpenAI, "request"))
            self._inner_places = ((Completions, "create"), (SyncAPIClient, "request"))
        else:
            import anthropic as sdk  # type: ignore[no-redef]
            from anthropic._base_client import SyncAPIClient  # type: ignore[assignment]
            from anthropic.resources.messages import Messages

            self._outer_places = ((Messages, "create"), (sdk.Anthropic, "request"))  # type: ignore[assignment, attr-defined]
            self._inner_places = ((Messages, "create"), (SyncAPIClient, "request"))  # type: ignore[assignment]
        self._inner = [self._timer(*place) for place in self._inner_places]
        self._outer: list[Timer] = []

    def close(self) -> None:
        """Everything is installed: put the outer timers on."""
        self._outer = [self._timer(*place) for place in self._outer_places]

    @staticmethod
    def _timer(owner: Any, name: str) -> Timer:
        timer = Timer()
        timer.around(owner, name)
        return timer

    def added(self, clock: str) -> int:
        """Nanoseconds that the last call spent between the timers."""
        pairs = zip(self._outer, self._inner, strict=True)
        return sum(getattr(outer, clock) - getattr(inner, clock) for outer, inner in pairs)


def providers() -> Callable[[], None]:
    """Set the global providers, each with a pipeline that drops what it gets; returns the flush."""
    from opentelemetry import metrics, trace
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, InMemoryLogRecordExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class Drop(SpanExporter):
        spans = 0

        def export(self, spans: Any) -> SpanExportResult:
            Drop.spans += len(spans)
            return SpanExportResult.SUCCESS

    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(Drop()))
    trace.set_tracer_provider(tracer_provider)
    metrics.set_meter_provider(MeterProvider(metric_readers=[InMemoryMetricReader()]))
    log_exporter = InMemoryLogRecordExporter()
    logger_provider = LoggerProvider()
    logger_provider.add_log_record_processor(BatchLogRecordProcessor(log_exporter))
    set_logger_provider(logger_provider)

    def flush() -> None:
        tracer_provider.force_flush()
        logger_provider.force_flush()
        log_exporter.clear()

    flush.spans = lambda: Drop.spans  # type: ignore[attr-defined]
    return flush


def turn_on(variant: str, api: str) -> str:
    """Install the instrumentation; returns what it is, with its version."""
    if variant == "none":
        return "no instrumentation"
    if variant.startswith("official"):
        if api == "openai":
            from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor as Official
        else:
            from opentelemetry.instrumentation.genai.anthropic import AnthropicInstrumentor as Official
        Official().instrument(completion_hook=_Hook() if variant == "official-hook" else None)
        return _version(f"opentelemetry-instrumentation-genai-{api}")
    if variant.startswith("openllmetry"):
        os.environ["TRACELOOP_TRACE_CONTENT"] = "false" if variant.endswith("no-content") else "true"
        if api == "openai":
            from opentelemetry.instrumentation.openai import OpenAIInstrumentor as OpenLLMetry
        else:
            from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor as OpenLLMetry
        OpenLLMetry().instrument()
        return _version(f"opentelemetry-instrumentation-{api}")
    if variant == "openinference":
        if api == "openai":
            from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
        else:
            from openinference.instrumentation.anthropic import AnthropicInstrumentor as OpenInference
        OpenInference().instrument()
        return _version(f"openinference-instrumentation-{api}")
    if variant == "footprint" or variant.startswith("footprint-window-"):
        import otel_footprint

        turns = variant.removeprefix("footprint").removeprefix("-window-")
        otel_footprint.instrument(window=otel_footprint.SlidingWindow(int(turns)) if turns else None)
        return _version("otel-footprint")
    raise SystemExit(f"unknown variant {variant!r}")


class _Hook:
    """A completion hook that does nothing: with it the official instrumentation has to convert the messages."""

    def on_completion(self, **kwargs: Any) -> None:
        pass


def _version(distribution: str) -> str:
    return f"{distribution} {importlib.metadata.version(distribution)}"


def call(client: Any, api: str, conversation: Conversation, size: int) -> Any:
    """The arguments of one call with the first ``size`` messages, as a function to be timed."""
    if api == "openai":
        messages = conversation.openai(size)
        create = client.chat.completions.create
        return lambda: create(model="gpt-4o", messages=messages, tools=conversation.openai_tools)
    system, messages = conversation.anthropic(size)
    create = client.messages.create
    return lambda: create(
        model="claude-sonnet-4-6", max_tokens=512, system=system, messages=messages, tools=conversation.anthropic_tools
    )


def measure(client: Any, script: Script, seams: Seams, seed: int, size: int, kind: str) -> dict[str, int]:
    """Nanoseconds of the call at ``size`` messages of a fresh conversation: whole, and what was added."""
    conversation = Conversation(seed)
    for warm in (size - 4, size - 2):
        if warm >= 2:
            script.set(conversation.next_message(warm, script.api))
            call(client, script.api, conversation, warm)()
    script.set(conversation.output(size, kind, script.api))
    timed = call(client, script.api, conversation, size)
    wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
    timed()
    cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
    return {"cpu": cpu, "wall": wall, "cpu_added": seams.added("cpu"), "wall_added": seams.added("wall")}


def main() -> None:
    variant, api = sys.argv[1:3]
    logging.disable(logging.WARNING)
    os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"  # the SDK's own spans would stand beside everybody's
    flush = providers()
    seams = Seams(api)
    what = turn_on(variant, api)
    seams.close()
    script = Script(api)
    client = script.client()
    seed = 0
    print(json.dumps({"ready": what}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        samples = []
        for _ in range(command["samples"]):
            seed += 1
            flush()
            gc.collect()
            samples.append(measure(client, script, seams, seed, command["size"], command["kind"]))
        flush()
        times = {name: [sample[name] for sample in samples] for name in samples[0]}
        print(json.dumps(times | {"spans": flush.spans()}), flush=True)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
