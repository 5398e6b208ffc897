"""``otel-footprint`` itself: help, version, and what it says to nonsense."""

from __future__ import annotations

import subprocess
import sys
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
