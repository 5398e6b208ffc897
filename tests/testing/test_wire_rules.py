"""What each validator refuses, and that a strict provider refuses it as the API does."""

from __future__ import annotations

from typing import Any

import anthropic
import boto3
import openai
import pytest
from google import genai
from google.genai import errors, types

from otel_footprint.testing.provider import ScriptedProvider, Text
from otel_footprint.testing.wire_rules import problems


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def calls(*ids: str) -> dict[str, Any]:
    uses = [{"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": uses}


def output(id_: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": "x"}


@pytest.mark.parametrize(
    ("messages", "refused"),
    [
        ([user("a"), calls("1", "2"), output("2"), output("1")], None),
        ([calls("1"), output("1")], None),
        ([], "empty"),
        ([user("a"), calls("1")], "without a result"),
        ([user("a"), calls("1"), user("b"), output("1")], "without a result"),
        ([user("a"), output("1")], "without a call"),
        ([user("a"), {"role": "assistant", "content": None}], "says nothing"),
        ([{"role": "model", "content": "a"}], "role"),
    ],
)
def test_chat(messages: list[Any], refused: str | None) -> None:
    found = problems("openai.chat", {"messages": messages})
    assert (found == []) if refused is None else (refused in found[0])


CALL = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
OUT = {"type": "function_call_output", "call_id": "1", "output": "x"}
THOUGHT = {"type": "reasoning", "id": "rs", "summary": []}


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"input": "a"}, None),
        ({"input": [user("a"), THOUGHT, CALL, user("b"), OUT]}, None),
        ({"input": [OUT], "previous_response_id": "r"}, None),
        ({"input": [user("a"), CALL]}, "without its output"),
        ({"input": [user("a"), OUT]}, "without a call"),
        ({"input": [user("a"), THOUGHT, user("b")]}, "reasoning"),
        ({"input": []}, "empty"),
    ],
)
def test_responses(body: dict[str, Any], refused: str | None) -> None:
    found = problems("openai.responses", body)
    assert (found == []) if refused is None else (refused in found[0])


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def results(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def use(id_: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "f", "input": {}}


def got(id_: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": "x"}


TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("messages", "refused"),
    [
        ([user("a"), model(TEXT, use("1"), use("2")), results(got("2"), got("1"), TEXT)], None),
        ([user("a"), model(use("1"), use("2")), results(got("1")), results(got("2")), user("b")], None),
        ([user("a"), user("b"), model(TEXT)], None),
        ([model(TEXT), user("a")], "instead of user"),
        ([user("a"), model(use("1")), results(TEXT, got("1"))], "behind other content"),
        ([user("a"), model(use("1")), user("b")], "not the results"),
        ([user("a"), model(use("1")), model(TEXT), user("b")], "behind a call"),
        ([user("a"), results(got("1"))], "without a call"),
        ([user("a"), model(use("1"), use("1")), results(got("1"), got("1"))], "repeats"),
        ([user("a"), model({"type": "text", "text": " "}), user("b")], "empty text"),
        ([user("a"), model(), user("b")], "no content"),
        ([user("a"), results(use("1"))], "in a message of the user"),
        ([user("a"), model(use("1"))], "at the end"),
    ],
)
def test_anthropic(messages: list[Any], refused: str | None) -> None:
    found = problems("anthropic.messages", {"messages": messages})
    assert (found == []) if refused is None else any(refused in one for one in found)


def content(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


SAID = {"text": "a"}
FC = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}
FR = {"functionResponse": {"name": "f", "response": {}}}


@pytest.mark.parametrize(
    ("contents", "refused"),
    [
        ([content("user", SAID), content("model", FC, FC), content("user", FR, FR)], None),
        ([content("user", SAID), content("model", FC), content("model", FC), content("user", FR, FR)], None),
        ([content("user", SAID), content("model", FC), content("user", FR), content("user", SAID)], None),
        ([content("model", FC), content("user", FR)], "directly behind"),
        ([content("user", SAID), content("model", FC, FC), content("user", FR)], "function responses for"),
        ([content("user", FR)], "function responses for"),
        ([content("user", SAID), content("model", FC), content("user", SAID, FR)], "does not begin"),
        ([content("user", SAID), content("model", SAID)], "the model's"),
        ([content("user")], "no parts"),
        (
            [content("user", SAID), content("model", {"functionCall": {"name": "f"}}), content("user", FR)],
            "signature",
        ),
    ],
)
def test_gemini(contents: list[Any], refused: str | None) -> None:
    found = problems("gemini.generate_content", {"model": "gemini-3-pro", "contents": contents})
    assert (found == []) if refused is None else any(refused in one for one in found)


B_TEXT = {"text": "a"}
B_USE = {"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}
B_GOT = {"toolResult": {"toolUseId": "1", "content": []}}
POINT = {"cachePoint": {"type": "default"}}


@pytest.mark.parametrize(
    ("messages", "refused"),
    [
        ([results(B_TEXT, POINT), model(B_USE), results(B_GOT)], None),
        ([results(B_TEXT), results(B_TEXT)], "alternate"),
        ([model(B_TEXT), results(B_TEXT)], "start"),
        ([results(B_TEXT), model(B_TEXT)], "end with"),
        ([results(B_TEXT), model(B_USE), results(B_TEXT)], "lacks the results"),
        ([results(B_GOT)], "results for 0 calls"),
        ([results({"text": " "})], "blank"),
        ([results(POINT, B_TEXT)], "cache point"),
    ],
)
def test_bedrock(messages: list[Any], refused: str | None) -> None:
    found = problems("bedrock.converse", {"messages": messages})
    assert (found == []) if refused is None else any(refused in one for one in found)


def test_only_some_bedrock_models_take_results_and_words_together() -> None:
    body = {"messages": [results(B_TEXT), model(B_USE), results(B_GOT, B_TEXT)]}
    assert problems("bedrock.converse", body) == []
    assert problems("bedrock.converse", body, strict=True) == ["messages[2] has results and other content in one turn"]


def test_a_strict_provider_refuses_in_each_api_s_own_form() -> None:
    with ScriptedProvider(Text("ok"), strict=True) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        with pytest.raises(openai.BadRequestError, match="without a call"):
            client.chat.completions.create(model="m", messages=[user("a"), output("1")])  # type: ignore[list-item]
        with pytest.raises(openai.BadRequestError, match="without a call"):
            client.responses.create(model="m", input=[OUT])  # type: ignore[list-item]
        claude = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)
        with pytest.raises(anthropic.BadRequestError, match="instead of user"):
            claude.messages.create(model="m", max_tokens=9, messages=[model(TEXT)])  # type: ignore[list-item]
        google = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
        with pytest.raises(errors.ClientError, match="the model's"):
            google.models.generate_content(model="m", contents=[types.ModelContent(parts=[types.Part(text="a")])])
        keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
        bedrock: Any = boto3.client("bedrock-runtime", endpoint_url=provider.bedrock_url, **keys)
        with pytest.raises(bedrock.exceptions.ValidationException, match="alternate"):
            bedrock.converse(modelId="m", messages=[results(B_TEXT), results(B_TEXT)])
        assert len(provider.requests) == 5
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "a"}])
