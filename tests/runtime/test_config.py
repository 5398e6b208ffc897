"""Settings: arguments over environment over defaults, and errors that name the value and the fix."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import otel_footprint
from otel_footprint import runtime
from otel_footprint.config import PROVIDERS, Settings, misspelled, resolve, unread
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.token_budget import TokenBudget


def billing(provider: Any, model: Any) -> Any:
    """A strategy of the application's own that pays for calls."""
    return SimpleNamespace(name="mine", plan=print, billing=SimpleNamespace(provider=provider, model=model))


def test_defaults() -> None:
    assert resolve(environ={}) == Settings()


def test_empty_variables_are_unset() -> None:
    assert resolve(environ={"OTEL_FOOTPRINT_EVENTS": " ", "OTEL_FOOTPRINT_CONVERSATION_LIMIT": ""}) == Settings()


def test_environment_is_read() -> None:
    settings = resolve(
        environ={
            "OTEL_FOOTPRINT_INSTRUMENT": "openai, Google",
            "OTEL_FOOTPRINT_EVENTS": "BOTH",
            "OTEL_FOOTPRINT_CAPTURE_VALUES": "flagged",
            "OTEL_FOOTPRINT_CONVERSATION_LIMIT": "7",
            "OTEL_FOOTPRINT_CHECK": "always",
            "OTEL_FOOTPRINT_HOOKS": "upload",
            "OTEL_FOOTPRINT_HASH_KEY": "0123456789abcdef",
        }
    )
    assert settings.providers == ("openai", "google-genai")
    assert settings.events == "both"
    assert settings.capture_values == "flagged"
    assert settings.conversation_limit == 7
    assert settings.evidence.check == "always"
    assert settings.hooks == ("upload",)
    assert settings.hash_key == b"0123456789abcdef"


def test_argument_wins_over_environment() -> None:
    settings = resolve(
        events="span",
        providers=["anthropic"],
        evidence=Evidence(check="tools"),
        conversation_limit=3,
        environ={
            "OTEL_FOOTPRINT_EVENTS": "nonsense",
            "OTEL_FOOTPRINT_INSTRUMENT": "nonsense",
            "OTEL_FOOTPRINT_CHECK": "always",
            "OTEL_FOOTPRINT_CONVERSATION_LIMIT": "x",
        },
    )
    assert (settings.events, settings.providers, settings.conversation_limit) == ("span", ("anthropic",), 3)
    assert settings.evidence.check == "tools"


@pytest.mark.parametrize(
    ("arguments", "environ", "parts"),
    [
        ({"events": "spans"}, {}, ["events='spans'", "span, log, both"]),
        ({}, {"OTEL_FOOTPRINT_EVENTS": "x"}, ["OTEL_FOOTPRINT_EVENTS='x'", "span, log, both"]),
        ({"capture_values": "yes"}, {}, ["capture_values='yes'", "none, flagged, all"]),
        ({"conversation_limit": 0}, {}, ["conversation_limit=0", "from 1 to"]),
        ({"conversation_limit": True}, {}, ["conversation_limit=True"]),
        (
            {},
            {"OTEL_FOOTPRINT_CONVERSATION_LIMIT": "many"},
            ["OTEL_FOOTPRINT_CONVERSATION_LIMIT='many'", "whole number"],
        ),
        ({}, {"OTEL_FOOTPRINT_CONVERSATION_LIMIT": "-1"}, ["'-1'", "a whole number from 1 to 1,000,000"]),
        ({}, {"OTEL_FOOTPRINT_CONVERSATION_LIMIT": "0"}, ["=0", "a whole number from 1 to 1,000,000"]),
        ({"providers": ["openia"]}, {}, ["'openia'", *PROVIDERS]),
        ({"providers": "openai"}, {}, ["providers='openai'", "['openai']"]),
        ({}, {"OTEL_FOOTPRINT_INSTRUMENT": "cohere"}, ["OTEL_FOOTPRINT_INSTRUMENT", "'cohere'"]),
        ({"evidence": {"posture": "assist"}}, {}, ["evidence=", "Evidence("]),
        ({}, {"OTEL_FOOTPRINT_POSTURE": "strict"}, ["strict", "assist"]),
        ({"window": "sliding-window:12"}, {}, ["window='sliding-window:12'", "SlidingWindow(12)"]),
        ({"window": SlidingWindow}, {}, ["SlidingWindow", "an instance"]),
        ({"window": 12}, {}, ["window=12", "no name"]),
        ({"window": SimpleNamespace(name="mine")}, {}, ["no plan(input)"]),
        ({"window": SimpleNamespace(name="m\n", plan=print)}, {}, ["printable"]),
        ({"window": billing(None, "")}, {}, ["billing", "model ''"]),
        ({"window": billing("", "gpt-4o")}, {}, ["billing", "provider ''"]),
        ({"keep_last_tool_results": -1}, {}, ["keep_last_tool_results=-1", "from 0 to"]),
        ({"keep_last_tool_results": True}, {}, ["keep_last_tool_results=True", "0 or False"]),
        ({}, {"OTEL_FOOTPRINT_KEEP_LAST_TOOL_RESULTS": "some"}, ["OTEL_FOOTPRINT_KEEP_LAST_TOOL_RESULTS='some'", "2"]),
        *(
            ({}, {"OTEL_FOOTPRINT_WINDOW": word}, [f"OTEL_FOOTPRINT_WINDOW={word!r}", fix])
            for word, fix in (
                ("12", "sliding-window:12"),
                ("sliding-window", "sliding-window:12"),
                ("sliding-window:", "whole number"),
                ("sliding-window:0", "keep_recent_turns"),
                ("sliding-window:6:6", "sliding-window:12"),
                ("token-budget:many", "whole number"),
                ("token-budget:-5", "whole number"),
                ("token-budget:5:5:5", "token-budget:120000:6"),
                ("summarize-oldest:5", "in code"),
            )
        ),
        ({}, {"OTEL_FOOTPRINT_HASH_KEY": "short"}, ["OTEL_FOOTPRINT_HASH_KEY", "16 to 64"]),
    ],
)
def test_an_error_names_the_value_and_the_fix(
    arguments: dict[str, Any], environ: dict[str, str], parts: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(**arguments, environ=environ)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("word", "strategy"),
    [
        ("sliding-window:12", SlidingWindow(12)),
        (" Sliding-Window : 6 ", SlidingWindow(6)),
        ("token-budget:120000", TokenBudget(120_000)),
        ("token-budget:120000:4", TokenBudget(120_000, keep_recent_turns=4)),
    ],
)
def test_a_strategy_can_be_named_in_the_environment(word: str, strategy: Any) -> None:
    environ = {"OTEL_FOOTPRINT_WINDOW": word}
    settings = resolve(environ=environ)
    assert settings.window == strategy
    assert settings.acts
    assert settings.difference(resolve(environ=environ)) is None
    assert resolve(window=SlidingWindow(3), environ=environ).window == SlidingWindow(3)


