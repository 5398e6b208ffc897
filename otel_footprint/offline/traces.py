"""Model calls in a trace file, replayed in order and judged from the messages their spans carry.

Rules
-----
- A call is a span of a model operation (or without one) with messages: as attributes of the span, in the event or log
  record ``gen_ai.client.inference.operation.details``, or in the older event per message. Text or structure, both read.
- Agent, workflow and tool spans are no calls; a call inside another call's span is the same call seen twice.
- Calls are observed in start order by the very state machine that runs in the process, so conversations, threads, what
  left the window and the verdicts come out the same way. The recorded conversation id is taken where there is one.
- Where we acted on a call, its own words and our attributes tell (see ``acted``).
- Where the provider held the window, our own attributes tell (others have ``gen_ai.request.previous_response.id``).
- ``message_index`` counts in the list *input messages, then output messages* of the answer's own call. A carrier that
  is no longer in that list has none.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, cast

from otel_footprint.core.call import CUT_SHORT, MODEL_OPERATIONS, Call, CallRef, Output
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import CallJudgement, Carrier, Judgement
from otel_footprint.core.messages import Json, Message, ServerToolResult, ToolResult
from otel_footprint.offline import semconv
from otel_footprint.offline.acted import Acted
from otel_footprint.offline.document import AnswerDocument, answer_document, argument_documents
from otel_footprint.offline.files import Problem, TraceFile
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.otlp import Span
from otel_footprint.offline.semconv import Finished
from otel_footprint.providers import openai_chat
from otel_footprint.providers.native import Native, one
from otel_footprint.telemetry import names

_INPUTS: Final = "gen_ai.input.messages"
_OUTPUTS: Final = "gen_ai.output.messages"
_INSTRUCTIONS: Final = "gen_ai.system_instructions"
_TOOLS: Final = "gen_ai.tool.definitions"
_DETAILS: Final = "gen_ai.client.inference.operation.details"


@dataclass(slots=True)
class _Raw:
    """What was recorded of one call, before it is read."""

    span: Span
    inputs: Json = None
    outputs: Json = None
    instructions: Json = None
    tools: Json = None
    events: list[tuple[str, Mapping[str, Json], Json]] = field(default_factory=list)

    @property
    def has_messages(self) -> bool:
        return self.inputs is not None or self.outputs is not None or bool(self.events)


def judge_trace(
    trace: TraceFile, evidence: Evidence, *, arguments: bool = False
) -> tuple[list[Judged], list[Problem], frozenset[str]]:
    """The conversations of a trace, what of it could not be read, and the ids of the spans that were judged."""
    calls = [raw for raw in _collect(trace) if raw.has_messages]
    calls = _outermost(calls, trace.spans)
    ids = count(1)
    store = Conversations(evidence=evidence, limits=_NO_LIMITS, new_id=lambda: f"inferred-{next(ids)}")
    found: dict[str, _Found] = {}
    problems: list[Problem] = []
    held, acted = _Held(), Acted(trace.spans)
    for raw in sorted(calls, key=lambda raw: (raw.span.start_ns, raw.span.span_id)):
        try:
            natives, call = _call(raw)
        except (UnreadableInputError, RecursionError) as error:
            reason = error.reason if isinstance(error, UnreadableInputError) else "nested too deeply"
            problems.append(Problem(None, f"span {raw.span.span_id}: {reason}"))
            continue
        call = acted.tell(raw.span, held.tell(raw.span, call))
        decisions = store.observe(call)
        conversation = found.setdefault(decisions.conversation, _Found(call.conversation_id))
        if arguments:
            conversation.add_calls(natives, call, decisions.calls)
        for judgement in () if acted.is_draft(raw.span) else decisions.judgements:
            conversation.add(raw.span, natives, call, judgement)
    judged = [conversation.judged() for conversation in found.values()]
    return judged, problems, frozenset(raw.span.span_id for raw in calls)


_NO_LIMITS: Final = Limits(conversations=1_000_000, bytes=2**62, idle_s=1e18)


class _Held:
    """Windows that the provider held, where our own attributes say so: the span has only what was sent."""

    def __init__(self) -> None:
        self._last: dict[tuple[Json, Json], str] = {}

    def tell(self, span: Span, call: Call) -> Call:
        """The call with the response it continues: the last of its thread, or one that was never seen."""
        key = (span.attributes.get(names.CONVERSATION_ID), span.attributes.get(names.THREAD))
        matched = span.attributes.get(names.CONVERSATION_MATCH) == "response_id"
        reasons = span.attributes.get(names.EVIDENCE_REASONS)
        unseen = isinstance(reasons, list) and "unseen_history" in reasons
        if call.previous_response_id is None and (matched or (unseen and key not in self._last)):
            call = replace(call, previous_response_id=self._last.get(key, f"unseen {span.span_id}"))
        if call.response_id is not None:
            self._last[key] = call.response_id
        return call


class _Found:
    """The answers of one conversation so far."""

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.answers: list[AnswerDocument] = []
        self.places: list[str] = []
        self._calls: list[CallJudgement] = []

    def add(self, span: Span, natives: Sequence[Native], call: Call, judgement: Judgement) -> None:
        values = tuple(
            replace(value, carriers=tuple(_placed(carrier, natives) for carrier in value.carriers))
            for value in judgement.values
        )
        index = _index_of(natives, call, judgement.choice)
        self.answers.append(answer_document(index, replace(judgement, values=values), self._calls))
        self._calls = []
        self.places.append(f"span {span.trace_id}/{span.span_id}")

    def add_calls(self, natives: Sequence[Native], call: Call, emitted: Iterable[CallJudgement]) -> None:
        """The tool calls of an output; they stand with the next answer."""
        for made in emitted:
            values = tuple(
                replace(value, carriers=tuple(_placed(carrier, natives) for carrier in value.carriers))
                for value in made.values
            )
            self._calls.append(replace(made, values=values, position=_index_of(natives, call, made.choice)))

    def judged(self) -> Judged:
        """Everything that was added; calls after the last answer stand with it."""
        rest = argument_documents(self._calls)
        if self.answers:
            self.answers[-1]["arguments"] += rest
        return Judged({"id": self.id, "answers": self.answers}, tuple(self.places), [] if self.answers else rest)


def _index_of(natives: Sequence[Native], call: Call, choice: int) -> int:
    """The index of an output in the list of the call's input messages followed by its outputs."""
    length = max((native.at for native in natives), default=-1) + 1
    choices = [output.choice for output in call.outputs]
    return length + (choices.index(choice) if choice in choices else 0)


