"""Settings: arguments over environment over defaults, and errors that name the value and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from otel_footprint.config import PROVIDERS, Settings, misspelled, resolve
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.options import Evidence


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
        ({"providers": ["openia"]}, {}, ["'openia'", *PROVIDERS]),
        ({"providers": "openai"}, {}, ["providers='openai'", "['openai']"]),
        ({}, {"OTEL_FOOTPRINT_INSTRUMENT": "cohere"}, ["OTEL_FOOTPRINT_INSTRUMENT", "'cohere'"]),
        ({"evidence": {"posture": "assist"}}, {}, ["evidence=", "Evidence("]),
        ({}, {"OTEL_FOOTPRINT_POSTURE": "guard"}, ["'guard'", "assist"]),
        ({}, {"OTEL_FOOTPRINT_POSTURE": "strict"}, ["strict", "assist"]),
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
