"""Gemini's ``generate_content`` as a surface."""

from __future__ import annotations

from typing import Any

import pytest
from google import genai
from google.genai import _transformers, types

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.providers.gemini_surface import GeminiGenerateContent
from otel_footprint.testing.provider import ScriptedProvider, ToolCalls, ToolUse
from otel_footprint.testing.provider import Text as Says

SURFACE = GeminiGenerateContent()
NOTICE = Put(Message("user", (Text("[notice]"),), authored="notice"))


def said(text: str) -> types.Content:
    return types.UserContent(parts=[types.Part(text=text)])


def answered(text: str) -> types.Content:
    return types.ModelContent(parts=[types.Part(text=text, thought_signature=b"sig")])


def written(contents: Any, items: list[Item]) -> list[Any]:
    kwargs = {"model": "gemini-2.5-flash", "contents": contents}
    reading = SURFACE.read(kwargs)
    assert reading is not None
    found = SURFACE.write(kwargs, reading, items)["contents"]
    assert isinstance(found, list)
    return found


def read_by_the_model(contents: Any) -> list[tuple[str | None, list[str | None]]]:
    return [(c.role, [part.text for part in c.parts or ()]) for c in _transformers.t_contents(contents)]


def get_order(id: str) -> str:
    """Look an order up."""
    return "AB-48213"


@pytest.mark.parametrize("as_dict", [True, False])
def test_what_stands_beside_the_history(as_dict: bool) -> None:
    declared = {"function_declarations": [{"name": "search"}]}
    config: Any = {"system_instruction": "Be kind.", "tools": [get_order, declared, {"google_search": {}}]}
    if not as_dict:
        config = types.GenerateContentConfig(**config)
    reading = SURFACE.read({"model": "gemini-2.5-flash", "contents": "Hi", "config": config})
    assert reading is not None
    assert [message.text for message in reading.system] == ["Be kind."]
    assert reading.tools == ("get_order", "search", "google_search")
    assert (reading.model, reading.server_held, reading.source) == ("gemini-2.5-flash", False, ["Hi"])
    untouched = SURFACE.write({"contents": "Hi"}, reading, [Kept(0)])
    assert untouched == {"contents": "Hi"}


def test_a_content_that_stays_is_the_very_object() -> None:
    contents = [said("a"), answered("b"), said("c"), answered("d"), said("e")]
    found = written(contents, [NOTICE, Kept(3), Kept(4)])
    assert found[1] is contents[3]
    assert found[2] is contents[4]
    assert found[0] == {"role": "user", "parts": [{"text": "[notice]"}]}


def test_our_words_join_a_person_s_in_a_copy() -> None:
    first = said("a")
    contents = [first, answered("b"), said("c")]
    found = written(contents, [Kept(0), NOTICE, Kept(1), Kept(2)])
    assert read_by_the_model(found)[0] == ("user", ["a", "[notice]"])
    assert len(first.parts or ()) == 1
    assert found[1:] == contents[1:]


def test_our_words_never_join_function_responses() -> None:
    call = types.ModelContent(parts=[types.Part.from_function_call(name="f", args={})])
    response = types.UserContent(parts=[types.Part.from_function_response(name="f", response={"output": "x"})])
    found = written([said("a"), call, response], [Kept(0), Kept(1), Kept(2), NOTICE])
    assert found[2] is response
    assert len(found) == 4


def test_loose_parts_stay_apart_and_in_order() -> None:
    contents = ["a", {"role": "model", "parts": [{"text": "b"}]}, "c"]
    assert read_by_the_model(contents)[0] == ("model", ["b"])  # so does the SDK order them
    found = written(contents, [NOTICE, Kept(1)])
    assert read_by_the_model(found) == [("user", ["[notice]", "a", "c"])]
    pair = ["a", types.Part(text="b"), answered("c"), "d"]
    assert read_by_the_model(written(pair, [Kept(0), Kept(2)])) == [("user", ["a", "b", "d"])]
    picture = types.Part.from_bytes(data=b"x", mime_type="image/png")
    found = written(["a", picture, answered("b"), "c"], [Kept(0), NOTICE, Kept(1), Kept(2)])
    assert [len(parts) for _, parts in read_by_the_model(found)] == [3, 1, 1]


def test_a_content_with_some_of_its_responses_is_a_copy() -> None:
    parts = [types.Part.from_function_response(name="f", response={"output": text}) for text in "ab"]
    calls = types.ModelContent(parts=[types.Part.from_function_call(name="f", args={}) for _ in "ab"])
    both = types.UserContent(parts=parts)
    found = written([said("q"), calls, both], [Kept(0), Kept(1), Kept(2)])
    assert found[2]["parts"] == parts[:1]
    assert len(both.parts or ()) == 2


def test_what_cannot_be_read_is_left_alone() -> None:
    assert SURFACE.read({"model": "m"}) is None
    assert SURFACE.read({"model": "m", "contents": ("a",)}) is None


def respond(step: Any, *, stream: bool) -> Any:
    with ScriptedProvider(step) as provider:
        client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
        if stream:
            return list(client.models.generate_content_stream(model="m", contents="Hi"))
        return client.models.generate_content(model="m", contents="Hi")


def test_an_answer_goes_back_as_the_content_it_came_as() -> None:
    response = respond(Says("It is 12.50."), stream=False)
    draft = SURFACE.draft({}, response)
    assert draft is not None
    assert draft.native == (response.candidates[0].content,)
    assert draft.message == Message("assistant", (Text("It is 12.50."),))
    assert SURFACE.draft({}, response, choice=1) is None
    assert SURFACE.draft({}, types.GenerateContentResponse()) is None


def test_a_stream_amounts_to_the_same_answer() -> None:
    chunks = respond(Says("It is 12.50."), stream=True)
    merged = SURFACE.merge({}, chunks)
    draft = SURFACE.draft({}, merged)
    assert draft is not None
    assert draft.message == Message("assistant", (Text("It is 12.50."),))
    assert SURFACE.merge({}, chunks[:-1]) is None
    kwargs = {"model": "m", "contents": [said("a"), *draft.native, said("b")]}
    assert read_by_the_model(kwargs["contents"])[1][0] == "model"


def test_a_call_of_an_answer_tool_goes_back_as_text() -> None:
    draft = SURFACE.draft({}, respond(ToolCalls([ToolUse("answer", {"total": 12.5})]), stream=False))
    assert draft is not None
    assert draft.message.text == '{"total":12.5}'
    assert not draft.message.tool_calls


def test_contents_of_the_model_that_come_together_are_one_in_a_copy() -> None:
    call = types.ModelContent(parts=[types.Part.from_function_call(name="f", args={})])
    response = {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"output": "x"}}}]}
    contents = [said("a"), answered("b"), said("c"), call, response]
    found = written(contents, [Kept(0), Kept(1), Kept(3), Kept(4)])
    own = [*(contents[1].parts or ()), *(call.parts or ())]  # type: ignore[union-attr]
    assert [id(part) for part in found[1]["parts"]] == [id(part) for part in own]
    sent = _transformers.t_contents(found)
    assert [content.role for content in sent] == ["user", "model", "user"]
    assert (sent[1].parts or [])[0].thought_signature == b"sig"
