"""Turning the official instrumentations on and off: what holds an SDK, who came first, what was there before."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
from types import ModuleType
from typing import Any

import anthropic
import openai
import pytest
import wrapt
from genai_watch import USER, anthropic_client, bedrock_client, gemini_client, openai_client
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

from otel_footprint.genai import instrumentation, sdks
from otel_footprint.genai.instrumentation import ANTHROPIC_SPANS, states, turn_off
from otel_footprint.testing.provider import ScriptedProvider, Text
from otel_footprint.testing.sink import Sink

HELLO = Text("hello")


def ask(provider: ScriptedProvider) -> None:
    openai_client(provider).chat.completions.create(model="m", messages=USER)


@pytest.fixture
def provider():
    with ScriptedProvider(HELLO, repeat=True) as provider:
        yield provider


@pytest.fixture(autouse=True)
def warn_anew(monkeypatch):
    monkeypatch.setattr(instrumentation, "_warned", set())


class Recorder:
    """Another completion hook."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.stopped = False

    def on_completion(self, **kwargs: Any) -> None:
        self.seen.append(kwargs)

    def shutdown(self) -> None:
        self.stopped = True


class Broken(Recorder):
    def on_completion(self, **kwargs: Any) -> None:
        raise RuntimeError("mine")


@pytest.mark.parametrize(
    ("version", "accepts", "expected"),
    [
        ("3.57.0", ">=1.26.0,<4", True),
        ("4.0.0", ">=1.26.0,<4", False),
        ("4.0.0b1", ">=1.26.0,<4", False),
        ("1.26", ">=1.26.0,<4", True),
        ("1.25.9", "<4,>=1.26.0", False),
        ("0.9", ">= 0.51.0, < 3", False),
        ("unknown", ">=1", True),
    ],
)
def test_fits(version, accepts, expected):
    assert sdks.fits(version, accepts) is expected


def test_the_pins_are_read_from_the_packages():
    pins = {sdk.name: sdks._pin(sdk) for sdk in sdks.SDKS if sdk.name != "langchain"}
    assert all(pin and "<" in pin for pin in pins.values()), pins


def test_states(watch):
    assert {state.name: state.on for state in watch.states} == {
        "openai": True,
        "anthropic": True,
        "google-genai": True,
        "bedrock": True,
        "langchain": False,
    }
    assert watch.state("openai").version == openai.__version__
    assert watch.state("langchain").why == "not installed"
    turn_off()
    assert states() == ()


def test_google_is_on_although_its_instrumentation_pins_an_older_sdk(watch):
    google = sdks.BY_NAME["google-genai"]
    assert not sdks.fits(watch.state("google-genai").version, sdks._pin(google))
    assert watch.state("google-genai").on


def test_only_what_is_named(make_watch, provider):
    watch = make_watch().on(["anthropic"])
    ask(provider)
    anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER)
    assert watch.only.call.provider == "anthropic"
    assert watch.state("openai").why == "not selected"


def test_a_version_that_does_not_fit_is_named_with_the_range(make_watch, monkeypatch, caplog):
    monkeypatch.setattr(instrumentation, "installed", lambda name: "9.1" if name == "openai" else sdks.installed(name))
    with caplog.at_level(logging.WARNING, "otel_footprint"):
        state = make_watch().on().state("openai")
    assert not state.on
    assert state.why == (
        "openai 9.1 is installed; opentelemetry-instrumentation-genai-openai 1.3b0 takes "
        + sdks._pin(sdks.BY_NAME["openai"])
    )
    assert len([record for record in caplog.records if "openai 9.1" in record.message]) == 1


class RivalInstrumentor(BaseInstrumentor):
    """Stands in for another instrumentation: it wraps the method that those wrap."""

    def instrumentation_dependencies(self) -> tuple[str, ...]:
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        wrapt.wrap_function_wrapper("openai.resources.chat.completions", "Completions.create", rival_wrapper)

    def _uninstrument(self, **kwargs: Any) -> None:
        create = openai.resources.chat.completions.Completions.create
        openai.resources.chat.completions.Completions.create = create.__wrapped__


def rival_wrapper(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)


RIVAL = "openinference.instrumentation.openai"


@pytest.fixture
def rival(monkeypatch):
    module = ModuleType(RIVAL)
    module.OpenAIInstrumentor = RivalInstrumentor
    monkeypatch.setitem(sys.modules, RIVAL, module)
    monkeypatch.setattr(rival_wrapper, "__module__", RIVAL + "._wrapper")
    instrumentor = RivalInstrumentor()
    yield instrumentor
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()


def test_one_that_is_named_and_not_there_is_said(make_watch, monkeypatch, caplog):
    monkeypatch.setattr(instrumentation, "installed", lambda name: None if name == "openai" else sdks.installed(name))
    monkeypatch.setattr(instrumentation, "_warned", set())
    make_watch().on(["openai"])
    assert "openai: asked for by name, but openai is not installed" in caplog.text


