"""The other APIs: the argument is offered, leaves what the application sees, in whole and in pieces, and goes back whole."""

import copy
import json
from itertools import pairwise
from typing import ClassVar

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from google.genai import types as gemini
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from otel_footprint.core.findings.offer import Offer, reserved_schema
from otel_footprint.core.findings.peeling import peel_text
from otel_footprint.providers.findings_anthropic import AnthropicFindings
from otel_footprint.providers.findings_bedrock import BedrockFindings
from otel_footprint.providers.findings_form import EmissionMemory, Offering
from otel_footprint.providers.findings_gemini import GeminiFindings
from otel_footprint.providers.findings_openai_responses import OpenAIResponsesFindings

NOTHING = frozenset()
ARGUMENTS = '{"q": "a", "_findings": {"basis": "direct"}, "n": 1.5}'
SEEN = '{"q": "a", "n": 1.5}'
ANSWER = '{"total": 1.50, "_findings": {"basis": "direct"}}'
SEEN_ANSWER = '{"total": 1.50}'
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
OFFERING = Offering(reserved_schema(Offer(("c1",))), ("ours",), {"c0": '{"text":"TICKET"}'})


class Responses:
    form: ClassVar = OpenAIResponsesFindings()
    events: ClassVar = TypeAdapter(ResponseStreamEvent)
    tools: ClassVar = [{"type": "function", "name": "search", "parameters": SCHEMA, "strict": False}]
    request: ClassVar = {
        "instructions": "theirs",
        "tools": [*tools, {"type": "function", "name": "exact", "parameters": SCHEMA}, {"type": "web_search"}],
        "input": [
            {"role": "user", "content": "u"},
            {"type": "function_call_output", "call_id": "c0", "output": "long"},
        ],
    }
    undecorated = (("exact", "strict"),)

    def offered(self, kwargs):
        assert kwargs["instructions"] == "theirs\n\nours"
        return kwargs["tools"][0]["parameters"], kwargs["input"][1]["output"]

    def item(self, arguments):
        return {"type": "function_call", "id": "i1", "call_id": "c1", "name": "search", "arguments": arguments}

    def response(self, *items):
        base = {"id": "r", "created_at": 1, "model": "m", "object": "response", "parallel_tool_calls": True}
        return {**base, "tool_choice": "auto", "tools": [], "output": list(items)}

    def call(self):
        return Response.model_validate(self.response(self.item(ARGUMENTS)))

    def answer(self):
        part = {"type": "output_text", "text": ANSWER, "annotations": []}
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
        return Response.model_validate(self.response(item))

    def seen(self, response):
        item = response.output[0]
        return item.arguments if item.type == "function_call" else item.content[0].text

    def history(self, response):
        return {"input": [{"role": "user", "content": "u"}, *response.output]}

    def words(self, kwargs):
        item = kwargs["input"][1]
        return item["arguments"] if item["type"] == "function_call" else item["content"][0]["text"]

    def stream(self, pieces):
        place = {"output_index": 0, "item_id": "i1", "sequence_number": 1}
        raw = [{"type": "response.output_item.added", **place, "item": self.item("")}]
        raw += [{"type": "response.function_call_arguments.delta", **place, "delta": piece} for piece in pieces]
        whole = "".join(pieces)
        raw.append({"type": "response.function_call_arguments.done", **place, "name": "search", "arguments": whole})
        raw.append({"type": "response.output_item.done", **place, "item": self.item(whole)})
        raw.append({"type": "response.completed", "sequence_number": 1, "response": self.response(self.item(whole))})
        return [self.events.validate_python(event) for event in raw]

    def streamed(self, events):
        kind = "response.function_call_arguments"
        text = "".join(event.delta for event in events if event.type == f"{kind}.delta")
        wholes = [event.arguments for event in events if event.type == f"{kind}.done"]
        wholes += [event.item.arguments for event in events if event.type == "response.output_item.done"]
        wholes += [event.response.output[0].arguments for event in events if event.type == "response.completed"]
        assert wholes == [text] * 3
        return text


