"""Calls of the OpenAI SDK with a director above them: what is sent, what is handed out, what the hook is told."""

from __future__ import annotations

import asyncio
import copy
import gc
import threading
from typing import Any

import openai
import pydantic
import pytest
from acting_cases import Acting, everything, last_with_notice
from opentelemetry import context as otel_context

from otel_footprint.core.errors import UnsupportedValuesError, WindowUnmeasurableError
from otel_footprint.testing.provider import Error, Text, ToolCalls, ToolUse

ASK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Where is W-1042?"},
]
SHORT = [ASK[0], {"role": "user", "content": "[notice] earlier messages left"}, ASK[3]]
LEFT = Text("W-1042 left today.")
WRONG = Text("It costs 12.50.")
CORRECTED = [
    *ASK,
    {"role": "assistant", "content": "It costs 12.50."},
    {"role": "user", "content": "[correction] say it again without the number"},
]


class Order(pydantic.BaseModel):
    id: str


def says_cost(text: str) -> bool:
    return "12.50" in text


def test_the_planned_window_is_sent_and_the_application_s_list_stays(stage):
    stage.director.window = last_with_notice
    client = stage.plays(LEFT)
    messages = copy.deepcopy(ASK)
    first = messages[0]
    answer = client.chat.completions.create(model="m", messages=messages, temperature=0)
    assert answer.choices[0].message.content == "W-1042 left today."
    assert stage.sent == [SHORT]
    assert messages == ASK
    assert messages[0] is first
    assert stage.director.seen == ["begin", "plan", "revision", "take_out", "finish"]
    assert stage.director.handed == [answer]
    assert stage.provider.requests[0].json["temperature"] == 0


def test_an_untouched_window_is_the_application_s_own_list(stage):
    client = stage.plays(LEFT)
    messages = copy.deepcopy(ASK)
    client.chat.completions.create(model="m", messages=messages)
    assert stage.director.made[0].kwargs["messages"] is messages


def test_the_hook_is_told_what_was_sent_and_finds_the_call_s_context(stage):
    stage.director.window = last_with_notice
    stage.plays(LEFT).chat.completions.create(model="m", messages=ASK)
    assert stage.hook.tokens == stage.director.made
    assert [message.parts[0].content for message in stage.hook.inputs[0]][-2:] == [
        "[notice] earlier messages left",
        "Where is W-1042?",
    ]
    assert len(stage.sink.chat_spans) == 1


SYNC = {
    "create": lambda c, **k: c.chat.completions.create(messages=ASK, **k).choices[0].message.content,
    "raw": lambda c, **k: (
        c.chat.completions.with_raw_response.create(messages=ASK, **k).parse().choices[0].message.content
    ),
    "streaming-response": lambda c, **k: (
        parsed(c.chat.completions.with_streaming_response.create(messages=ASK, **k)).choices[0].message.content
    ),
    "parse": lambda c, **k: c.chat.completions.parse(messages=ASK, **k).choices[0].message.content,
    "stream": lambda c, **k: text_of(c.chat.completions.create(messages=ASK, stream=True, **k)),
    "raw-stream": lambda c, **k: text_of(
        c.chat.completions.with_raw_response.create(messages=ASK, stream=True, **k).parse()
    ),
    "helper": lambda c, **k: final(c.chat.completions.stream(messages=ASK, **k)),
    "responses": lambda c, **k: c.responses.create(input=ASK, **k).output_text,
    "responses-raw": lambda c, **k: c.responses.with_raw_response.create(input=ASK, **k).parse().output_text,
    "responses-parse": lambda c, **k: c.responses.parse(input=ASK, **k).output_text,
    "responses-stream": lambda c, **k: last_text(c.responses.create(input=ASK, stream=True, **k)),
    "responses-helper": lambda c, **k: final_response(c.responses.stream(input=ASK, **k)),
}


def parsed(manager: Any) -> Any:
    with manager as response:
        return response.parse()


