"""``otel-footprint check``: documents, tables, exit codes, and input that is not what it should be."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from otel_footprint import ConfigurationError, check
from otel_footprint.cli.options import evidence_of

if TYPE_CHECKING:
    from conftest import Cli

ASKED = {"role": "user", "content": "What did I order?"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": '{"order": "AB-48213"}'}
GOOD = [ASKED, CALL, RESULT, {"role": "assistant", "content": "It is AB-48213."}]
BAD = [ASKED, CALL, RESULT, {"role": "assistant", "content": "It is XY-99999."}]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents: dict[str, bytes] = {
        "good": json.dumps(GOOD).encode(),
        "bad": json.dumps({"id": "t-7", "messages": BAD}).encode(),
        "empty": b"",
        "binary": bytes(range(256)) * 10,
        "half": json.dumps(GOOD).encode() + b"\n" + json.dumps(BAD).encode()[:50] + b"\n" + json.dumps(GOOD).encode(),
        "deep": b"[" * 200_000,
        "types": json.dumps([{"role": "user", "content": {"a": [1]}}]).encode(),
        "none": b'{"messages": []}',
    }
    paths = {}
    for name, content in contents.items():
        paths[name] = tmp_path / f"{name}.json"
        paths[name].write_bytes(content)
    return paths


def document(text: str) -> Any:
    return json.loads(text)


def test_exit_codes(cli: Cli, files: dict[str, Path]) -> None:
    assert cli("check", files["good"]).code == 0
    assert cli("check", files["none"]).code == 0
    assert cli("check", files["good"], files["bad"]).code == 1
    assert cli("check", files["half"]).code == 2
    assert cli("check", files["bad"], files["empty"]).code == 2


def test_the_document(cli: Cli, files: dict[str, Path]) -> None:
    ended = cli("check", "--json", files["good"], files["bad"])
    assert ended.code == 1
    assert ended.err == ""
    found = document(ended.out)
    assert set(found) == {"files", "totals"}
    assert [set(file) for file in found["files"]] == [{"path", "source", "conversations"}] * 2
    assert [(file["path"], file["source"]) for file in found["files"]] == [
        (str(files["good"]), "messages"),
        (str(files["bad"]), "messages"),
    ]
    (good,) = found["files"][0]["conversations"]
    (bad,) = found["files"][1]["conversations"]
    assert good == check(GOOD)
    assert bad == check({"id": "t-7", "messages": BAD})
    assert found["totals"]["answers"] == 2
    assert found["totals"]["verdicts"] == {
        "no_claims": 0,
        "grounded": 1,
        "not_applicable": 0,
        "ungrounded": 1,
        "inconclusive": 0,
    }
    assert found["totals"]["flagged"] == 1
    assert found["totals"]["statuses"]["unsupported"] == 1


def test_a_conversation_without_messages_is_zero_answers(cli: Cli, files: dict[str, Path]) -> None:
    found = document(cli("check", "--json", files["none"]).out)
    assert found["files"][0]["conversations"] == [{"id": None, "answers": []}]
    assert found["totals"]["conversations"] == 1


def test_the_table_names_flagged_answers_and_why(cli: Cli, files: dict[str, Path]) -> None:
    ended = cli("check", files["good"], files["bad"])
    assert f"{files['bad']}, conversation 0 (id t-7), message 3: ungrounded" in ended.out
    assert "XY-99999  unsupported: no tool result carries it and nobody said it" in ended.out
    assert "\x1b" not in ended.out
    assert str(files["good"]) not in ended.out


def test_standard_input(cli: Cli) -> None:
    ended = cli("check", "--json", "-", stdin=json.dumps(BAD).encode())
    assert ended.code == 1
    assert document(ended.out)["files"][0]["path"] == "-"
    assert cli("check", "-", stdin=b"").err == "otel-footprint check: standard input: the file is empty\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty", ": the file is empty"),
        ("binary", ": not text: a binary file"),
        ("deep", ":1: JSON nested too deeply"),
        ("types", ":1: message 0 has an object as its content"),
        ("half", ":2: not JSON: it ends too early, at character 51"),
    ],
)
def test_unreadable_input_is_one_line(cli: Cli, files: dict[str, Path], name: str, reason: str) -> None:
    ended = cli("check", "--json", files[name], files["good"])
    assert ended.code == 2
    assert ended.err == f"otel-footprint check: {files[name]}{reason}\n"
    found = document(ended.out)
    assert found["files"][-1]["path"] == str(files["good"])
    assert found["totals"]["unreadable"] == 1


def test_files_that_cannot_be_opened(cli: Cli, tmp_path: Path) -> None:
    ended = cli("check", "missing.json", tmp_path)
    assert ended.code == 2
    assert ended.err.splitlines() == [
        "otel-footprint check: missing.json: No such file or directory",
        f"otel-footprint check: {tmp_path}: Is a directory",
    ]


def test_options(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    answer = {"role": "assistant", "content": "Ask team-blue, code 123, or ZZ-1001."}
    path.write_text(json.dumps([ASKED, CALL, RESULT, answer]))

    def flagged(*arguments: str) -> list[str]:
        found = document(cli("check", "--json", *arguments, path).out)
        values = found["files"][0]["conversations"][0]["answers"][0]["values"]
        return [value["value"] for value in values if value["flagged"]]

    assert flagged() == ["ZZ-1001"]
    assert flagged("--min-digits", "3") == ["123", "ZZ-1001"]
    assert flagged("--shape", "team=team-[a-z]+") == ["team-blue", "ZZ-1001"]
    assert flagged("--exempt", "zz-[0-9]+") == []


def test_check_always(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_text(json.dumps([ASKED, {"role": "assistant", "content": "It is XY-99999."}]))
    assert cli("check", path).code == 0
    assert cli("check", "--check", "always", path).code == 1


CONFIG = """
min_digits = 3
exempt = ["zz-[0-9]+"]
[shapes]
team = "team-[a-z]+"
"""


def test_the_config_file_and_what_wins(cli: Cli, tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "Ask team-blue, code 123, or ZZ-1001."}
    (tmp_path / "c.json").write_text(json.dumps([ASKED, CALL, RESULT, answer]))
    (tmp_path / "f.toml").write_text(CONFIG)
    (tmp_path / "pyproject.toml").write_text("[tool.otel-footprint]\nmin_digits = 3\n")

    def flagged(*arguments: str) -> list[str]:
        found = document(cli("check", "--json", *arguments, "c.json").out)
        values = found["files"][0]["conversations"][0]["answers"][0]["values"]
        return [value["value"] for value in values if value["flagged"]]

    assert flagged("--config", "f.toml") == ["team-blue", "123"]
    assert flagged("--config", "f.toml", "--min-digits", "5") == ["team-blue"]
    assert flagged("--config", "pyproject.toml") == ["123", "ZZ-1001"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--shape", "x"], "--shape 'x': write NAME=REGEX"),
        (["--shape", "x=["], "does not compile"),
        (["--exempt", "("], "--exempt '(' does not compile"),
        (["--min-digits", "0"], "min_digits=0 is out of range"),
        (["--min-digits", "x"], "argument --min-digits: invalid int value"),
        (["--check", "never"], "argument --check: invalid choice"),
        (["--config", "nowhere.toml"], "--config nowhere.toml: No such file or directory"),
        (["--config", "broken.toml"], "--config broken.toml: not TOML"),
        (["--config", "unknown.toml"], "unknown key 'digits'"),
        (["--config", "wrong.toml"], "exempt='x' is not a list of strings"),
        (["--junit", "no/such/folder.xml"], "no/such/folder.xml: No such file or directory"),
        (["--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_options_that_cannot_be_used_are_one_line(cli: Cli, tmp_path: Path, arguments: list[str], says: str) -> None:
    (tmp_path / "c.json").write_text("[]")
    (tmp_path / "broken.toml").write_text("= 3")
    (tmp_path / "unknown.toml").write_text("digits = 3")
    (tmp_path / "wrong.toml").write_text("exempt = 'x'")
    ended = cli("check", "c.json", *arguments)
    assert ended.code == 2
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1


def test_junit(cli: Cli, files: dict[str, Path], tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    ended = cli("check", "--junit", report, files["good"], files["bad"], files["empty"])
    assert ended.code == 2
    root = ElementTree.parse(report).getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    good, bad, unreadable = root.findall("testsuite")
    assert good.find("testcase/failure") is None
    failure = bad.find("testcase/failure")
    assert failure is not None
    assert failure.text == "XY-99999: unsupported: no tool result carries it and nobody said it"
    assert unreadable.find("testcase/error") is not None


def test_a_closed_pipe_is_quiet(files: dict[str, Path], tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text((json.dumps(BAD) + "\n") * 3_000)
    command = f"'{sys.executable}' -m otel_footprint.cli.main check --json {many} | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
    assert len(done.stdout) == 10


def test_any_text_prints_on_any_terminal(cli: Cli, tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "It is Ünï-99999 or \ud800-12345."}
    (tmp_path / "c.json").write_text(json.dumps([ASKED, CALL, RESULT, answer]))
    for encoding in ("ascii", "utf-8"):
        assert cli("check", "c.json", PYTHONIOENCODING=encoding).code == 1
        assert cli("check", "--json", "--junit", "r.xml", "c.json", PYTHONIOENCODING=encoding).code == 1
        ElementTree.parse(tmp_path / "r.xml")


def test_a_python_without_a_toml_reader_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tomllib", "tomli"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigurationError, match="pip install tomli"):
        evidence_of(argparse.Namespace(config="f.toml"))


def test_the_documented_document_is_the_one_that_is_printed(cli: Cli, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "conversations.jsonl").write_text(json.dumps({"id": "t-1", "messages": GOOD}))
    assert document(cli("check", "--json", "conversations.jsonl").out) == json.loads(block)


def test_it_judges_the_real_runs(cli: Cli, shared_data: Path) -> None:
    ended = cli("check", "--json", shared_data / "tau_airline" / "conversations.jsonl")
    found = document(ended.out)
    assert found["totals"]["answers"] == 586
    assert found["totals"]["conversations"] == 100
    assert ended.code == (1 if found["totals"]["flagged"] else 0)
    for name, answers in (("tau_retail", 625), ("tau_assertions", 394)):
        found = document(cli("check", "--json", shared_data / name / "conversations.jsonl").out)
        assert found["totals"]["answers"] == answers
        assert found["totals"]["unreadable"] == 0


CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c2", "function": {"name": "ship", "arguments": '{"order_id": "AB-48213", "lines": [{"sku": "ZZ-1"}]}'}},
        {"id": "c3", "function": {"name": "ship", "arguments": "{'order_id': 'AB-48231', 'limit': 5000}"}},
    ],
}
SHIPPED = [{"role": "tool", "tool_call_id": name, "content": "done"} for name in ("c2", "c3")]


def test_arguments_are_listed_with_the_answer_after_them(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([*GOOD, ASKED, CALLS, *SHIPPED, {"role": "assistant", "content": "Done."}]))

    run = cli("check", "--json", "--arguments", path)
    assert run.code == 0, "advice changes no exit code"
    found = document(run.out)
    first, second = found["files"][0]["conversations"][0]["answers"]
    assert first["arguments"] == []
    assert [(one["path"], one["value"], one["status"], one["unaccounted"]) for one in second["arguments"]] == [
        ("order_id", "AB-48213", "read", False),
        ("lines[0].sku", "ZZ-1", "unsupported", True),
        ("order_id", "AB-48231", "unsupported", True),
    ]
    assert second["arguments"][0] == {
        "message_index": 5,
        "tool": "ship",
        "tool_call_id": "c2",
        "path": "order_id",
        "also_at": [],
        "value": "AB-48213",
        "shape": "identifier",
        "status": "read",
        "unaccounted": False,
        "carriers": [{"message_index": 2, "tool_call_id": "c1"}],
        "derivation": None,
        "evicted_by": None,
    }
    assert {status: count for status, count in found["totals"]["arguments"].items() if count} == {
        "read": 1,
        "unsupported": 2,
    }

    plain = document(cli("check", "--json", path).out)
    assert [answer["arguments"] for answer in plain["files"][0]["conversations"][0]["answers"]] == [[], []]
    assert "arguments" not in plain["totals"]


def test_arguments_after_the_last_answer_and_without_any(cli: Cli, tmp_path: Path) -> None:
    answered, unanswered = tmp_path / "a.json", tmp_path / "b.json"
    answered.write_text(json.dumps([*GOOD, ASKED, CALLS]))
    unanswered.write_text(json.dumps([ASKED, CALLS]))

    found = document(cli("check", "--json", "--arguments", answered, unanswered).out)
    (answer,) = found["files"][0]["conversations"][0]["answers"]
    assert len(answer["arguments"]) == 3
    assert found["files"][1]["conversations"][0]["answers"] == []
    assert sum(found["totals"]["arguments"].values()) == 6


def test_the_table_of_arguments(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([*GOOD, ASKED, CALLS, *SHIPPED]))

    run = cli("check", "--arguments", path)
    assert run.code == 0
    assert re.search(r"arguments by tool\s+read\s+unsupported\s*\nship\s+1\s+2", run.out)
    assert re.search(
        r"message 5: ship order_id = AB-48231\s+unsupported: no tool result carries it", run.out.replace("\n", " ")
    )
    path.write_text(json.dumps(GOOD))
    assert "No tool call passes on a value." in cli("check", "--arguments", path).out


def test_check_in_code_takes_arguments_too() -> None:
    messages = [*GOOD, ASKED, CALLS]
    assert check(messages)["answers"][0]["arguments"] == []
    assert [one["tool"] for one in check(messages, arguments=True)["answers"][0]["arguments"]] == ["ship"] * 3


SCORES = [{"player": "Ada Lovelace", "points": 1815}, {"player": "Alan Turing", "points": 1912}]
SCORED = [
    {"role": "user", "content": "How did the game go?"},
    CALL,
    {"role": "tool", "tool_call_id": "c1", "content": json.dumps(SCORES)},
    {"role": "assistant", "content": "Ada Lovelace scored 1912 points."},
]


def test_values_of_another_row_are_advice_that_the_table_counts_and_lists(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(SCORED))
    ended = cli("check", path)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == (
        "1 value stands beside the name of another row (advice, not flagged; --misplaced lists them)"
    )
    listed = cli("check", "--misplaced", path)
    assert listed.code == 0
    assert listed.out.splitlines()[-2:] == [
        "1 value stands beside the name of another row (advice, not flagged)",
        f"{path}, conversation 0, message 3: 1912 beside Ada Lovelace  it is that of Alan Turing",
    ]
    found = document(cli("check", "--json", path).out)
    (value,) = found["files"][0]["conversations"][0]["answers"][0]["values"]
    assert value["misplaced"] == [{"span": [20, 24], "belongs_to": "Alan Turing", "named": "Ada Lovelace"}]
    assert found["totals"]["misplaced"] == 1


def test_nothing_misplaced_is_said_only_where_it_was_asked_for(cli: Cli, files: dict[str, Path]) -> None:
    assert "another row" not in cli("check", files["good"]).out
    assert cli("check", "--misplaced", files["good"]).out.endswith("No value stands beside the name of another row.\n")
    assert "another row" not in cli("check", "--misplaced", files["none"]).out  # no answer was judged