@pytest.mark.parametrize(("word", "pins"), [("0", 0), ("off", 0), ("False", 0), ("5", 5)])
def test_pins_can_be_set_in_the_environment(word: str, pins: int) -> None:
    environ = {"OTEL_FOOTPRINT_KEEP_LAST_TOOL_RESULTS": word}
    assert resolve(environ=environ).keep_last_tool_results == pins
    assert resolve(keep_last_tool_results=False, environ=environ).keep_last_tool_results == 0
    assert resolve(environ={}).keep_last_tool_results == 2


@pytest.mark.parametrize("posture", ["guard", "rails"])
def test_a_posture_that_acts_can_be_named_in_the_environment(posture: str) -> None:
    settings = resolve(environ={"OTEL_FOOTPRINT_POSTURE": posture.upper()})
    assert (settings.evidence.posture, settings.acts) == (posture, True)
    assert not resolve(environ={}).acts


def test_any_object_of_that_shape_is_a_strategy() -> None:
    strategy = billing(None, "gpt-4o-mini")
    assert resolve(window=strategy, environ={}).window is strategy


def test_a_hash_key_is_never_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(environ={"OTEL_FOOTPRINT_HASH_KEY": "hush-hush"})
    assert "hush-hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OTEL_FOOTPRINT_CAPTUREVALUES", "OTEL_FOOTPRINT_CAPTURE_VALUES"),
        ("OTEL_FOOTPRINT_EVENT", "OTEL_FOOTPRINT_EVENTS"),
        ("OTEL_FOOTPRINT_PROVIDERS", "OTEL_FOOTPRINT_INSTRUMENT"),
    ],
)
def test_a_misspelled_variable_is_noticed(name: str, meant: str) -> None:
    assert misspelled({name: "x", meant: "y"}) == {name: meant}


def test_other_variables_are_nobodys_mistake() -> None:
    environ = dict.fromkeys(
        ("OTEL_FOOTPRINT_EVENTS", "OTEL_FOOTPRINT_RUN_FOLDER", "OTEL_FOOTPRINT_SOMETHING_ELSE", "OTEL_EVENTS", "PATH"),
        "",
    )
    assert misspelled(environ) == {}


def test_a_variable_that_an_argument_overrules_is_said() -> None:
    environ = {"OTEL_FOOTPRINT_POSTURE": "guard", "OTEL_FOOTPRINT_CHECK": "TOOLS"}
    assert unread(Evidence(exempt=("1234",)), environ) == ("OTEL_FOOTPRINT_POSTURE",)
    assert unread(Evidence(posture="guard"), environ) == ()
    assert unread(None, environ) == ()


@pytest.mark.parametrize("name", ["tracer", "meter", "logger"])
@pytest.mark.parametrize("given", ["otlp", 3, object(), Settings])
def test_what_is_no_provider_is_refused_by_name_before_anything_starts(name: str, given: Any) -> None:
    with pytest.raises(ConfigurationError, match=rf"instrument\({name}_provider=…\) is .*get_{name}\(\)"):
        otel_footprint.instrument(**{f"{name}_provider": given})
    assert runtime.current() is None