def text_of(stream: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def final(manager: Any) -> Any:
    with manager as stream:
        return stream.get_final_completion().choices[0].message.content


def last_text(stream: Any) -> Any:
    return [event for event in stream if event.type == "response.completed"][-1].response.output_text


def final_response(manager: Any) -> Any:
    with manager as stream:
        return stream.get_final_response().output_text


@pytest.mark.parametrize("way", SYNC)
def test_every_way_to_call_is_acted_on_once(stage, way):
    stage.director.window = last_with_notice
    assert SYNC[way](stage.plays(LEFT), model="m") == "W-1042 left today."
    assert stage.sent == [SHORT]
    assert stage.director.seen.count("begin") == 1
    assert stage.hook.tokens == stage.director.made
    streamed = ("stream" in way and way != "streaming-response") or "helper" in way
    assert stage.director.deliveries[0].streamed is streamed
    assert stage.director.seen == (
        ["begin", "plan"] if streamed else ["begin", "plan", "revision", "take_out", "finish"]
    )
    assert stage.sink.open_spans == ()


async def _stream(client: Any, **k: Any) -> str:
    stream = await client.chat.completions.create(messages=ASK, stream=True, **k)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def _create(client: Any, **k: Any) -> Any:
    return (await client.chat.completions.create(messages=ASK, **k)).choices[0].message.content


async def _raw(client: Any, **k: Any) -> Any:
    raw = await client.chat.completions.with_raw_response.create(messages=ASK, **k)
    return raw.parse().choices[0].message.content


async def _parse(client: Any, **k: Any) -> Any:
    return (await client.chat.completions.parse(messages=ASK, **k)).choices[0].message.content


async def _helper(client: Any, **k: Any) -> Any:
    async with client.chat.completions.stream(messages=ASK, **k) as stream:
        return (await stream.get_final_completion()).choices[0].message.content


async def _responses(client: Any, **k: Any) -> Any:
    return (await client.responses.create(input=ASK, **k)).output_text


async def _responses_helper(client: Any, **k: Any) -> Any:
    async with client.responses.stream(input=ASK, **k) as stream:
        return (await stream.get_final_response()).output_text


ASYNC = {
    "create": _create,
    "raw": _raw,
    "parse": _parse,
    "stream": _stream,
    "helper": _helper,
    "responses": _responses,
    "responses-helper": _responses_helper,
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("way", ASYNC)
def test_every_way_of_an_asynchronous_client_is_acted_on_once(stage, way):
    stage.director.window = last_with_notice
    assert stage.awaits(lambda client: ASYNC[way](client, model="m"), LEFT) == "W-1042 left today."
    assert stage.sent == [SHORT]
    assert stage.director.seen.count("begin") == 1
    assert stage.hook.tokens == stage.director.made
    assert stage.director.deliveries[0].asynchronous
    assert stage.sink.open_spans == ()


@pytest.mark.parametrize("way", ["create", "raw", "streaming-response", "parse"])
def test_an_answer_is_asked_for_again_with_the_failed_one_and_the_correction(stage, way):
    stage.director.wrong = says_cost
    assert SYNC[way](stage.plays(WRONG, LEFT), model="m") == "W-1042 left today."
    assert stage.sent == [ASK, CORRECTED]
    assert stage.hook.tokens == stage.director.made
    assert stage.director.seen == ["begin", "plan", "revision", "plan", "revision", "take_out", "finish"]
    assert len(stage.director.handed) == 1


def test_a_revision_on_responses_puts_the_output_items_back(stage):
    stage.director.wrong = says_cost
    client = stage.plays(WRONG, LEFT)
    assert client.responses.create(model="m", input="Where is W-1042?").output_text == "W-1042 left today."
    first, second = stage.sent
    assert first == "Where is W-1042?"
    assert second[0] == {"role": "user", "content": "Where is W-1042?"}
    assert second[1]["type"] == "message"
    assert second[1]["content"][0]["text"] == "It costs 12.50."
    assert second[2] == CORRECTED[-1]


def test_a_revision_of_an_asynchronous_client(stage):
    stage.director.wrong = says_cost
    assert stage.awaits(lambda client: _create(client, model="m"), WRONG, LEFT) == "W-1042 left today."
    assert stage.sent == [ASK, CORRECTED]


def test_a_revision_that_fails_hands_the_first_answer_out(stage):
    stage.director.wrong = says_cost
    answer = stage.plays(WRONG, Error(500)).chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content == "It costs 12.50."
    assert [type(error) for error in stage.director.failures] == [openai.InternalServerError]
    assert stage.director.handed == [answer]


def test_a_director_that_never_tires_is_stopped(stage):
    stage.director.wrong = says_cost
    again = Acting.revision

    def revision(self: Acting, response: Any) -> Acting | None:
        self.revises = False
        return again(self, response)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Acting, "revision", revision)
        answer = stage.plays(*[WRONG] * 9).chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content == "It costs 12.50."
    assert len(stage.sent) == 5


def test_the_application_s_exceptions_pass_and_are_told(stage):
    client = stage.plays(Error(429))
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="m", messages=ASK)
    assert stage.director.failures == [caught.value]
    assert stage.director.seen == ["begin", "plan", "failed"]


