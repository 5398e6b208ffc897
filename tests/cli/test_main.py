"""``otel-footprint`` itself: help, version, and what it says to nonsense."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli


def test_help_names_every_command(cli: Cli) -> None:
    ended = cli("--help")
    assert ended.code == 0
    for command in ("demo", "run", "check", "doctor"):
        assert command in ended.out
    assert cli().code == 2
    assert cli("--version").out.startswith("otel-footprint 0.")


@pytest.mark.parametrize("command", ["demo", "run", "check", "doctor"])
def test_each_command_has_help(cli: Cli, command: str) -> None:
    ended = cli(command, "--help")
    assert ended.code == 0
    assert f"otel-footprint {command}" in ended.out


@pytest.mark.parametrize("arguments", [("bogus",), ("--bogus",), ("check",), ("run",), ("demo", "x"), ("doctor", "x")])
def test_nonsense_is_one_line(cli: Cli, arguments: tuple[str, ...]) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["run", "--help"]])
def test_help_loads_no_opentelemetry(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom otel_footprint.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "print({name.partition('.')[0] for name in sys.modules} & {'opentelemetry', 'rich', 'httpx', 'openai'}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "set()"


def test_a_fault_of_ours_is_one_line_that_says_where_it_is(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom otel_footprint.cli import main\n"
        "def fail(*_):\n    raise ValueError('private')\n"
        "main._parser = fail\nsys.exit(main.main(['doctor']))"
    )
    script = tmp_path / "faulty.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "faulty.py:4" in line
    assert line.endswith("this is a fault of otel-footprint, please report it.")
    assert "private" not in line
