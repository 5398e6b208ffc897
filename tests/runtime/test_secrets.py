"""What leaves the process: every exported byte is scanned for planted secrets, in each capture level."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import otel_footprint
from otel_footprint.cli.recording import record_to
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse
from tests.runtime.agents import OpenAIAgent, keep_last

SAID = "PERSON-441-secret"
ASKED = "ARGUMENT-442-secret"
READ = "RESULT-443-secret"
INVENTED = "INVENTED-444-secret"
HANDED_IN = "HANDEDIN-445-secret"
KEYED = "KEYED-446-secret"
PASSED_ON = "PASSEDON-447-secret"
WORDS = (
    "zebra-words-of-a-person",
    "ocelot-words-of-the-system",
    "walrus-words-of-a-result",
    "lemur-words-of-an-answer",
)


def every_byte(folder: Path, level: str, events: str) -> str:
    """Run an agent whose every text holds a secret, and give all that was exported."""
    out = folder / f"{level}-{events}.otlp.jsonl"
    recording = record_to(out)
    otel_footprint.instrument(
        tracer_provider=recording.tracer_provider,
        meter_provider=recording.meter_provider,
        logger_provider=recording.logger_provider,
        capture_values=level,
        events=events,
    )
    script = [
        ToolCalls(
            [
                ToolUse(
                    "get_order",
                    {
                        "query": ASKED,
                        "note": "badger-words-of-an-argument",
                        "person": SAID,
                        "by_key": {KEYED: PASSED_ON},
                        KEYED: SAID,
                    },
                )
            ]
        ),
        Text(f"{WORDS[3]}: you said {SAID}, I read {READ} and {HANDED_IN}, and I made up {INVENTED} and {ASKED}."),
        ToolCalls([ToolUse("get_order", {"query": ASKED})], text=f"{WORDS[3]} draft {INVENTED}"),
        Text(f"{WORDS[3]}: it was {READ}, invented {INVENTED}."),
        Error(500, f"{WORDS[3]} {INVENTED}"),
    ]
    results: dict[str, Any] = {
        "get_order": {"id": READ, "text": WORDS[2], "absent": {"af_absent": True, "looked_for": SAID}}
    }
    with (
        ScriptedProvider(script) as provider,
        otel_footprint.conversation("conversation-1", agent="agent-1") as current,
    ):
        current.evidence(f"{HANDED_IN} {WORDS[2]}", name="document-1")
        agent = OpenAIAgent(provider, results, keep_last(4))
        agent.client = agent.client.with_options(default_headers={"x-secret": SAID})
        agent.history.append({"role": "system", "content": WORDS[1]})
        agent.ask(f"{WORDS[0]} {SAID}")
        agent.results = {"get_order": {"id": "nothing"}}
        agent.ask(f"{WORDS[0]} and again?")
        with pytest.raises(Exception, match="500"):
            agent.ask(f"{WORDS[0]} once more")
    otel_footprint.uninstrument()
    recording.close()
    text = out.read_text()
    assert "agentfootprint.evidence.verdict" in text
    assert "agentfootprint.argument.value" in text
    return text


def without_errors(text: str) -> str:
    """Without the status message and exception that the official instrumentation puts on a failed call's span: the
    provider's own words, which are not ours to keep back."""
    lines = []
    for line in text.splitlines():
        data = json.loads(line)
        for resource in data.get("resourceSpans", ()):
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    span.pop("status", None)
                    span["events"] = [event for event in span.get("events", ()) if event["name"] != "exception"]
        lines.append(json.dumps(data))
    return "\n".join(lines)


@pytest.mark.parametrize("events", ["span", "log", "both"])
@pytest.mark.parametrize("level", ["none", "flagged", "all"])
def test_no_secret_leaves(tmp_path: Path, level: str, events: str) -> None:
    exported = without_errors(every_byte(tmp_path, level, events))
    for words in (*WORDS, "badger-words"):
        assert words not in exported, "message text leaves at no level"
    everything = {SAID, ASKED, READ, INVENTED, HANDED_IN, KEYED, PASSED_ON}
    found = {secret for secret in everything if secret.lower() in exported.lower()}
    expected: dict[str, set[str]] = {
        "none": set(),
        # Of arguments: what nothing accounted for when it was passed on, and where it stood.
        "flagged": {INVENTED, READ, ASKED, PASSED_ON, KEYED},
        "all": everything,
    }
    assert found == expected[level]


def test_nothing_is_left_as_a_plain_hash(tmp_path: Path) -> None:
    """Two processes hash the same content differently unless they are given one key: nobody can look a hash up."""
    hashes = []
    for run in ("a", "b"):
        folder = tmp_path / run
        folder.mkdir()
        text = every_byte(folder, "none", "span")
        hashes.append(
            {json.dumps(attribute) for attribute in _attributes(text, "agentfootprint.eviction.content_hash")}
        )
    assert hashes[0]
    assert hashes[0].isdisjoint(hashes[1])


def _attributes(text: str, key: str) -> list[Any]:
    found: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("key") == key:
                found.append(value["value"])
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for line in text.splitlines():
        walk(json.loads(line))
    return found