def _placed(carrier: Carrier, natives: Sequence[Native]) -> Carrier:
    """The carrier with the index of its message in this call's own list."""
    if carrier.position is not None or carrier.tool_call_id is None:
        return carrier
    places = [
        native.at
        for native in natives
        for part in native.message.parts
        if isinstance(part, (ToolResult, ServerToolResult)) and part.id == carrier.tool_call_id
    ]
    if not places:
        return carrier
    number = carrier.ref.removeprefix(f"{carrier.tool_call_id}#")
    nth = int(number) - 1 if number.isdecimal() and number.isascii() and len(number) < 9 else 0
    return replace(carrier, position=places[nth] if nth < len(places) else places[-1])


def _collect(trace: TraceFile) -> list[_Raw]:
    calls: dict[tuple[str, str], _Raw] = {}
    for span in trace.spans:
        operation = span.attributes.get(names.GEN_AI_OPERATION_NAME)
        if operation is None or operation in MODEL_OPERATIONS:
            raw = calls[span.trace_id, span.span_id] = _Raw(span)
            _take(raw, span.attributes)
            for event in span.events:
                _take_event(raw, event.name, event.attributes, None)
    for log in sorted(trace.logs, key=lambda log: log.time_ns):
        known = calls.get((log.trace_id, log.span_id))
        if known is not None:
            _take_event(known, log.name, log.attributes, log.body)
    return list(calls.values())


def _take(raw: _Raw, attributes: Mapping[str, Json]) -> None:
    raw.inputs = attributes.get(_INPUTS, raw.inputs)
    raw.outputs = attributes.get(_OUTPUTS, raw.outputs)
    raw.instructions = attributes.get(_INSTRUCTIONS, raw.instructions)
    raw.tools = attributes.get(_TOOLS, raw.tools)


