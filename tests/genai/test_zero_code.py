"""``opentelemetry-instrument python agent.py``, unchanged: whichever instrumentor loads first, each answer is judged once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel_footprint.genai import preinstrument
from otel_footprint.genai.hook import other_hooks
from otel_footprint.testing.provider import ScriptedProvider, Text

AGENT = """
import os, openai, anthropic
client = openai.OpenAI(base_url=os.environ["PROVIDER"] + "/v1", api_key="x", max_retries=0)
print("answer:", client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]).choices[0].message.content)
client = anthropic.Anthropic(base_url=os.environ["PROVIDER"], api_key="x", max_retries=0)
print("answer:", client.messages.create(model="c", max_tokens=9, messages=[{"role": "user", "content": "hi"}]).content[0].text)
"""

FIRST = {
    "ours": ("zz_first", "otel_footprint.entrypoints:FootprintInstrumentor"),
    "openai's": ("zz_first", "opentelemetry.instrumentation.genai.openai:OpenAIInstrumentor"),
    "as installed": None,
}


def put_first(folder: Path, entry: tuple[str, str] | None) -> None:
    """A package whose entry points are found before all others, since its folder is first on the path.

    One of them configures the SDK from the environment, as the package opentelemetry-distro does.
    """
    points = "[opentelemetry_configurator]\nsdk = opentelemetry.sdk._configuration:_OTelSDKConfigurator\n"
    if entry is not None:
        points += f"[opentelemetry_instrumentor]\n{entry[0]} = {entry[1]}\n"
    info = folder / "first_of_all-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: first-of-all\nVersion: 1\n")
    (info / "entry_points.txt").write_text(points)


def run_agent(folder: Path, provider: ScriptedProvider, **env: str) -> tuple[list[dict], str]:
    """The spans that the agent's process exported to its console, and what it wrote to stderr."""
    script = folder / "agent.py"
    script.write_text(AGENT)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ANTHROPIC_"))}
    settings = {
        "PYTHONPATH": str(folder),
        "PROVIDER": provider.url,
        "OTEL_TRACES_EXPORTER": "console",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        **env,
    }
    command = Path(sys.executable).with_name("opentelemetry-instrument")
    done = subprocess.run(
        [str(command), sys.executable, str(script)],
        env={**clean, **settings},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("answer: hello W-1234") == 2, done.stdout + done.stderr
    return list(spans_in(done.stdout)), done.stderr


def spans_in(text: str) -> list[dict]:
    decoder, found, position = json.JSONDecoder(), [], text.find("{")
    while position != -1:
        try:
            span, position = decoder.raw_decode(text, position)
            found.append(span)
        except json.JSONDecodeError:
            position += 1
        position = text.find("{", position)
    return found


@pytest.fixture
def provider():
    with ScriptedProvider(Text("hello W-1234"), repeat=True) as provider:
        yield provider


@pytest.mark.parametrize("first", FIRST)
def test_each_answer_is_judged_once(tmp_path, provider, first):
    put_first(tmp_path, FIRST[first])
    spans, stderr = run_agent(tmp_path, provider)
    chats = [span for span in spans if span["attributes"].get("gen_ai.operation.name") == "chat"]
    assert sorted(span["name"] for span in chats) == ["chat c", "chat m"]
    for span in chats:
        assert span["attributes"]["agentfootprint.conversation.match"] == "new"
        checked = [event for event in span["events"] if event["name"] == "agentfootprint.agent.evidence_checked"]
        assert len(checked) == 1
    assert "internal error" not in stderr
    assert not [span for span in spans if span["name"].startswith("anthropic.")]


@pytest.mark.parametrize("first", FIRST)
def test_upload_keeps_working_beside_it(tmp_path, provider, first):
    pytest.importorskip("fsspec")
    put_first(tmp_path, FIRST[first])
    target = tmp_path / "uploaded"
    target.mkdir()
    spans, _ = run_agent(
        tmp_path,
        provider,
        OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK="upload",
        OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH=str(target),
    )
    assert len([span for span in spans if "agentfootprint.conversation.match" in span["attributes"]]) == 2
    assert len(list(target.glob("*_inputs*"))) >= 2


def test_our_hook_is_selected_and_the_selected_one_stays_beside_it():
    env: dict[str, str] = {}
    preinstrument.select_hook(env)
    assert env == {preinstrument.SELECTED: "footprint"}
    preinstrument.select_hook(env)
    assert env == {preinstrument.SELECTED: "footprint"}
    env = {preinstrument.SELECTED: "upload"}
    preinstrument.select_hook(env)
    assert env == {preinstrument.SELECTED: "footprint", preinstrument.OTHERS: "upload"}
    env = {preinstrument.SELECTED: "mine", preinstrument.OTHERS: "upload"}
    preinstrument.select_hook(env)
    assert env[preinstrument.OTHERS] == "upload,mine"


def test_other_hooks_are_those_named_or_configured(caplog):
    assert other_hooks(None, environ={}) == ()
    assert other_hooks(["footprint"], environ={}) == ()
    assert other_hooks(["no such hook"], environ={}) == ()
    assert "no completion hook named 'no such hook'" in caplog.text


def test_upload_runs_beside_ours_where_it_is_configured(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH", str(tmp_path))
    (hook,) = other_hooks(None)
    assert type(hook).__name__ == "UploadCompletionHook"
    hook.shutdown()