def test_a_refused_answer_reaches_the_application(stage):
    stage.director.finish_error = UnsupportedValuesError(["12.50"])
    with pytest.raises(UnsupportedValuesError) as caught:
        stage.plays(WRONG).chat.completions.create(model="m", messages=ASK)
    assert caught.value is stage.director.finish_error


def test_an_unmeasurable_window_reaches_the_application(stage):
    stage.director.plan_error = WindowUnmeasurableError("token-budget", "openai")
    with pytest.raises(WindowUnmeasurableError):
        stage.plays(LEFT).chat.completions.create(model="m", messages=ASK)
    assert stage.sent == []
    with pytest.raises(WindowUnmeasurableError):
        stage.awaits(lambda client: _create(client, model="m"), LEFT)


@pytest.mark.parametrize("place", ["acts", "begin", "plan", "revision", "finish"])
@pytest.mark.parametrize("way", ["create", "stream", "responses-helper"])
def test_a_fault_of_ours_lets_the_call_go_on(stage, place, way):
    stage.director.broken_at = place
    assert SYNC[way](stage.plays(LEFT), model="m") == "W-1042 left today."
    assert stage.sent == [ASK]


def test_a_fault_of_ours_while_an_error_is_told_leaves_the_error(stage):
    stage.director.broken_at = "failed"
    with pytest.raises(openai.InternalServerError):
        stage.plays(Error(500)).chat.completions.create(model="m", messages=ASK)


@pytest.mark.parametrize("way", SYNC)
def test_what_is_not_taken_up_goes_straight_through(stage, way):
    stage.director.takes_up = False
    assert SYNC[way](stage.plays(LEFT), model="m") == "W-1042 left today."
    assert stage.sent == [ASK]


def test_where_nothing_acts_nobody_is_asked(stage):
    stage.director.acting = False
    SYNC["create"](stage.plays(LEFT), model="m")
    assert stage.director.seen == []


def test_a_history_that_can_be_read_once_is_read_once(stage):
    stage.director.window = last_with_notice
    client = stage.plays(LEFT, LEFT, LEFT)
    client.chat.completions.create(model="m", messages=(message for message in ASK))
    client.responses.create(model="m", input=iter(ASK))
    stage.director.takes_up = False
    client.chat.completions.create(model="m", messages=(message for message in ASK))
    assert stage.sent == [SHORT, SHORT, ASK]


def test_an_exception_of_the_application_s_own_generator_passes(stage):
    def history() -> Any:
        yield ASK[0]
        raise LookupError("the application's own")

    with pytest.raises(LookupError):
        stage.plays(LEFT).chat.completions.create(model="m", messages=history())


