"""The wrappers stand above the official ones, and everything is restored in whatever order it is turned off."""

from __future__ import annotations

import itertools
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
import wrapt
from acting_cases import Director, Hook, last_with_notice
from openai.resources.chat.completions import AsyncCompletions, Completions
from openai.resources.responses.responses import AsyncResponses, Responses
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
from opentelemetry.instrumentation.utils import unwrap

from otel_footprint.providers import acting
from otel_footprint.providers.acting_seam import Lid
from otel_footprint.testing.provider import ScriptedProvider, Text

METHODS = [
    *itertools.product((Completions, AsyncCompletions), ("create", "parse")),
    *itertools.product((Responses, AsyncResponses), ("create", "parse", "stream")),
    (BaseInstrumentor, "instrument"),
    (BaseInstrumentor, "uninstrument"),
]
ASK = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Go"}]


def state() -> list[Any]:
    return [vars(owner)[name] for owner, name in METHODS]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = state()
    yield
    acting.uninstall()
    if OpenAIInstrumentor().is_instrumented_by_opentelemetry:
        OpenAIInstrumentor().uninstrument()
    assert state() == before


class Parts:
    """The official instrumentation and ours, each to be turned on and off by a word."""

    def __init__(self) -> None:
        self.director = Director(window=last_with_notice)
        self.hook = Hook()

    def do(self, word: str) -> None:
        match word:
            case "+official":
                OpenAIInstrumentor().instrument(completion_hook=self.hook)
            case "-official":
                OpenAIInstrumentor().uninstrument()
            case "+ours":
                acting.install(self.director)
            case "-ours":
                acting.uninstall()

    def call(self) -> tuple[int, int]:
        """How many messages were sent of three, and how many calls the hook was told of."""
        told = len(self.hook.tokens)
        with ScriptedProvider(Text("ok")) as provider:
            client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
            client.chat.completions.create(model="m", messages=ASK)
            client.close()
        return len(provider.requests[0].json["messages"]), len(self.hook.tokens) - told


ORDERS = [
    ("+official", "+ours", "-official", "-ours"),
    ("+official", "+ours", "-ours", "-official"),
    ("+ours", "+official", "-official", "-ours"),
    ("+ours", "+official", "-ours", "-official"),
    ("+official", "+ours", "-official", "+official", "-ours", "+ours", "-official", "-ours"),
    ("+ours", "-ours", "+official", "+ours", "-ours", "+ours", "-official", "-ours"),
]


@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_each_is_on_when_it_is_on_and_everything_is_restored(order):
    parts = Parts()
    before = state()
    on = set()
    for word in order:
        parts.do(word)
        on = on | {word[1:]} if word[0] == "+" else on - {word[1:]}
        assert parts.call() == (2 if "ours" in on else 3, int("official" in on))
        if on == {"ours", "official"}:  # ours is above: the hook is told what was really sent, in our context
            assert parts.hook.tokens[-1] is parts.director.made[-1]
            assert len(parts.hook.inputs[-1]) == 2
    assert state() == before