class Anthropic:
    form: ClassVar = AnthropicFindings()
    events: ClassVar = TypeAdapter(RawMessageStreamEvent)
    request: ClassVar = {
        "system": "theirs",
        "tools": [
            {"name": "search", "input_schema": SCHEMA},
            {"name": "exact", "input_schema": SCHEMA, "strict": True},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c0", "content": "long"}]},
        ],
    }
    undecorated = (("exact", "strict"),)

    def offered(self, kwargs):
        assert kwargs["system"] == [{"type": "text", "text": "theirs"}, {"type": "text", "text": "ours"}]
        return kwargs["tools"][0]["input_schema"], kwargs["messages"][0]["content"][0]["content"]

    def message(self, block):
        base = {"id": "m", "model": "m", "role": "assistant", "type": "message", "content": [block]}
        return AnthropicMessage.model_validate({**base, "usage": {"input_tokens": 1, "output_tokens": 1}})

    def call(self):
        return self.message({"type": "tool_use", "id": "c1", "name": "search", "input": json.loads(ARGUMENTS)})

    def answer(self):
        return self.message({"type": "text", "text": ANSWER})

    def seen(self, response):
        block = response.content[0]
        return json.dumps(block.input) if block.type == "tool_use" else block.text

    def history(self, response):
        return {"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "content": response.content}]}

    def words(self, kwargs):
        block = kwargs["messages"][1]["content"][0]
        return json.dumps(block["input"]) if block["type"] == "tool_use" else block["text"]

    def stream(self, pieces):
        start = {"type": "tool_use", "id": "c1", "name": "search", "input": {}}
        raw = [{"type": "content_block_start", "index": 1, "content_block": start}]
        for piece in pieces:
            delta = {"type": "input_json_delta", "partial_json": piece}
            raw.append({"type": "content_block_delta", "index": 1, "delta": delta})
        raw.append({"type": "content_block_stop", "index": 1})
        return [self.events.validate_python(event) for event in raw]

    def streamed(self, events):
        return "".join(event.delta.partial_json for event in events if event.type == "content_block_delta")


class Bedrock:
    form: ClassVar = BedrockFindings()
    request: ClassVar = {
        "system": [{"text": "theirs"}],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "search", "inputSchema": {"json": SCHEMA}}},
                {"toolSpec": {"name": "exact", "strict": True, "inputSchema": {"json": SCHEMA}}},
                {"cachePoint": {"type": "default"}},
            ]
        },
        "messages": [
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c0", "content": [{"text": "long"}]}}]},
        ],
    }
    undecorated = (("exact", "strict"),)

    def offered(self, kwargs):
        assert kwargs["system"] == [{"text": "theirs"}, {"text": "ours"}]
        spec = kwargs["toolConfig"]["tools"][0]["toolSpec"]
        return spec["inputSchema"]["json"], kwargs["messages"][0]["content"][0]["toolResult"]["content"][0]["text"]

    def message(self, block):
        return {"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": "end_turn"}

    def call(self):
        return self.message({"toolUse": {"toolUseId": "c1", "name": "search", "input": json.loads(ARGUMENTS)}})

    def answer(self):
        return self.message({"text": ANSWER})

    def seen(self, response):
        block = response["output"]["message"]["content"][0]
        return json.dumps(block["toolUse"]["input"]) if "toolUse" in block else block["text"]

    def history(self, response):
        return {"messages": [{"role": "user", "content": [{"text": "u"}]}, response["output"]["message"]]}

    def words(self, kwargs):
        return self.seen({"output": {"message": kwargs["messages"][1]}})

    def stream(self, pieces):
        start = {"toolUse": {"toolUseId": "c1", "name": "search"}}
        raw = [{"contentBlockStart": {"start": start, "contentBlockIndex": 0}}]
        for piece in pieces:
            raw.append({"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, "contentBlockIndex": 0}})
        return [*raw, {"contentBlockStop": {"contentBlockIndex": 0}}]

    def streamed(self, events):
        deltas = [event["contentBlockDelta"] for event in events if "contentBlockDelta" in event]
        return "".join(delta["delta"]["toolUse"]["input"] for delta in deltas)


class Gemini:
    form: ClassVar = GeminiFindings()
    request: ClassVar = {
        "config": gemini.GenerateContentConfig(
            system_instruction="theirs",
            tools=[
                gemini.Tool(
                    function_declarations=[
                        gemini.FunctionDeclaration(name="search", parameters_json_schema=SCHEMA),
                        gemini.FunctionDeclaration(
                            name="schema",
                            parameters=gemini.Schema(type="OBJECT", properties={"q": gemini.Schema(type="STRING")}),
                        ),
                    ]
                ),
                len,
            ],
        ),
        "contents": [
            gemini.Content(
                role="user",
                parts=[
                    gemini.Part(function_response=gemini.FunctionResponse(id="c0", name="search", response={"a": 1}))
                ],
            )
        ],
    }
    undecorated = (("len", "no-schema"),)

    def offered(self, kwargs):
        config = kwargs["config"]
        assert config.system_instruction == ["theirs", "ours"]
        declared = config.tools[0].function_declarations
        own = declared[1].parameters.properties["_findings"]
        assert own.properties["previous"].items.properties["assertions"].items.properties["value"].nullable
        return declared[0].parameters_json_schema, kwargs["contents"][0].parts[0].function_response.response["text"]

    def message(self, part):
        content = gemini.Content(role="model", parts=[part])
        return gemini.GenerateContentResponse(candidates=[gemini.Candidate(content=content, finish_reason="STOP")])

    def call(self):
        call = gemini.FunctionCall(id="c1", name="search", args=json.loads(ARGUMENTS))
        return self.message(gemini.Part(function_call=call, thought_signature=b"sig"))

    def answer(self):
        return self.message(gemini.Part(text=ANSWER))

    def seen(self, response):
        part = response.candidates[0].content.parts[0]
        return json.dumps(part.function_call.args) if part.function_call else part.text

    def history(self, response):
        return {"contents": ["u", response.candidates[0].content]}

    def words(self, kwargs):
        part = kwargs["contents"][1].parts[0]
        assert part.function_call is None or part.thought_signature == b"sig"
        return json.dumps(part.function_call.args) if part.function_call else part.text


APIS = [Responses(), Anthropic(), Bedrock(), Gemini()]
each = pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__.lower())
each_in_pieces = pytest.mark.parametrize("api", APIS[:3], ids=lambda api: type(api).__name__.lower())


@each
def test_tools_that_can_carry_it_are_decorated_in_a_copy(api):
    before = copy.deepcopy(api.request)
    offered = api.form.offer(api.request, OFFERING)
    assert api.request == before
    schema, ticket = api.offered(offered.kwargs)
    assert list(schema["properties"]) == ["q", "_findings"]
    assert ticket in ("TICKET", '{"text":"TICKET"}')
    assert offered.undecorated == api.undecorated
    assert api.form.offer({}, OFFERING) is None


@each
def test_a_call_is_peeled_and_goes_back_whole(api):
    memory = EmissionMemory()
    response = api.call()
    api.form.take_out(response, memory, NOTHING)
    assert json.loads(api.seen(response)) == json.loads(SEEN)
    kwargs = api.history(response)
    before = copy.deepcopy(kwargs)
    assert json.loads(api.words(api.form.put_back(kwargs, memory))) == json.loads(ARGUMENTS)
    assert kwargs == before
    owned = api.call()
    api.form.take_out(owned, EmissionMemory(), frozenset({"search"}))
    assert json.loads(api.seen(owned)) == json.loads(ARGUMENTS)


@each
def test_a_json_answer_is_peeled_and_goes_back_whole(api):
    memory = EmissionMemory()
    response = api.answer()
    api.form.take_out(response, memory, NOTHING)
    assert api.seen(response) == SEEN_ANSWER
    assert api.words(api.form.put_back(api.history(response), memory)) == ANSWER
    untouched = api.history(response)
    assert api.form.put_back(untouched, EmissionMemory()) == untouched


@each_in_pieces
@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, len(ARGUMENTS)), max_size=6), end=st.integers(0, len(ARGUMENTS)) | st.none())
def test_a_stream_gives_the_same_however_it_is_cut(api, cuts, end):
    text = ARGUMENTS[:end]
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    memory = EmissionMemory()
    peeler = api.form.peeler(memory, NOTHING)
    events: ClassVar = [
        out for event in api.stream([text[a:b] for a, b in pairwise(places)]) for out in peeler.feed(event)
    ]
    assert api.streamed([*events, *peeler.close()]) == peel_text(text)[0]
    if end is None:
        seen, written = (SEEN, ARGUMENTS) if api is APIS[0] else (json.loads(SEEN), json.loads(ARGUMENTS))
        assert memory.call("c1", "search", seen) == written


def test_a_text_of_gemini_in_pieces():
    api = APIS[3]
    memory = EmissionMemory()
    peeler = api.form.peeler(memory, NOTHING)
    seen = ""
    for number, piece in enumerate(ANSWER):
        response = api.message(gemini.Part(text=piece))
        if number < len(ANSWER) - 1:
            response.candidates[0].finish_reason = None
        for event in peeler.feed(response):
            seen += event.candidates[0].content.parts[0].text
    assert seen == SEEN_ANSWER
    assert memory.answer(SEEN_ANSWER) == ANSWER