def test_what_another_instrumentation_holds_is_left_to_it_with_one_warning(make_watch, provider, rival, caplog):
    rival.instrument()
    watch = make_watch()
    with caplog.at_level(logging.WARNING, "otel_footprint"):
        watch.on()
        watch.on()
    state = watch.state("openai")
    assert (state.on, state.held_by, state.why) == (False, RIVAL, f"held by {RIVAL}")
    assert len([record for record in caplog.records if RIVAL in record.message]) == 1
    ask(provider)
    assert watch.calls == []
    assert watch.state("anthropic").on


def test_a_name_overrides_that(make_watch, provider, rival):
    rival.instrument()
    watch = make_watch().on(["openai"])
    ask(provider)
    assert watch.answers == ["hello"]
    assert states()[0].note == f"{RIVAL} is on too, so a call may have two spans"


def test_a_wrapper_alone_shows_who_holds_an_sdk(make_watch, rival, monkeypatch):
    rival.instrument()
    monkeypatch.setattr(rival, "_is_instrumented_by_opentelemetry", False)
    assert make_watch().on().state("openai").held_by == RIVAL
    monkeypatch.setattr(rival, "_is_instrumented_by_opentelemetry", True)


def test_any_other_wrapper_holds_nothing(make_watch, rival, monkeypatch):
    monkeypatch.setattr(rival_wrapper, "__module__", "retry_library.core")
    monkeypatch.delitem(sys.modules, RIVAL)
    rival.instrument()
    assert make_watch().on().state("openai").on


def test_an_official_one_that_is_on_without_a_hook_gets_ours_and_keeps_its_telemetry(make_watch, provider):
    theirs = Sink()
    OpenAIInstrumentor().instrument(tracer_provider=theirs.tracer_provider, meter_provider=theirs.meter_provider)
    try:
        watch = make_watch()
        instrumentation.turn_on(None, hook=watch.hook)
        ask(provider)
        assert watch.answers == ["hello"]
        assert len(theirs.chat_spans) == 1
        assert theirs.metrics("gen_ai.client.operation.duration")
        turn_off()
        ask(provider)
        assert len(theirs.chat_spans) == 2
        assert watch.answers == ["hello"]
    finally:
        OpenAIInstrumentor().uninstrument()
        theirs.close()


def test_its_hook_keeps_working_beside_ours_and_is_there_again_afterwards(make_watch, provider):
    other = Recorder()
    OpenAIInstrumentor().instrument(completion_hook=other)
    try:
        watch = make_watch().on()
        ask(provider)
        assert (len(watch.answers), len(other.seen)) == (1, 1)
        assert set(other.seen[0]) == {
            "inputs",
            "outputs",
            "system_instruction",
            "tool_definitions",
            "span",
            "log_record",
        }
        turn_off()
        ask(provider)
        assert (len(watch.answers), len(other.seen)) == (1, 2)
    finally:
        OpenAIInstrumentor().uninstrument()


def test_an_official_one_that_is_turned_on_later_by_others_calls_our_hook_and_theirs(make_watch, provider):
    watch = make_watch().on(["anthropic"])
    other = Recorder()
    OpenAIInstrumentor().instrument(completion_hook=other)
    try:
        ask(provider)
        assert (len(watch.answers), len(other.seen)) == (1, 1)
        assert next(state for state in states() if state.name == "openai").on
        turn_off()
        ask(provider)
        assert (len(watch.answers), len(other.seen)) == (1, 2)
    finally:
        OpenAIInstrumentor().uninstrument()


def test_a_start_after_a_stop_uses_the_new_hook_in_what_others_turned_on(make_watch, provider):
    first = make_watch().on(["anthropic"])
    OpenAIInstrumentor().instrument()
    try:
        turn_off()
        second = make_watch().on()
        ask(provider)
        assert (first.answers, second.answers) == ([], ["hello"])
    finally:
        turn_off()
        OpenAIInstrumentor().uninstrument()


def test_other_hooks_are_guarded_one_by_one(make_watch, provider):
    from otel_footprint import boundary

    broken, other = Broken(), Recorder()
    watch = make_watch(others=[broken, other]).on()
    before = boundary.fault_counts().get("hook.Broken", 0)
    ask(provider)
    assert (len(watch.answers), len(other.seen)) == (1, 1)
    assert boundary._counts.pop("hook.Broken") == before + 1
    watch.hook.shutdown()
    assert other.stopped


def test_anthropics_own_spans_are_off_for_clients_built_later(make_watch, provider, monkeypatch):
    monkeypatch.delenv(ANTHROPIC_SPANS, raising=False)
    early = anthropic_client(provider)
    watch = make_watch().on()
    assert os.environ[ANTHROPIC_SPANS] == "false"
    assert watch.state("anthropic").note.startswith("1 client was built before")
    late = anthropic_client(provider)
    assert early.open_telemetry["traces"]["enabled"]
    assert not late.open_telemetry["traces"]["enabled"]
    turn_off()
    assert ANTHROPIC_SPANS not in os.environ