def test_a_wrapper_of_others_above_ours_stays_and_works(caplog):
    parts = Parts()
    calls = []

    def other(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        calls.append(len(kwargs["messages"]))
        return wrapped(*args, **kwargs)

    parts.do("+official")
    parts.do("+ours")
    wrapt.wrap_function_wrapper(Completions, "create", other)
    assert parts.call() == (2, 1)
    parts.do("-ours")
    assert parts.call() == (3, 1)
    unwrap(Completions, "create")
    parts.do("-official")
    assert parts.call() == (3, 0)
    assert calls == [3, 3]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_others_taken_out_from_under_ours():
    parts = Parts()
    wrapt.wrap_function_wrapper(
        Completions, "create", lambda wrapped, _instance, args, kwargs: wrapped(*args, **kwargs)
    )
    parts.do("+ours")
    parts.do("-ours")
    unwrap(Completions, "create")


def test_instances_and_methods_made_before_and_kept_after():
    with ScriptedProvider([Text("ok")], repeat=True) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        assert client.chat.completions.create  # the resources exist
        acting.install(Director(window=last_with_notice))
        kept = [client.chat.completions.create, client.chat.completions.with_raw_response.create]
        for create in kept:
            create(model="m", messages=ASK)
        OpenAIInstrumentor().instrument(completion_hook=Hook())
        for create in kept:
            create(model="m", messages=ASK)
        OpenAIInstrumentor().uninstrument()
        acting.uninstall()
        for create in kept:
            create(model="m", messages=ASK)
        client.close()
    assert [len(request.json["messages"]) for request in provider.requests] == [2, 2, 2, 2, 3, 3]


def test_a_second_install_changes_the_director():
    first, second = Parts(), Parts()
    first.do("+ours")
    second.do("+ours")
    assert second.call() == (2, 0)
    assert (first.director.seen, len(second.director.made)) == ([], 1)


class Resource:
    def method(self) -> str:
        return "the method"


def lid_of(log: list[str]) -> Lid:
    def wrapper(wrapped: Callable[..., Any], instance: Any, args: Any, kwargs: Any) -> Any:
        log.append("ours")
        return wrapped(*args, **kwargs)

    return Lid(Resource, "method", wrapper)


def test_under_a_closure_it_works_once_and_does_not_pile_up():
    original = vars(Resource)["method"]
    log: list[str] = []
    lid = lid_of(log)
    lid.put_on()
    inner = Resource.method

    def closure(self: Resource) -> str:  # hides what it calls
        return inner(self)

    Resource.method = closure  # type: ignore[method-assign]
    for _ in range(3):
        lid.lift()
        lid.put_on()
    assert Resource().method() == "the method"
    assert log == ["ours"]
    lid.take_off()
    assert vars(Resource)["method"] is closure
    assert Resource().method() == "the method"
    assert log == ["ours"]
    Resource.method = original  # type: ignore[method-assign]


def test_under_a_closure_that_shows_what_it_wraps_it_stays_where_it_is():
    original = vars(Resource)["method"]
    log: list[str] = []
    lid = lid_of(log)
    lid.put_on()
    inner = Resource.method

    def closure(self: Resource) -> str:
        return inner(self)

    closure.__wrapped__ = inner  # type: ignore[attr-defined]
    Resource.method = closure  # type: ignore[method-assign]
    for _ in range(3):
        lid.lift()
        lid.put_on()
    assert vars(Resource)["method"] is closure
    assert Resource().method() == "the method"
    assert log == ["ours"]
    lid.take_off()
    assert Resource().method() == "the method"
    assert log == ["ours"]
    Resource.method = original  # type: ignore[method-assign]


def test_a_method_that_the_class_does_not_have_is_refused():
    with pytest.raises(KeyError):
        Lid(Resource, "other", lambda *_: None).put_on()


LATE = """
import sys
from acting_cases import Director, Hook, last_with_notice
from otel_footprint.genai.hook import FootprintHook
from otel_footprint.genai.instrumentation import turn_off, turn_on
from otel_footprint.providers import acting
from otel_footprint.testing.provider import ScriptedProvider, Text

told, director = [], Director(window=last_with_notice)
for step in sys.argv[1:]:
    if step == "ours":
        acting.install(director)
    else:
        turn_on(None, hook=FootprintHook(told.append))
assert not {"openai", "anthropic", "google.genai", "botocore"} & set(sys.modules)
import openai
with ScriptedProvider(Text("ok")) as provider:
    client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
    messages = [{"role": "user", "content": word} for word in "abc"]
    client.chat.completions.create(model="m", messages=messages)
assert len(provider.requests[0].json["messages"]) == 2
assert len(told[0].call.messages) == 2
turn_off()
acting.uninstall()
import wrapt
create = vars(openai.resources.chat.completions.Completions)["create"]
assert not isinstance(create, wrapt.ObjectProxy), create
"""


@pytest.mark.parametrize("order", [("ours", "official"), ("official", "ours")], ids="-".join)
def test_an_sdk_that_is_imported_afterwards(order):
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parents[2])])}
    done = subprocess.run(
        [sys.executable, "-c", LATE, *order], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
