"""``otel-footprint``: the commands, and the one place where their errors become a line and an exit code.

Rules
-----
- A command's module is imported when it is chosen, so that ``--help`` is quick.
- Bad input, bad settings and files that cannot be used are one line on standard error, never a traceback.
- A fault of ours is one line too (``logging`` at debug level has the traceback), with exit code 2.
- A closed pipe ends the program quietly; Ctrl-C ends it as a shell expects (130).
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Final, NoReturn

from otel_footprint.boundary import guard
from otel_footprint.core.errors import FootprintError

_COMMANDS: Final = {
    "demo": "agents against a scripted provider on this machine: no key, no network",
    "run": "run any Python agent, unchanged, and record what it does",
    "check": "judge the answers of recorded conversations and traces, offline",
    "trace": "one trace of Jaeger, Tempo or a file, as a tree",
    "doctor": "what is installed, instrumented and exported, and what is not and why",
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage is a ``--help`` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    with guard("cli", "this is a fault of otel-footprint, please report it"):
        return _main(argv)
    return 2


def _main(argv: Sequence[str] | None) -> int:
    _any_text_prints()
    arguments_given = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in arguments_given if not word.startswith("-")), None)
    try:
        arguments = _parser(command).parse_args(arguments_given)
        if arguments.command is None:
            _parser(None).print_help()
            return 2
        code: int = importlib.import_module(f"otel_footprint.cli.{arguments.command}").main(arguments)
        sys.stdout.flush()
    except FootprintError as error:
        return _fail(command, str(error))
    except BrokenPipeError:
        # Whoever read our output has gone. Give stdout somewhere to flush to, so that Python's exit stays quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(command, f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        return 130
    return code


def _fail(command: str | None, message: str) -> int:
    one_line = " ".join(message.split())
    print(f"otel-footprint {command}: {one_line}", file=sys.stderr)
    return 2


def _any_text_prints() -> None:
    """Text that the terminal's encoding cannot show is escaped instead of raising; a closed stream takes it and shows none."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for life
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _parser(command: str | None) -> argparse.ArgumentParser:
    """The parser, with the arguments of the one command that was chosen (the others would cost their imports)."""
    parser = _Parser(
        prog="otel-footprint",
        description="OpenTelemetry middleware for LLM agents: what the window kept, and whether answers were read "
        "from tool results.",
    )
    parser.add_argument("--version", action="version", version=f"otel-footprint {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, text in _COMMANDS.items():
        if name == command:
            module = importlib.import_module(f"otel_footprint.cli.{name}")
            sub = commands.add_parser(name, help=text, description=getattr(module, "DESCRIPTION", text))
            if name == "demo":
                sub.add_argument("--out", default=module.DEFAULT_OUT, metavar="FILE", help="where the trace is written")
            else:
                module.add_arguments(sub)
        else:
            commands.add_parser(name, help=text)
    return parser


def _version() -> str:
    try:
        return metadata.version("otel-footprint")
    except metadata.PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
