"""Streams held back until they are judged: what is handed out is like the SDK's own, a failed answer is asked for again."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openai
import pytest
from acting_cases import Acting, last_with_notice
from hypothesis import given
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStream
from openai.lib.streaming.responses import ResponseStream

from otel_footprint.core.errors import UnsupportedValuesError
from otel_footprint.providers.acting_calls import Job, run
from otel_footprint.providers.held import Replay, Rest
from otel_footprint.providers.openai_chat_surface import OpenAIChat
from otel_footprint.providers.surface import Delivery
from otel_footprint.testing.provider import Error, Text, ToolCalls, ToolUse

ASK = [{"role": "user", "content": "Where is W-1042?"}]
LEFT = Text("W-1042 left today.")
WRONG = Text("It costs 12.50.")
CORRECTION = {"role": "user", "content": "[correction] say it again without the number"}


def costs(text: str) -> bool:
    return "12.50" in text


@pytest.fixture
def held(stage):
    stage.director.hold = True
    stage.director.wrong = costs
    return stage


def chunks(stream: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def test_a_held_stream_is_judged_before_it_is_handed_out(held):
    stream = held.plays(LEFT).chat.completions.create(model="m", messages=ASK, stream=True)
    assert held.director.seen == ["begin", "plan", "revision", "finish"]
    assert held.hook.tokens == held.director.made
    assert isinstance(stream, openai.Stream)
    assert stream.response.status_code == 200
    assert chunks(stream) == "W-1042 left today."
    assert list(stream) == []
    assert held.director.handed == [stream]


def test_it_gives_the_same_chunks_as_the_sdk(held):
    client = held.plays(LEFT, LEFT)
    stream = client.chat.completions.create(model="m", messages=ASK, stream=True)
    replayed = [chunk.model_dump(exclude={"id"}) for chunk in stream]
    held.director.hold = False
    own = [
        chunk.model_dump(exclude={"id"})
        for chunk in client.chat.completions.create(model="m", messages=ASK, stream=True)
    ]
    assert replayed == own


def test_a_failed_answer_is_asked_for_again_as_a_stream(held):
    client = held.plays(WRONG, LEFT)
    assert chunks(client.chat.completions.create(model="m", messages=ASK, stream=True)) == "W-1042 left today."
    assert held.sent == [ASK, [*ASK, {"role": "assistant", "content": "It costs 12.50."}, CORRECTION]]
    assert [request.json["stream"] for request in held.provider.requests] == [True, True]
    assert held.hook.tokens == held.director.made
    assert held.sink.open_spans == ()


def test_the_window_and_the_answer_of_one_call(held):
    held.director.window = last_with_notice
    client = held.plays(WRONG, LEFT)
    text = chunks(client.chat.completions.create(model="m", messages=[*ASK, *ASK], stream=True))
    assert text == "W-1042 left today."
    assert [len(history) for history in held.sent] == [2, 4]


def test_a_failed_revision_hands_the_first_stream_out(held):
    client = held.plays(WRONG, Error(500))
    assert chunks(client.chat.completions.create(model="m", messages=ASK, stream=True)) == "It costs 12.50."


def test_a_revision_that_breaks_hands_the_first_stream_out(held):
    client = held.plays(WRONG, Text("W-1042 left today.", break_after=2))
    assert chunks(client.chat.completions.create(model="m", messages=ASK, stream=True)) == "It costs 12.50."
    assert [type(error) for error in held.director.failures] == [openai.APIConnectionError]


def test_a_broken_stream_breaks_again_after_what_came(held):
    stream = held.plays(Text("W-1042 left today.", break_after=3)).chat.completions.create(
        model="m", messages=ASK, stream=True
    )
    came: list[Any] = []
    with pytest.raises(openai.APIConnectionError):
        came.extend(stream)
    assert came
    assert list(stream) == []
    assert "finish" not in held.director.seen
    assert len(held.director.failures) == 1


def test_a_refused_stream_is_not_handed_out(held):
    held.director.finish_error = UnsupportedValuesError(["12.50"])
    with pytest.raises(UnsupportedValuesError):
        held.plays(LEFT).chat.completions.create(model="m", messages=ASK, stream=True)
    assert chunks(held.director.handed[0]) == "W-1042 left today."


def test_it_is_a_context_manager_and_closes(held):
    client = held.plays(LEFT, LEFT)
    with client.chat.completions.create(model="m", messages=ASK, stream=True) as stream:
        assert next(stream)
    assert list(stream) == []
    stream = client.chat.completions.create(model="m", messages=ASK, stream=True)
    stream.close()
    assert list(stream) == []
    assert held.sink.open_spans == ()


def test_the_chat_helper_over_a_held_stream(held):
    client = held.plays(WRONG, LEFT)
    with client.chat.completions.stream(model="m", messages=ASK) as stream:
        assert isinstance(stream, ChatCompletionStream)
        kinds = [event.type for event in stream]
        assert stream.get_final_completion().choices[0].message.content == "W-1042 left today."
    assert kinds[0] == "chunk"
    assert kinds[-1] == "content.done"
    assert len(held.sent) == 2


def test_the_responses_helper_held(held):
    client = held.plays(WRONG, LEFT, LEFT, LEFT)
    with client.responses.stream(model="m", input=ASK) as stream:
        assert isinstance(stream, ResponseStream)
        assert len(held.sent) == 2
        events = list(stream)
        assert stream.get_final_response().output_text == "W-1042 left today."
    assert events[-1].type == "response.completed"
    assert held.director.seen.count("begin") == 1
    with client.responses.stream(model="m", input=ASK) as stream:
        assert stream.until_done().get_final_response().output_text == "W-1042 left today."
        assert list(stream) == []
    with client.responses.stream(model="m", input=ASK) as stream:
        assert next(stream).type == "response.created"
        assert stream.get_final_response().output_text == "W-1042 left today."
    assert held.sink.open_spans == ()


def test_responses_held(held):
    stream = held.plays(WRONG, LEFT).responses.create(model="m", input=ASK, stream=True)
    assert list(stream)[-1].response.output_text == "W-1042 left today."
    assert len(held.sent) == 2


def test_a_raw_response_parses_to_the_replay(held):
    raw = held.plays(WRONG, LEFT).chat.completions.with_raw_response.create(model="m", messages=ASK, stream=True)
    assert raw.headers["content-type"].startswith("text/event-stream")
    assert raw.parse() is raw.parse()
    assert chunks(raw.parse()) == "W-1042 left today."
    assert len(held.sent) == 2


def test_a_body_that_the_application_reads_itself_is_not_held(held):
    client = held.plays(WRONG)
    with client.chat.completions.with_streaming_response.create(model="m", messages=ASK, stream=True) as response:
        lines = list(response.iter_lines())
    assert sum(line.startswith("data:") for line in lines) > 3
    assert not held.director.deliveries[0].holdable
    assert held.director.seen == ["begin", "plan"]


def test_asynchronous_streams_held(held):
    async def work(client: Any) -> None:
        stream = await client.chat.completions.create(model="m", messages=ASK, stream=True)
        assert isinstance(stream, openai.AsyncStream)
        async with stream:
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
        assert text == "W-1042 left today."
        async with client.chat.completions.stream(model="m", messages=ASK) as helper:
            assert (await helper.get_final_completion()).choices[0].message.content == "W-1042 left today."
        async with client.responses.stream(model="m", input=ASK) as events:
            assert (await anext(events)).type == "response.created"
            assert (await events.get_final_response()).output_text == "W-1042 left today."
            assert [event async for event in events] == []
        raw = await client.chat.completions.with_raw_response.create(model="m", messages=ASK, stream=True)
        closed = raw.parse()
        await closed.close()
        assert [chunk async for chunk in closed] == []

    held.awaits(work, *[WRONG, LEFT] * 4)
    assert len(held.sent) == 8
    assert held.sink.open_spans == ()


def test_tool_calls_in_a_stream_are_handed_out_as_they_are(held):
    call = ToolCalls([ToolUse("price", {"value": "12.50"}, id="a"), ToolUse("where", {}, id="b")], text="One moment.")
    client = held.plays(call)
    held.director.wrong = lambda text: False
    stream = client.chat.completions.create(model="m", messages=ASK, stream=True)
    message = held.director.plains[0]["choices"][0]["message"]
    assert [(one["id"], one["function"]["name"]) for one in message["tool_calls"]] == [("a", "price"), ("b", "where")]
    assert message["content"] == "One moment."
    assert any(chunk.choices[0].delta.tool_calls for chunk in stream if chunk.choices)


def test_a_stream_s_error_is_raised_once():
    replay = Replay(iter([]), Rest([1], KeyError("x")))
    assert next(replay) == 1
    with pytest.raises(KeyError):
        next(replay)
    assert list(replay) == []


def test_a_task_cancelled_while_its_stream_is_held(held):
    async def work(client: Any) -> None:
        create = client.chat.completions.create(model="m", messages=ASK, stream=True)
        task = asyncio.create_task(create)
        while not held.provider.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task, create
        gc.collect()

    held.awaits(work, Text("W-1042 left today.", pieces=9, pace=0.5))
    assert [type(error) for error in held.director.failures] == [asyncio.CancelledError]
    assert "finish" not in held.director.seen
    assert held.sink.open_spans == ()


class Interrupting:
    """A stream during which somebody presses Ctrl-C."""

    def __iter__(self) -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt


def test_an_interrupt_is_no_answer(held):
    surface, director = OpenAIChat(), held.director
    line = Line(Interrupting())
    job = Job(line, surface, Delivery(streamed=True, holdable=True), {"messages": []})
    with pytest.raises(KeyboardInterrupt):
        run(job, Acting(director, surface, {"messages": []}))
    assert [type(error) for error in director.failures] == [KeyboardInterrupt]


@dataclass
class Line:
    """A method that gives this stream."""

    given: Any

    def call(self, kwargs: Any) -> Any:
        return self.given

    def answer(self, kwargs: Any, response: Any) -> Any:
        return response

    def stream(self, kwargs: Any, response: Any) -> Any:
        return response

    def with_stream(self, kwargs: Any, response: Any, stream: Any) -> Any:
        return stream


@given(st.lists(st.integers(), max_size=6), st.lists(st.sampled_from("nlfc"), max_size=8), st.booleans())
def test_a_replay_is_read_like_the_stream_it_stands_for(events, reads, breaks):
    """next, the rest as a list, a helper that waits for the end, close: in any order."""
    error = LookupError("broke") if breaks else None
    one, other = Replay(Own([], None), Rest(events, error)), Own(events, error)
    for read in reads:
        assert outcome(one, read) == outcome(other, read)


class Own:
    """An SDK's stream object in short: an iterator, a helper, a way to close it."""

    def __init__(self, events: list[int], error: Exception | None) -> None:
        self._left = list(events)
        self._error = error

    def __iter__(self) -> Own:
        return self

    def __next__(self) -> int:
        if self._left:
            return self._left.pop(0)
        error, self._error = self._error, None
        raise error or StopIteration

    def until_done(self) -> str:
        for _ in self:
            pass
        return "done"

    def close(self) -> None:
        self._left, self._error = [], None


def outcome(stream: Any, read: str) -> Any:
    try:
        match read:
            case "n":
                return next(stream, "end")
            case "l":
                return list(stream)
            case "f":
                return stream.until_done()
            case _:
                return stream.close()
    except LookupError as error:
        return str(error)
