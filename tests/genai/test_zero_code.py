"""``opentelemetry-instrument python agent.py``, unchanged: whichever instrumentor loads first, each answer is judged once."""

from __future__ import annotations

import pytest
from zero_code import put_first, run_agent

from otel_footprint.genai import preinstrument
from otel_footprint.genai.configurator import configurators
from otel_footprint.genai.hook import other_hooks
from otel_footprint.testing.provider import ScriptedProvider, Text

FIRST = {
    "ours": ("zz_first", "otel_footprint.entrypoints:FootprintInstrumentor"),
    "openai's": ("zz_first", "opentelemetry.instrumentation.genai.openai:OpenAIInstrumentor"),
    "as installed": None,
}


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


def test_exporters_that_nothing_sets_up_are_said(tmp_path, provider):
    if configurators():
        pytest.skip("a package that configures the SDK is installed")
    spans, stderr = run_agent(tmp_path, provider)
    assert spans == []
    assert "nothing is exported: no package that reads OTEL_TRACES_EXPORTER is installed; pip install" in stderr
    _, stderr = run_agent(tmp_path, provider, OTEL_TRACES_EXPORTER="none")
    assert "nothing is exported" not in stderr


def test_a_configurator_reads_them(tmp_path, provider):
    put_first(tmp_path, None)
    _, stderr = run_agent(tmp_path, provider)
    assert "nothing is exported" not in stderr


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
    assert other_hooks(None, environ={preinstrument.SELECTED: "selected by the user"}) == ()
    assert "no completion hook named 'selected by the user'" in caplog.text


def test_upload_runs_beside_ours_where_it_is_configured(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH", str(tmp_path))
    (hook,) = other_hooks(None)
    assert type(hook).__name__ == "UploadCompletionHook"
    hook.shutdown()


def test_a_setting_that_cannot_be_used_is_said_once_and_the_agent_runs(tmp_path, provider):
    _, stderr = run_agent(tmp_path, provider, OTEL_FOOTPRINT_EVENTS="loud")
    assert stderr.count("otel-footprint is off: OTEL_FOOTPRINT_EVENTS='loud' is not one of span, log, both") == 1