def test_what_the_sdk_refuses_it_refuses_as_ever(stage):
    client = stage.plays(LEFT)
    for wrong in ({}, {"model": "m"}, {"model": "m", "messages": ASK, "nonsense": 1}):
        with pytest.raises(TypeError):
            client.chat.completions.create(**wrong)
    with pytest.raises(TypeError):
        client.chat.completions.create(ASK)
    assert stage.sent == []


def test_a_context_attached_for_a_call_is_there_for_it_alone(stage):
    client = stage.plays(LEFT, LEFT)
    seen = []
    client._client.event_hooks["request"].append(lambda request: seen.append(stage.director.made[-1]))
    before = otel_context.get_current()
    stream = client.chat.completions.create(model="m", messages=ASK, stream=True)
    assert otel_context.get_current() == before
    next(iter(stream))
    assert otel_context.get_current() == before
    stream.close()
    assert otel_context.get_current() == before
    assert stage.hook.tokens == stage.director.made == seen


def test_an_abandoned_stream_leaves_nothing_behind(stage):
    stream = stage.plays(LEFT).chat.completions.create(model="m", messages=ASK, stream=True)
    for _ in stream:
        break
    del stream
    assert stage.hook.tokens == stage.director.made
    assert stage.sink.open_spans == ()


def test_threads_do_not_mix(stage):
    client = stage.plays(*[LEFT] * 8)
    threads = [threading.Thread(target=SYNC["create"], args=(client,), kwargs={"model": str(n)}) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stage.hook.tokens) == 8
    assert set(map(id, stage.hook.tokens)) == set(map(id, stage.director.made))


def test_tasks_do_not_mix(stage):
    async def many(client: Any) -> Any:
        return await asyncio.gather(*(_create(client, model=str(n)) for n in range(8)))

    stage.awaits(many, *[LEFT] * 8)
    assert set(map(id, stage.hook.tokens)) == set(map(id, stage.director.made))


def test_a_cancelled_task_is_cancelled(stage):
    async def cancelled(client: Any) -> None:
        task = asyncio.create_task(_create(client, model="m"))
        while not stage.provider.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    stage.awaits(cancelled, Text("never", delay=5))
    assert [type(error) for error in stage.director.failures] == [asyncio.CancelledError]
    assert stage.sink.open_spans == ()


def test_a_manager_that_is_never_entered_is_no_call(stage):
    client = stage.plays(LEFT)
    client.responses.stream(model="m", input=ASK)
    client.chat.completions.stream(model="m", messages=ASK)
    assert stage.director.seen == []
    assert stage.sent == []


def test_a_coroutine_that_is_never_awaited_is_no_call(stage):
    async def nothing(client: Any) -> None:
        client.chat.completions.create(model="m", messages=ASK).close()

    stage.awaits(nothing, LEFT)
    assert stage.director.seen == []


def test_a_tool_call_is_handed_out(stage):
    call = ToolCalls([ToolUse("get_order", {"id": "W-1042"}, id="call-a")])
    answer = stage.plays(call).chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.tool_calls[0].function.name == "get_order"
    assert stage.director.plains == [answer]


def test_the_window_of_a_parsed_call_is_planned(stage):
    stage.director.window = everything
    answer = stage.plays(Text('{"id": "W-1042"}')).chat.completions.parse(
        model="m", messages=ASK, response_format=Order
    )
    assert answer.choices[0].message.parsed == Order(id="W-1042")


def test_reading_on_in_a_response_is_no_call_of_a_model(stage):
    client = stage.plays(LEFT)
    client.responses.stream(response_id="resp_1")
    client.responses.stream(model="m", input="x", response_id=openai.omit)
    assert stage.director.seen == []


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_manager_whose_plan_raises_leaves_nothing_behind(stage):
    stage.director.plan_error = WindowUnmeasurableError("token-budget", "openai")

    async def work(client: Any) -> None:
        manager = client.responses.stream(model="m", input=ASK)
        with pytest.raises(WindowUnmeasurableError):
            await manager.__aenter__()
        await manager.__aexit__(None, None, None)
        del manager
        gc.collect()

    stage.awaits(work, LEFT)
    assert stage.sent == []
