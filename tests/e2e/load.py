"""Judged chat spans at a rate, sent as an SDK sends them: gRPC, 500 spans a request, each agent's run a trace of five.

The spans are those of a real agent (the demo's), with new ids. By itself: ``python load.py PORT RATE SECONDS``.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

BATCH = 500
RUN = 5
METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@dataclass
class Sent:
    """What was accepted and what was refused, in spans; how long it took, in seconds."""

    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0


def template() -> ExportTraceServiceRequest:
    """A request of judged spans: each run an agent's span and four calls, the last of which answers."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    for key, value in (
        ("service.name", "load"),
        ("service.instance.id", "load-1"),
        ("telemetry.sdk.language", "python"),
    ):
        group.resource.attributes.add(key=key).value.string_value = value
    scope = group.scope_spans.add()
    scope.scope.name = "opentelemetry.instrumentation.genai.openai"
    for index in range(BATCH):
        span = scope.spans.add(name="chat gpt-4o", kind=Span.SPAN_KIND_CLIENT)
        kind = index % RUN
        texts = {
            "gen_ai.operation.name": "chat" if kind else "invoke_agent",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o-2024-08-06",
            "gen_ai.response.id": "chatcmpl-0123456789abcdefghij",
            "server.address": "api.openai.com",
            "agentfootprint.conversation.id": "ticket-4711",
            "agentfootprint.conversation.match": "explicit",
            "agentfootprint.window.decision": "append",
            "agentfootprint.window.decided_by": "application",
        }
        numbers = dict.fromkeys(
            (
                "agentfootprint.thread", "agentfootprint.turn", "agentfootprint.iteration",
                "agentfootprint.window.messages_before", "agentfootprint.window.messages_after",
                "agentfootprint.window.chars_before", "agentfootprint.window.chars_after",
                "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "agentfootprint.evidence.candidates",
            ),
            kind,
        )  # fmt: skip
        if kind == RUN - 1:
            texts |= {
                "agentfootprint.evidence.verdict": "grounded" if index % 50 > RUN else "ungrounded",
                "agentfootprint.evidence.worst_status": "read",
                "agentfootprint.evidence.posture": "assist",
            }
            event = span.events.add(name="agentfootprint.agent.evidence_checked")
            for key in ("verdict", "worst_status", "posture"):
                name = f"agentfootprint.evidence.{key}"
                event.attributes.add(key=name).value.string_value = texts[name]
            for _ in range(3):
                event = span.events.add(name="agentfootprint.evidence.value")
                for key, value in (("status", "read"), ("shape", "identifier"), ("tool", "get_order")):
                    event.attributes.add(key=f"agentfootprint.value.{key}").value.string_value = value
        for key, value in texts.items():
            span.attributes.add(key=key).value.string_value = value
        for key, number in numbers.items():
            span.attributes.add(key=key).value.int_value = number
    return request


class Generator:
    """Sends requests on a schedule; a late one is sent at once, so that the rate is kept on the whole."""

    def __init__(self, port: int) -> None:
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self._send = self._channel.unary_unary(METHOD, request_serializer=None, response_deserializer=None)
        self._request = template()

    def send(self, rate: int, seconds: float, *, tries: int = 1) -> Sent:
        """At ``rate`` spans a second. A refused request is tried again, as an SDK does, ``tries`` times in all."""
        done, began = Sent(), time.monotonic()
        with ThreadPoolExecutor(8) as threads:
            pending = []
            for number in range(int(rate * seconds / BATCH)):
                pause = began + number * BATCH / rate - time.monotonic()
                if pause > 0:
                    time.sleep(pause)
                pending.append(threads.submit(self._deliver, self._next(), tries))
            for each in pending:
                if each.result():
                    done.accepted += BATCH
                else:
                    done.refused += BATCH
        done.seconds = time.monotonic() - began
        return done

    def _next(self) -> bytes:
        now = time.time_ns()
        spans = self._request.resource_spans[0].scope_spans[0].spans
        trace_id = root = b""
        for index, span in enumerate(spans):
            if index % RUN == 0:
                trace_id, root = os.urandom(16), os.urandom(8)
            span.trace_id = trace_id
            span.span_id = os.urandom(8) if index % RUN else root
            span.parent_span_id = root if index % RUN else b""
            span.start_time_unix_nano, span.end_time_unix_nano = now - 1_000_000, now
            for event in span.events:
                event.time_unix_nano = now
        return self._request.SerializeToString()

    def _deliver(self, request: bytes, tries: int) -> bool:
        for attempt in range(tries):
            try:
                self._send(request, timeout=20)
                return True
            except grpc.RpcError:
                time.sleep(0.2 * 2**attempt)
        return False


if __name__ == "__main__":
    port, rate, seconds = (int(argument) for argument in sys.argv[1:])
    print(Generator(port).send(rate, seconds))