def test_what_the_user_set_for_anthropic_stays(make_watch, monkeypatch):
    monkeypatch.setenv(ANTHROPIC_SPANS, "true")
    watch = make_watch().on()
    assert os.environ[ANTHROPIC_SPANS] == "true"
    turn_off()
    assert os.environ[ANTHROPIC_SPANS] == "true"
    assert watch.state("anthropic").note is None


def test_what_googles_sets_in_the_environment_is_taken_back(make_watch, monkeypatch):
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT", raising=False)
    make_watch().on()
    assert os.environ["OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT"] == "true"
    turn_off()
    assert "OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT" not in os.environ


def test_turning_on_and_off_many_times_leaves_the_sdk_as_it_was(make_watch, provider):
    methods = [
        (openai.resources.chat.completions.Completions, "create"),
        (openai.resources.responses.Responses, "create"),
        (anthropic.resources.messages.Messages, "create"),
        (anthropic.resources.messages.Messages, "stream"),
    ]
    before = [owner.__dict__[name] for owner, name in methods]
    watch = make_watch()
    for _ in range(3):
        watch.on()
        ask(provider)
        turn_off()
        assert [owner.__dict__[name] for owner, name in methods] == before
    assert len(watch.answers) == 3


def test_a_wrapper_that_came_after_ours_stays_and_ours_goes_from_under_it(make_watch, provider):
    seen: list[str] = []

    def theirs(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        seen.append(type(instance).__name__)
        return wrapped(*args, **kwargs)

    methods = {
        ("openai.resources.chat.completions", "Completions.create"): None,
        ("anthropic.resources.messages", "Messages.create"): None,
        ("google.genai.models", "Models.generate_content"): None,
        ("botocore.client", "BaseClient._make_api_call"): None,
    }
    before = {method: wrapt.resolve_path(*method)[2] for method in methods}
    watch = make_watch().on()
    for module, name in methods:
        wrapt.wrap_function_wrapper(module, name, theirs)
        wrapt.wrap_function_wrapper(module, name, theirs)
    google = gemini_client(provider)

    def ask_all() -> None:
        ask(provider)
        anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER)
        google.models.generate_content(model="g", contents="hi")
        bedrock_client(provider).converse(modelId="b", messages=[{"role": "user", "content": [{"text": "hi"}]}])

    try:
        ask_all()
        assert (len(seen), len(watch.answers), len(watch.sink.chat_spans)) == (8, 4, 4)
        turn_off()
        ask_all()
        assert (len(seen), len(watch.answers), len(watch.sink.chat_spans)) == (16, 4, 4)
        for method in methods:
            assert wrapt.resolve_path(*method)[2].__wrapped__.__wrapped__ == before[method]
    finally:
        for (module, name), original in before.items():
            owner, attribute, _ = wrapt.resolve_path(module, name)
            setattr(owner, attribute, original)


def test_turning_off_wakes_no_lazy_object_of_the_sdk(watch, provider):
    """The module ``openai`` has stand-ins for a client that is only built when one of them is asked for anything."""
    assert type(openai.chat).__name__ == "ChatProxy"
    built_before = openai._client
    turn_off()
    assert openai._client is built_before


def run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_sdk_and_no_instrumentation_is_imported_before_the_application_does():
    out = run(
        """
        import sys
        from otel_footprint.genai.hook import FootprintHook
        from otel_footprint.genai.instrumentation import states, turn_off, turn_on
        calls = []
        turn_on(None, hook=FootprintHook(calls.append))
        heavy = {"openai", "anthropic", "google.genai", "boto3", "botocore", "opentelemetry.util.genai.handler"}
        print(sorted(heavy & set(sys.modules)))
        print(all(state.pending for state in states() if state.on))
        import openai
        print(hasattr(openai.resources.chat.completions.Completions.create, "_self_wrapper"))
        print([(state.name, state.pending) for state in states()][:2])
        turn_off()
        import anthropic
        print(hasattr(anthropic.resources.messages.Messages.create, "_self_wrapper"))
        """
    )
    assert out.splitlines() == ["[]", "True", "True", "[('openai', False), ('anthropic', True)]", "False"]


def test_an_official_one_that_is_imported_first_by_the_application_is_left_to_it():
    out = run(
        """
        from otel_footprint.genai.hook import FootprintHook
        from otel_footprint.genai.instrumentation import states, turn_on
        from otel_footprint.testing.provider import ScriptedProvider, Text
        calls = []
        turn_on(None, hook=FootprintHook(calls.append))
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
        OpenAIInstrumentor().instrument()
        print(states()[0].on)
        import openai
        with ScriptedProvider(Text("x")) as provider:
            client = openai.OpenAI(base_url=provider.openai_url, api_key="x")
            client.chat.completions.create(model="m", messages=[])
        print(len(calls))
        """
    )
    assert out.splitlines() == ["True", "1"]
