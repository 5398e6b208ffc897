"""What the application is given in every other way an SDK has: raw responses, parsed ones, runners, several choices, errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import openai
import pytest
from google import genai
from google.genai import types
from pydantic import BaseModel

import otel_footprint
from otel_footprint.testing.provider import Error, Raw, ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.script import compact
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import MODEL, run
from tests.acting.streaming_agents import SCHEMA

FINDINGS = {"basis": "exploratory"}
CALL = ToolCalls([ToolUse("get_order", {"id": "1", "_findings": FINDINGS}, "call_a")])
ANSWER = '{"order": "W-5918442"}'
ANSWERED = Text(json.dumps({"order": "W-5918442", "_findings": FINDINGS}))
TOOL: Any = {"type": "function", "function": {"name": "get_order", "parameters": SCHEMA}}
ASKED: Any = {"model": MODEL, "messages": [{"role": "user", "content": "Which order?"}]}
CHAT: Any = {**ASKED, "tools": [TOOL]}
CLAUDE: Any = {**ASKED, "max_tokens": 9, "tools": [{"name": "get_order", "input_schema": SCHEMA}]}


class Order(BaseModel):
    order: str


class GetOrder(BaseModel):
    """Reads an order."""

    id: str


def chat(provider: ScriptedProvider, kind: Any = openai.OpenAI) -> Any:
    return kind(base_url=provider.openai_url, api_key="x", max_retries=0)


def claude(provider: ScriptedProvider, kind: Any = anthropic.Anthropic) -> Any:
    return kind(base_url=provider.anthropic_url, api_key="x", max_retries=0)


def offered(provider: ScriptedProvider) -> list[bool]:
    return [b"_findings" in request.body for request in provider.requests]


def arguments_of(completion: Any) -> Any:
    return json.loads(completion.choices[0].message.tool_calls[0].function.arguments)


def test_a_raw_response_parses_to_what_is_peeled_and_its_body_is_the_providers(act: Callable[..., Sink]) -> None:
    act(findings=True)
    with ScriptedProvider([CALL, CALL, CALL]) as provider:
        raw = chat(provider).chat.completions.with_raw_response.create(**CHAT)
        assert arguments_of(raw.parse()) == {"id": "1"}
        assert raw.parse() is raw.parse()
        assert raw.headers["content-type"] == "application/json"
        assert b"_findings" in raw.content  # not promised: bytes are the provider's

        async def asynchronous() -> Any:
            found = await chat(provider, openai.AsyncOpenAI).chat.completions.with_raw_response.create(**CHAT)
            return found.parse()

        assert arguments_of(run(asynchronous())) == {"id": "1"}
        message = claude(provider).messages.with_raw_response.create(**CLAUDE).parse()
        assert message.content[0].input == {"id": "1"}


def test_a_raw_response_that_streams_parses_to_a_peeled_stream(act: Callable[..., Sink]) -> None:
    act(findings=True)
    with ScriptedProvider([CALL]) as provider:
        raw = chat(provider).chat.completions.with_raw_response.create(**CHAT, stream=True)
        pieces = [call.function.arguments for chunk in raw.parse() for call in chunk.choices[0].delta.tool_calls or []]
        assert json.loads("".join(pieces)) == {"id": "1"}


def test_where_the_application_reads_the_body_itself_nothing_is_offered(act: Callable[..., Sink]) -> None:
    act(findings=True)
    plain = ToolCalls([ToolUse("get_order", {"id": "1"}, "call_a")])
    with ScriptedProvider([plain] * 3) as provider, otel_footprint.conversation() as conversation:
        with chat(provider).chat.completions.with_streaming_response.create(**CHAT) as response:
            assert b'"id\\":' in b"".join(response.iter_bytes())
        with chat(provider).chat.completions.with_streaming_response.create(**CHAT) as response:
            assert arguments_of(response.parse()) == {"id": "1"}

        async def asynchronous() -> Any:
            create = chat(provider, openai.AsyncOpenAI).chat.completions.with_streaming_response.create
            async with create(**CHAT) as response:
                return json.loads(await response.text())

        assert "tool_calls" in json.dumps(run(asynchronous()))
        assert offered(provider) == [False, False, False]
        assert conversation.findings.declared == 0


def test_strict_tools_and_forms_of_the_application_are_left_as_they_are(act: Callable[..., Sink]) -> None:
    act(findings=True)
    with ScriptedProvider(
        [ToolCalls([ToolUse("GetOrder", {"id": "1"})]), Text(ANSWER), Text(ANSWER), Text(ANSWER)]
    ) as provider:
        with otel_footprint.conversation() as conversation:
            parsed = chat(provider).chat.completions.parse(**ASKED, tools=[openai.pydantic_function_tool(GetOrder)])
            assert parsed.choices[0].message.tool_calls[0].function.parsed_arguments == GetOrder(id="1")
            assert conversation.findings.undecorated == {"GetOrder": "strict"}
            exact: Any = {**TOOL, "function": {**TOOL["function"], "strict": True}}
            answered = chat(provider).chat.completions.parse(**ASKED, tools=[exact], response_format=Order)
            assert answered.choices[0].message.parsed == Order(order="W-5918442")
            assert dict(conversation.findings.undecorated) == {"GetOrder": "strict", "get_order": "strict"}
        assert offered(provider) == [False, False]
        flat: Any = {"type": "function", "name": "get_order", "parameters": SCHEMA}
        chat(provider).responses.create(model=MODEL, input="Which order?", tools=[{**flat, "strict": True}])
        claude(provider).messages.create(**{**CLAUDE, "tools": [{**CLAUDE["tools"][0], "strict": True}]})
        assert offered(provider)[2:] == [False, False]


def test_additional_properties_stay_forbidden_and_nothing_is_required(act: Callable[..., Sink]) -> None:
    act(findings=True)
    closed: Any = {**TOOL, "function": {**TOOL["function"], "parameters": {**SCHEMA, "additionalProperties": False}}}
    with ScriptedProvider([CALL]) as provider:
        assert arguments_of(chat(provider).chat.completions.create(**ASKED, tools=[closed])) == {"id": "1"}
        parameters = provider.requests[0].json["tools"][0]["function"]["parameters"]
    assert parameters["additionalProperties"] is False
    assert parameters["required"] == ["id"]
    assert list(parameters["properties"]) == ["id", "_findings"]
    assert closed["function"]["parameters"]["properties"] == SCHEMA["properties"]


def test_a_model_whose_answer_has_a_form_is_not_told_to_put_anything_into_it(act: Callable[..., Sink]) -> None:
    act(findings=True)
    form: Any = {"type": "json_schema", "json_schema": {"name": "o", "schema": Order.model_json_schema()}}
    flat: Any = {"type": "function", "name": "get_order", "parameters": SCHEMA, "strict": False}
    with ScriptedProvider([Text(ANSWER)] * 8) as provider:
        for more in ({}, {"response_format": form}, {"response_format": {"type": "json_object"}}):
            chat(provider).chat.completions.create(**CHAT, **more)
        chat(provider).responses.parse(model=MODEL, input="Which order?", tools=[flat], text_format=Order)
        chat(provider).responses.create(model=MODEL, input="Which order?", tools=[flat])
        claude(provider).messages.parse(**CLAUDE, output_format=Order)
        root = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
        declared = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_order")])
        for schema in (None, Order):
            config = types.GenerateContentConfig(tools=[declared], response_schema=schema)
            root.models.generate_content(model=MODEL, contents="Which order?", config=config)
        told = [b"as a whole is a JSON object" in request.body for request in provider.requests]
    assert told == [True, False, True, False, True, False, True, False]


def test_a_tool_runner_runs_its_tools_without_it(act: Callable[..., Sink]) -> None:
    act(findings=True)
    ran: list[str] = []

    @anthropic.beta_tool
    def get_order(id: str) -> str:
        """Reads an order."""
        ran.append(id)
        return '{"order": "W-5918442"}'

    with ScriptedProvider([CALL, Text("Your order is W-5918442.")]) as provider:
        runner = claude(provider).beta.messages.tool_runner(
            model=MODEL, max_tokens=9, tools=[get_order], messages=ASKED["messages"]
        )
        assert runner.until_done().content[0].text == "Your order is W-5918442."
        assert ran == ["1"]
        assert offered(provider)[0]


def test_functions_that_gemini_calls_by_itself_are_left_alone(act: Callable[..., Sink]) -> None:
    act(findings=True)

    def get_order(id: str) -> dict[str, str]:
        """Reads an order."""
        return {"order": "W-5918442"}

    script: list[Step] = [ToolCalls([ToolUse("get_order", {"id": "1"}, "g")]), Text("Your order is W-5918442.")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation() as conversation:
        root = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
        config = types.GenerateContentConfig(tools=[get_order])
        answer = root.models.generate_content(model=MODEL, contents="Which order?", config=config)
        assert answer.text == "Your order is W-5918442."
        assert dict(conversation.findings.undecorated) == {"get_order": "no-schema"}


def test_each_of_several_choices_is_peeled(act: Callable[..., Sink]) -> None:
    act(findings=True)
    texts = ['{"a": 1, "_findings": {"basis": "direct"}}', "plain", '{"b": 2, "_findings": {"basis": "guess"}}']
    choices = [
        {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for index, text in enumerate(texts)
    ]
    head = {"id": "x", "created": 1, "model": MODEL}
    body = compact({**head, "object": "chat.completion", "choices": choices})
    deltas = [
        {"index": index, "delta": {"content": text[place : place + 5]}, "finish_reason": None}
        for place in range(0, 50, 5)
        for index, text in enumerate(texts)
        if text[place : place + 5]
    ]
    deltas += [{"index": index, "delta": {}, "finish_reason": "stop"} for index in range(3)]
    chunks = tuple(
        b"data: " + compact({**head, "object": "chat.completion.chunk", "choices": [delta]}) + b"\n\n"
        for delta in deltas
    )
    stream = Raw(chunks=(*chunks, b"data: [DONE]\n\n"), content_type="text/event-stream")
    with ScriptedProvider([Raw(body), stream]) as provider, otel_footprint.conversation() as conversation:
        completion = chat(provider).chat.completions.create(**CHAT, n=3)
        seen = ['{"a": 1}', "plain", '{"b": 2}']
        assert [choice.message.content for choice in completion.choices] == seen
        assert (conversation.findings.declared, conversation.findings.malformed) == (2, 1)
        told = ["", "", ""]
        for chunk in chat(provider).chat.completions.create(**CHAT, n=3, stream=True):
            for choice in chunk.choices:
                told[choice.index] += choice.delta.content or ""
        assert told == seen


def test_an_error_is_the_applications_and_the_next_call_is_whole(act: Callable[..., Sink]) -> None:
    act(findings=True)
    with ScriptedProvider([Error(429, "later"), CALL, Error(400, "no"), CALL]) as provider:
        for _ in range(2):
            with pytest.raises(openai.APIStatusError) as caught:
                chat(provider).chat.completions.create(**CHAT)
            assert "_findings" not in str(caught.value)
            assert arguments_of(chat(provider).chat.completions.create(**CHAT)) == {"id": "1"}


@pytest.mark.parametrize("broken", [False, True])
def test_a_stream_that_is_left_or_breaks_gave_nothing_of_it(broken: bool, act: Callable[..., Sink]) -> None:
    act(findings=True)
    long = ToolCalls(CALL.calls, call_pieces=40, break_after=20 if broken else None)
    with ScriptedProvider([long, CALL]) as provider, otel_footprint.conversation() as conversation:
        seen: list[str] = []
        stream = chat(provider).chat.completions.create(**CHAT, stream=True)

        def read(most: int) -> None:
            for chunk, _ in zip(stream, range(most), strict=False):
                seen.extend(call.function.arguments for call in chunk.choices[0].delta.tool_calls or [])

        if broken:
            with pytest.raises((openai.OpenAIError, httpx.HTTPError)):
                read(99)
        else:
            read(15)
        stream.close()
        assert "".join(seen) == '{"id": "1"'
        assert arguments_of(chat(provider).chat.completions.create(**CHAT)) == {"id": "1"}
        assert conversation.findings.declared == 1


def test_an_agent_that_has_the_argument_itself_keeps_it_and_what_it_says_is_read(act: Callable[..., Sink]) -> None:
    act(findings=True)
    own: Any = {"type": "object", "properties": {"id": {"type": "string"}, "_findings": {"type": "object"}}}
    tools: Any = [{"type": "function", "function": {"name": "get_order", "parameters": own}}]
    said = {"basis": "direct", "previous": [{"toolCallId": "call_a", "standing": "ruled-out"}]}
    again = ToolCalls([ToolUse("get_order", {"id": "2", "_findings": said}, "call_b")])
    with (
        ScriptedProvider([CALL, again, Text("It is W-5918442.")]) as provider,
        otel_footprint.conversation() as conversation,
    ):
        messages: list[Any] = [{"role": "user", "content": "Which order?"}]
        for expected in (FINDINGS, said):
            completion = chat(provider).chat.completions.create(model=MODEL, messages=messages, tools=tools)
            assert arguments_of(completion)["_findings"] == expected
            message = completion.choices[0].message
            messages += [message.model_dump(exclude_none=True)]
            content = '{"order": "W-5918442"}' if expected is FINDINGS else '{"order": "W-1"}'
            messages += [{"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": content}]
        chat(provider).chat.completions.create(model=MODEL, messages=messages, tools=tools)
        assert provider.requests[0].json["tools"] == tools
        assert conversation.findings.standing_of("call_a") == "ruled-out"
        assert conversation.findings.undecorated == {"get_order": "owned"}
        assert conversation.assessment is not None
        assert [reason.code for reason in conversation.assessment.reasons] == ["value-contingent"]
        assert [one.window.decision for one in conversation.decisions] == ["start", "append", "append"]