_ROLE_EVENTS: Final[dict[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "choice",
}


def _take_event(raw: _Raw, name: str, attributes: Mapping[str, Json], body: Json) -> None:
    if name == _DETAILS:
        _take(raw, attributes)
        if isinstance(body, dict):
            _take(raw, body)
    elif name in _ROLE_EVENTS:
        raw.events.append((_ROLE_EVENTS[name], attributes, body))


def _outermost(calls: list[_Raw], spans: Iterable[Span]) -> list[_Raw]:
    """Calls without those inside another call's span."""
    parents = {(span.trace_id, span.span_id): span.parent_id for span in spans}
    identities = {(raw.span.trace_id, raw.span.span_id) for raw in calls}

    def nested(span: Span) -> bool:
        seen: set[str] = set()
        parent = span.parent_id
        while parent is not None and parent not in seen:
            if (span.trace_id, parent) in identities:
                return True
            seen.add(parent)
            parent = parents.get((span.trace_id, parent))
        return False

    return [raw for raw in calls if not nested(raw.span)]


def _call(raw: _Raw) -> tuple[list[Native], Call]:
    span = raw.span
    if raw.events and raw.inputs is None and raw.outputs is None:
        natives, finished = _from_events(raw.events)
    else:
        natives = list(semconv.read(_decoded(raw.inputs, _INPUTS)))
        finished = semconv.read_outputs(_decoded(raw.outputs, _OUTPUTS))
    instructions = _instructions(raw.instructions)
    messages = tuple(native.message for native in natives)
    leading = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    attributes = span.attributes
    failed = span.error or "error.type" in attributes
    outputs = tuple(
        Output(output.message, choice, output.finish_reason, partial=failed or output.finish_reason in CUT_SHORT)
        for choice, output in enumerate(finished)
    )
    conversation = _string(attributes, names.GEN_AI_CONVERSATION_ID) or _string(attributes, names.CONVERSATION_ID)
    call = Call(
        system=instructions + messages[:leading],
        messages=messages[leading:],
        outputs=outputs,
        now=span.end_ns / 1e9,
        started_at=span.start_ns / 1e9,
        ref=CallRef(_hex(span.trace_id), _hex(span.span_id)),
        operation=_string(attributes, names.GEN_AI_OPERATION_NAME) or "chat",
        provider=_string(attributes, "gen_ai.provider.name") or _string(attributes, "gen_ai.system"),
        model=_string(attributes, "gen_ai.response.model") or _string(attributes, "gen_ai.request.model"),
        agent=_string(attributes, "gen_ai.agent.name"),
        tools=_tools(raw.tools),
        conversation_id=conversation,
        conversation_source="ambient" if conversation is not None else None,
        response_id=_string(attributes, names.GEN_AI_RESPONSE_ID),
        previous_response_id=_string(attributes, "gen_ai.request.previous_response.id"),
    )
    return natives, call


def _from_events(events: Sequence[tuple[str, Mapping[str, Json], Json]]) -> tuple[list[Native], tuple[Finished, ...]]:
    natives: list[Native] = []
    outputs: list[Finished] = []
    for role, attributes, body in events:
        content = {**attributes, **body} if isinstance(body, dict) else dict(attributes)
        for key in ("tool_calls", "message"):
            content[key] = _maybe_json(content.get(key))
        if role == "choice":
            message = content.get("message")
            fields = message if isinstance(message, dict) else content
            reason = content.get("finish_reason")
            read = openai_chat.read_one({**fields, "role": "assistant"}, len(natives))
            outputs.append(Finished(read, reason if isinstance(reason, str) else None))
        else:
            if role == "tool":
                content.setdefault("tool_call_id", content.get("id"))
            natives.append(one(openai_chat.read_one({**content, "role": role}, len(natives)), len(natives)))
    return natives, tuple(outputs)


def _maybe_json(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        return cast("Json", json.loads(value))
    except (ValueError, RecursionError):
        return value


def _decoded(value: Json, what: str) -> list[Json]:
    """A message list that may be text, a structure, or a list of texts."""
    if value is None:
        return []
    decoded = _maybe_json(value)
    if isinstance(decoded, list):
        return [_maybe_json(item) for item in decoded]
    raise UnreadableInputError(
        f"{what} is not a list of messages" if decoded is not value else f"{what} is cut or not JSON"
    )


def _instructions(value: Json) -> tuple[Message, ...]:
    decoded = _maybe_json(value)
    return semconv.read_instructions(decoded if isinstance(decoded, (list, str)) or decoded is None else [decoded])


def _tools(value: Json) -> tuple[str, ...] | None:
    if value is None:
        return None
    decoded = _maybe_json(value)
    found: list[str] = []
    for tool in decoded if isinstance(decoded, list) else ():
        body = _maybe_json(tool)
        if isinstance(body, dict):
            function = body.get("function")
            name = body.get("name") or (function.get("name") if isinstance(function, dict) else None)
            if isinstance(name, str):
                found.append(name)
    return tuple(found)


def _string(attributes: Mapping[str, Json], key: str) -> str | None:
    value = attributes.get(key)
    return value if isinstance(value, str) and value else None


def _hex(identity: str) -> int:
    try:
        return int(identity, 16)
    except ValueError:
        return 0


def by_span(trace: TraceFile) -> Mapping[tuple[str, str], list[tuple[str, Mapping[str, Json]]]]:
    """The log events of each span, by trace id and span id, as (name, attributes) in order of time."""
    found: dict[tuple[str, str], list[tuple[str, Mapping[str, Json]]]] = defaultdict(list)
    for log in sorted(trace.logs, key=lambda log: log.time_ns):
        found[log.trace_id, log.span_id].append((log.name, log.attributes))
    return found
