"""OpenAI chat: the argument is offered to tools that can carry it, leaves what the application sees, and goes back whole."""

import copy
import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from otel_footprint.core.findings.offer import Offer, reserved_schema
from otel_footprint.core.findings.peeling import peel_text
from otel_footprint.providers.findings_form import EmissionMemory, Offering
from otel_footprint.providers.findings_openai_chat import OpenAIChatFindings

FORM = OpenAIChatFindings()
NOTHING = frozenset()
ARGUMENTS = '{"q": "a", "_findings": {"basis": "direct"}, "n": 1.50}'
SEEN = '{"q": "a", "n": 1.50}'


def tool(name="search", **more):
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}, **more},
    }


def offering(*texts, **tickets):
    return Offering(reserved_schema(Offer(("c1",))), texts, tickets)


def completion(arguments=ARGUMENTS, content=None):
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": arguments}}
    message = {"role": "assistant", "content": content, "tool_calls": [call] if arguments else None}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return ChatCompletion.model_validate(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )


def chunks(pieces, *, finish="tool_calls"):
    deltas = [
        {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "search", "arguments": ""}}]}
    ]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    ends = [None] * len(deltas) + [finish]
    for delta, end in zip([*deltas, {}], ends, strict=True):
        yield ChatCompletionChunk.model_validate(
            {
                "id": "x",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
            }
        )


def test_tools_are_decorated_in_a_copy_and_strict_ones_are_left_alone():
    kwargs = {
        "messages": [{"role": "developer", "content": "d"}, {"role": "user", "content": "u"}],
        "tools": [tool(), tool("exact", strict=True), {"type": "custom", "custom": {"name": "free"}}],
    }
    before = copy.deepcopy(kwargs)
    offered = FORM.offer(kwargs, offering("ours"))
    assert kwargs == before
    assert "_findings" in offered.kwargs["tools"][0]["function"]["parameters"]["properties"]
    assert offered.kwargs["tools"][1] is kwargs["tools"][1]
    assert offered.kwargs["tools"][2] is kwargs["tools"][2]
    assert offered.undecorated == (("exact", "strict"),)
    assert offered.kwargs["messages"] == [
        before["messages"][0],
        {"role": "developer", "content": "ours"},
        before["messages"][1],
    ]
    assert FORM.offer({"messages": []}, offering("ours")) is None


def test_a_result_set_aside_is_served_as_a_ticket():
    kwargs = {"messages": [{"role": "tool", "tool_call_id": "c1", "content": "long"}], "tools": [tool()]}
    assert FORM.offer(kwargs, offering(c1="{}")).kwargs["messages"] == [
        {"role": "tool", "tool_call_id": "c1", "content": "{}"}
    ]


def test_it_leaves_a_response_and_goes_back_into_the_history():
    memory = EmissionMemory()
    response = completion()
    FORM.take_out(response, memory, NOTHING)
    message = response.choices[0].message
    assert message.tool_calls[0].function.arguments == SEEN
    for history in ([message], [message.model_dump(exclude_unset=True)]):
        kwargs = {"messages": [{"role": "user", "content": "u"}, *history], "tools": []}
        before = copy.deepcopy(kwargs)
        back = FORM.put_back(kwargs, memory)
        assert kwargs == before
        assert back["messages"][0] is kwargs["messages"][0]
        assert back["messages"][1]["tool_calls"][0]["function"]["arguments"] == ARGUMENTS
    changed = message.model_dump(exclude_unset=True)
    changed["tool_calls"][0]["function"]["arguments"] = '{"q": "b"}'
    kwargs = {"messages": [changed]}
    assert FORM.put_back(kwargs, memory)["messages"][0] is changed


def test_a_json_answer_is_peeled_and_prose_is_not():
    memory = EmissionMemory()
    response = completion(None, '{"total": 1.50, "_findings": {"basis": "direct"}}')
    FORM.take_out(response, memory, NOTHING)
    assert response.choices[0].message.content == '{"total": 1.50}'
    back = FORM.put_back({"messages": [{"role": "assistant", "content": '{"total": 1.50}'}]}, memory)
    assert back["messages"][0]["content"] == '{"total": 1.50, "_findings": {"basis": "direct"}}'
    prose = completion(None, 'it says {"_findings": 1}')
    FORM.take_out(prose, memory, NOTHING)
    assert prose.choices[0].message.content == 'it says {"_findings": 1}'


def test_a_tool_that_owns_the_name_keeps_its_argument():
    response = completion()
    FORM.take_out(response, EmissionMemory(), frozenset({"search"}))
    assert response.choices[0].message.tool_calls[0].function.arguments == ARGUMENTS


@given(st.lists(st.integers(0, len(ARGUMENTS)), max_size=8))
def test_a_stream_gives_the_same_however_it_is_cut(cuts):
    places = [0, *sorted(cuts), len(ARGUMENTS)]
    pieces = [ARGUMENTS[a:b] for a, b in pairwise(places)]
    memory = EmissionMemory()
    peeler = FORM.peeler(memory, NOTHING)
    given_out = [event for chunk in chunks(pieces) for event in peeler.feed(chunk)] + list(peeler.close())
    calls = [call for event in given_out for call in event.choices[0].delta.tool_calls or []]
    assert "".join(call.function.arguments for call in calls) == SEEN
    assert memory.call("c1", "search", SEEN) == ARGUMENTS


@given(st.integers(0, len(ARGUMENTS)))
def test_a_stream_that_was_cut_short_hands_out_all_that_is_not_ours(end):
    text = ARGUMENTS[:end]
    peeler = FORM.peeler(EmissionMemory(), NOTHING)
    given_out = [event for chunk in chunks(list(text), finish="length") for event in peeler.feed(chunk)]
    calls = [call for event in given_out for call in event.choices[0].delta.tool_calls or []]
    assert "".join(call.function.arguments for call in calls) == peel_text(text)[0]


def test_the_memory_is_bounded():
    memory = EmissionMemory()
    for number in range(30):
        memory.keep_call(str(number), "t", "{}", "x" * 1_000_000)
    assert len(memory) < 20
    assert memory.call("29", "t", "{}") is not None
    assert json.loads(SEEN) == {"q": "a", "n": 1.5}
