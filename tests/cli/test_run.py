"""``otel-footprint run``: the command stays as it is, and what it did is on file."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.cli.child import beside, counts_something
from otel_footprint.cli.exported import Exported, exported
from otel_footprint.cli.run import child_environment, export_settings
from otel_footprint.report.otlp import Trace, read_files
from otel_footprint.telemetry import names
from otel_footprint.testing.provider import ScriptedProvider

if TYPE_CHECKING:
    from conftest import Cli

PYTHON = sys.executable


def trace_of(path: Path) -> Trace:
    trace = read_files([path])
    assert trace.problems == ()
    return trace


def calls(path: Path) -> int:
    return sum(names.WINDOW_DECISION in span.attributes for span in trace_of(path).spans)


def test_an_unchanged_agent_is_observed(cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path) -> None:
    ended = cli("run", PYTHON, agent, PROVIDER_URL=provider.openai_url)
    assert (ended.code, ended.out) == (0, "It is AB-48213, not XY-99999.\n")
    out = tmp_path / "footprint.otlp.jsonl"
    answer = next(span for span in trace_of(out).spans if names.EVIDENCE_VERDICT in span.attributes)
    assert answer.attributes[names.EVIDENCE_VERDICT] == "ungrounded"
    assert ended.err.splitlines() == [
        "otel-footprint: 2 model calls, 1 answer: 1 ungrounded",
        "otel-footprint: 2 values: 1 read, 1 unsupported; 0 messages left a window",
        f"otel-footprint: worst answer: span {answer.trace_id}/{answer.span_id} ungrounded (1 read, 1 unsupported)",
        "otel-footprint: to record which values are flagged, set OTEL_FOOTPRINT_CAPTURE_VALUES=flagged",
        f"otel-footprint: written to {out}",
        f"otel-footprint: to look at it: otel-footprint trace {answer.trace_id} --file footprint.otlp.jsonl",
    ]
    shown = cli(*ended.err.splitlines()[-1].split("otel-footprint ")[-1].split())
    assert shown.code == 0
    assert "ungrounded" in shown.out
    written = out.read_text()
    kinds = {key for line in written.splitlines() for key in json.loads(line)}
    assert kinds == {"resourceSpans", "resourceLogs", "resourceMetrics"}
    for secret in ("SECRET-QUESTION-1", "AB-48213", "XY-99999"):
        assert secret not in written + ended.err
    assert list(tmp_path.glob("*.jsonl")) == [out]


def test_the_recorded_verdicts_are_checked(cli: Cli, agent: Path, provider: ScriptedProvider) -> None:
    cli("run", PYTHON, agent, PROVIDER_URL=provider.openai_url)
    ended = cli("check", "--json", "footprint.otlp.jsonl")
    assert ended.code == 1
    (file,) = json.loads(ended.out)["files"]
    assert file["source"] == "recorded"
    (answer,) = file["conversations"][0]["answers"]
    assert (answer["verdict"], answer["message_index"]) == ("ungrounded", None)
    assert [(value["value"], value["status"], value["flagged"]) for value in answer["values"]] == [
        (None, "read", False),
        (None, "unsupported", True),
    ]


@pytest.mark.parametrize("mode", ["SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT"])
def test_captured_messages_are_judged_again(cli: Cli, agent: Path, provider: ScriptedProvider, mode: str) -> None:
    capture = {
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": mode,
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    }
    cli("run", PYTHON, agent, PROVIDER_URL=provider.openai_url, **capture)
    (file,) = json.loads(cli("check", "--json", "footprint.otlp.jsonl").out)["files"]
    assert file["source"] == "messages"
    (conversation,) = file["conversations"]
    (answer,) = conversation["answers"]
    assert (answer["verdict"], answer["message_index"]) == ("ungrounded", 3)
    assert [(value["value"], value["status"], value["carriers"]) for value in answer["values"]] == [
        ("AB-48213", "read", [{"message_index": 2, "tool_call_id": "call_1"}]),
        ("XY-99999", "unsupported", []),
    ]


def test_the_file_is_written_anew_or_kept(cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path) -> None:
    out = tmp_path / "t.otlp.jsonl"
    for _ in range(2):
        cli("run", "--out", out, "--", PYTHON, agent, PROVIDER_URL=provider.openai_url)
        assert calls(out) == 2
    ended = cli("run", "--out", out, "--append", PYTHON, agent, PROVIDER_URL=provider.openai_url)
    assert calls(out) == 4
    assert "2 model calls, 1 answer" in ended.err


def test_each_child_process_has_a_file_of_its_own(
    cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, {str(agent)!r}])\n" + agent.read_text())
    ended = cli("run", PYTHON, parent, PROVIDER_URL=provider.openai_url)
    (child,) = tmp_path.glob("footprint.*.otlp.jsonl")
    assert (calls(tmp_path / "footprint.otlp.jsonl"), calls(child)) == (2, 2)
    assert "4 model calls, 2 answers: 2 ungrounded" in ended.err
    assert str(child) in ended.err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_file_of_its_own(
    cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    forking = tmp_path / "forking.py"
    source = agent.read_text()
    body = "\n".join(f"    {line}" for line in source.splitlines())
    forking.write_text(
        f"import os\ndef work():\n{body}\nwork()\nif os.fork() == 0:\n    work()\n    os._exit(0)\nos.wait()\n"
    )
    ended = cli("run", PYTHON, forking, PROVIDER_URL=provider.openai_url)
    (child,) = tmp_path.glob("footprint.*.otlp.jsonl")
    assert (calls(tmp_path / "footprint.otlp.jsonl"), calls(child)) == (2, 2)
    assert "4 model calls" in ended.err


def test_every_way_to_start_python(cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(agent.read_text())
    script = tmp_path / "console-script"
    script.write_text(f"#!{PYTHON}\n{agent.read_text()}")
    script.chmod(0o755)
    commands: list[list[object]] = [[PYTHON, "-m", "package"], [script], ["sh", "-c", f"true; '{PYTHON}' {agent}"]]
    for command in commands:
        ended = cli("run", *command, PROVIDER_URL=provider.openai_url)
        assert (ended.code, ended.out) == (0, "It is AB-48213, not XY-99999.\n")
        assert calls(tmp_path / "footprint.otlp.jsonl") == 2


def test_standard_streams_and_exit_codes_pass_through(cli: Cli) -> None:
    code = "import sys; print(sys.stdin.read().upper(), end=''); print('e', file=sys.stderr); sys.exit(7)"
    ended = cli("run", PYTHON, "-c", code, stdin=b"hello")
    assert (ended.code, ended.out) == (7, "HELLO")
    assert ended.err.startswith("e\n")
    assert cli("run", "true").code == 0
    assert cli("run", "sh", "-c", "kill -9 $$").code == -9


def test_the_application_finds_the_same_python(cli: Cli, tmp_path: Path) -> None:
    code = "import sys, json; print(json.dumps([sys.path, sys.argv, sys.flags.isolated]))"
    site = tmp_path / "extra"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = True\n")
    plain = subprocess.run(
        [PYTHON, "-c", code, "a"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site)}
    )
    ended = cli("run", PYTHON, "-c", code, "a", PYTHONPATH=str(site))
    assert json.loads(ended.out) == json.loads(plain.stdout)
    assert cli("run", PYTHON, "-c", "print(customized)", PYTHONPATH=str(site)).out == "True\n"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["no-such-command"], 127, "no-such-command: command not found"),
        (["./folder"], 127, "./folder: command not found"),
        (["--out", "no/such/folder/x", "true"], 2, "No such file or directory"),
        (["--", "--"], 127, "--: command not found"),
        (["--out"], 2, "argument --out: expected one argument"),
    ],
)
def test_what_cannot_run_is_one_line(cli: Cli, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    (tmp_path / "folder").mkdir()
    ended = cli("run", *arguments)
    assert ended.code == code
    assert says in ended.err.splitlines()[0]


def test_a_mistyped_command_leaves_the_file_of_an_earlier_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "footprint.otlp.jsonl").write_text("{}\n")
    (tmp_path / "agent.py").write_text("")
    ended = cli("run", "pyton", "agent.py")
    assert (ended.code, ended.err) == (127, "otel-footprint run: pyton: command not found\n")
    ended = cli("run", "agent.py", "--fast")
    says = "agent.py: command not found; write for example: otel-footprint run python agent.py --fast"
    assert (ended.code, ended.err) == (127, f"otel-footprint run: {says}\n")
    assert (tmp_path / "footprint.otlp.jsonl").read_text() == "{}\n"


def test_a_command_that_removes_the_file_keeps_its_exit_code(cli: Cli, tmp_path: Path) -> None:
    ended = cli("run", "sh", "-c", "rm *.jsonl; exit 5")
    assert ended.code == 5
    assert f"{tmp_path / 'footprint.otlp.jsonl'} is gone" in ended.err


def test_settings_that_cannot_be_used_stop_it_before_the_command_runs(cli: Cli, tmp_path: Path) -> None:
    ended = cli("run", "echo", "ran", OTEL_FOOTPRINT_EVENTS="loud")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "otel-footprint run: OTEL_FOOTPRINT_EVENTS='loud' is not one of span, log, both\n"
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("sent", "program", "code", "out"),
    [
        (signal.SIGTERM, "pass", -signal.SIGTERM, ""),
        (signal.SIGTERM, "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))", 9, ""),
        (signal.SIGINT, "pass", -signal.SIGINT, ""),
        (
            signal.SIGINT,
            "signal.signal(signal.SIGINT, lambda *_: (print('caught', flush=True), sys.exit(5)))",
            5,
            "caught\n",
        ),
        (signal.SIGUSR1, "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(3))", 3, ""),
    ],
)
def test_signals_pass_through(tmp_path: Path, sent: signal.Signals, program: str, code: int, out: str) -> None:
    source = f"import signal, sys, time\n{program}\nprint('ready', flush=True)\ntime.sleep(60)\n"
    with subprocess.Popen(
        [PYTHON, "-m", "otel_footprint.cli.main", "run", PYTHON, "-c", source],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job has it ignored
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(sent)
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (code, out)


@pytest.mark.parametrize(
    "end",
    ["os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", "os._exit(4)", "os.kill(os.getpid(), signal.SIGKILL)"],
)
def test_what_was_judged_is_on_file_however_it_ends(
    cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path, end: str
) -> None:
    agent.write_text(f"{agent.read_text()}\nimport signal, time\n{end}\n")
    ended = cli("run", PYTHON, agent, PROVIDER_URL=provider.openai_url)
    assert ended.code != 0
    assert "2 model calls, 1 answer: 1 ungrounded" in ended.err
    metrics = '"resourceMetrics"' in (tmp_path / "footprint.otlp.jsonl").read_text()
    assert metrics == ("SIGTERM" in end)


def test_with_export_settings_it_exports_there(
    cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    ended = cli(
        "run",
        PYTHON,
        agent,
        PROVIDER_URL=provider.openai_url,
        OTEL_TRACES_EXPORTER="console",
        OTEL_METRICS_EXPORTER="none",
        OTEL_LOGS_EXPORTER="none",
    )
    assert ended.code == 0
    assert names.EVIDENCE_VERDICT in ended.out
    assert ended.err.splitlines()[:2] == [
        "otel-footprint: 2 model calls, 1 answer: 1 ungrounded",
        "otel-footprint: 2 values: 1 read, 1 unsupported; 0 messages left a window",
    ]
    assert ended.err.splitlines()[2].startswith("otel-footprint: worst answer: span ")
    assert ended.err.splitlines()[4].startswith("otel-footprint: exported as OTEL_TRACES_EXPORTER, ")
    assert re.search(r"OTEL_LOGS_EXPORTER says: [2-9] spans$", ended.err.splitlines()[4])
    assert not list(tmp_path.glob("*.jsonl"))


def test_an_exporter_that_is_not_there_is_said_and_the_agent_runs(
    cli: Cli, agent: Path, provider: ScriptedProvider
) -> None:
    ended = cli("run", PYTHON, agent, PROVIDER_URL=provider.openai_url, OTEL_TRACES_EXPORTER="pigeon")
    assert (ended.code, ended.out) == (0, "It is AB-48213, not XY-99999.\n")
    assert "telemetry is not exported: " in ended.err
    assert "pigeon" in ended.err


def test_export_over_http_arrives(cli: Cli, agent: Path, provider: ScriptedProvider, tmp_path: Path) -> None:
    ended = cli(
        "run",
        PYTHON,
        agent,
        PROVIDER_URL=provider.openai_url,
        OTEL_EXPORTER_OTLP_ENDPOINT=provider.url,
        OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        OTEL_EXPORTER_OTLP_TIMEOUT="2",
    )
    assert ended.code == 0
    exported = {
        request.path for request in provider.requests if request.path.startswith("/v1/") and "chat" not in request.path
    }
    assert exported == {"/v1/traces", "/v1/metrics", "/v1/logs"}
    assert not list(tmp_path.glob("*.jsonl"))


FORKING = """
import multiprocessing
work = lambda: exec(compile({source!r}, "agent", "exec"), {{}})
child = multiprocessing.get_context("fork").Process(target=work)
child.start()
child.join()
"""


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", "fork"])
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_exports_that_fail_are_said(
    cli: Cli, agent: Path, provider: ScriptedProvider, closed_port: int, protocol: str, end: str
) -> None:
    text = f"import signal, time\n{agent.read_text()}"
    agent.write_text(FORKING.format(source=text) if end == "fork" else f"{text}\n{end}\n")
    ended = cli(
        "run",
        PYTHON,
        agent,
        PROVIDER_URL=provider.openai_url,
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{closed_port}",
        OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
        OTEL_EXPORTER_OTLP_TIMEOUT="1",
    )
    assert "2 model calls" in ended.err
    (said,) = [line for line in ended.err.splitlines() if "OTEL_EXPORTER_OTLP_ENDPOINT says" in line]
    assert re.match(r"otel-footprint: NOT exported as OTEL_EXPORTER_OTLP_ENDPOINT says: all [2-9] spans failed", said)


def test_counts_of_exports_are_those_of_all_processes(tmp_path: Path) -> None:
    assert exported(tmp_path) is None
    (tmp_path / "exports.1").write_text("[5, 5]")
    (tmp_path / "exports.2").write_text("[4, 1]")
    (tmp_path / "exports.3").write_text("[4,")
    found = exported(tmp_path)
    assert found == Exported(9, 6)
    assert found.lost == 3


def test_a_python_without_the_package_says_so_once(cli: Cli, tmp_path: Path) -> None:
    code = "import subprocess, sys; print('ran'); subprocess.run([sys.executable, '-S', '-c', '1'])"
    bare = tmp_path / "bare"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(bare)], check=True)
    ended = cli("run", bare / "bin" / "python", "-c", code)
    assert (ended.code, ended.out) == (0, "ran\n")
    said = [line for line in ended.err.splitlines() if "cannot import otel-footprint" in line]
    assert len(said) == 1


def test_a_command_without_python_is_said_to_hold_no_call(cli: Cli, tmp_path: Path) -> None:
    ended = cli("run", "true")
    assert "no model call was seen" in ended.err
    assert (tmp_path / "footprint.otlp.jsonl").read_bytes() == b""


def test_a_process_that_makes_no_call_writes_no_file(cli: Cli, tmp_path: Path) -> None:
    cli("run", PYTHON, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', '1'])")
    assert [path.name for path in tmp_path.glob("*.jsonl")] == ["footprint.otlp.jsonl"]


def test_names_of_files() -> None:
    assert beside(Path("/a/footprint.otlp.jsonl"), 7) == Path("/a/footprint.7.otlp.jsonl")
    assert beside(Path("/a/x.jsonl"), 7) == Path("/a/x.7.otlp.jsonl")
    assert beside(Path("/a/x.json"), 7) == Path("/a/x.7.otlp.jsonl")
    assert beside(Path("/a/trace"), 7) == Path("/a/trace.7.otlp.jsonl")


def test_export_settings_are_those_with_a_value() -> None:
    assert export_settings({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SERVICE_NAME": "x"}) == ["OTEL_TRACES_EXPORTER"]
    assert export_settings({"OTEL_EXPORTER_OTLP_ENDPOINT": " ", "OTEL_EXPORTER_OTLP_HEADERS": "a=b"}) == []


@given(st.lists(st.sampled_from(["/a", "/b", ""])))
def test_the_environment_keeps_the_import_path(entries: list[str]) -> None:
    before = {"PYTHONPATH": os.pathsep.join(entries), "A": "1"}
    first = child_environment(before, Path("/f"), Path("/out"))
    ours, *rest = first["PYTHONPATH"].split(os.pathsep)
    assert rest == [entry for entry in entries if entry]
    assert Path(ours, "sitecustomize.py").is_file()
    again: Any = child_environment(first, Path("/f"), Path("/out"))
    assert again == first


def test_metrics_of_an_idle_process_count_nothing() -> None:
    assert not counts_something('{"dataPoints":[{"asInt":"0"},{"count":"0","sum":0.0}]}')
    assert counts_something('{"dataPoints":[{"asInt":"3"}]}')
    assert counts_something('{"dataPoints":[{"count":"1","sum":0.5}]}')


@pytest.mark.skipif(os.name != "posix", reason="closes a stream as a shell of POSIX does")
@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_changes_no_exit_code_and_gets_nothing(tmp_path, closed):
    line = f'"$0" -m otel_footprint.cli.main run --out "$1" -- "$0" -c "raise SystemExit(3)" {closed}>&-'
    shell = ["sh", "-c", line, sys.executable, str(tmp_path / "out.jsonl")]
    ended = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 3
    assert "internal error" not in ended.stderr
    assert ended.stdout == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full and has no end")
def test_a_device_is_written_to_and_not_read(tmp_path):
    command = [sys.executable, "-m", "otel_footprint.cli.main", "run", "--out", "/dev/full", "--", sys.executable]
    ended = subprocess.run([*command, "-c", "raise SystemExit(3)"], capture_output=True, timeout=60, check=False)
    assert ended.returncode == 3
