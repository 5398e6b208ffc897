"""The evidence options of ``check``: from a TOML file, then from the command line, which wins.

The file's keys are those of ``Evidence``: ``min_digits``, ``strict``, ``check``, ``decimal_rounding``, ``code_blocks``,
``answer_tools``, ``corpus_bytes``, ``exempt`` (regular expressions for whole tokens) and the table ``shapes``
(name = regular expression). In a ``pyproject.toml`` they stand under ``[tool.otel-footprint]``.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.options import Evidence, Shape

_KEYS: Final = (
    "min_digits",
    "strict",
    "check",
    "decimal_rounding",
    "code_blocks",
    "answer_tools",
    "corpus_bytes",
    "exempt",
    "shapes",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options on a parser."""
    group = parser.add_argument_group("evidence")
    group.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=REGEX",
        help="a kind of value of yours, as a regular expression for the whole token; may be repeated",
    )
    group.add_argument(
        "--exempt",
        action="append",
        default=[],
        metavar="REGEX",
        help="values that are never flagged, as a regular expression for the whole token; may be repeated",
    )
    group.add_argument("--min-digits", type=int, metavar="N", help="digits that make a bare number data (default 4)")
    group.add_argument(
        "--strict", action="store_true", default=None, help="nothing is grounded by the model's arguments"
    )
    group.add_argument(
        "--check", choices=("tools", "always"), help="judge conversations without any tool too (default tools)"
    )
    group.add_argument(
        "--answer-tool",
        action="append",
        default=[],
        metavar="NAME",
        help="a tool whose call is the answer, such as final_answer; may be repeated",
    )
    group.add_argument("--code-blocks", action="store_true", default=None, help="fenced code in an answer is data too")
    group.add_argument("--config", metavar="FILE", help="a TOML file with these options")


def evidence_of(arguments: argparse.Namespace) -> Evidence:
    """The options as :class:`Evidence`. Raises :class:`ConfigurationError` naming the option that cannot be used."""
    values = _from_file(arguments.config) if arguments.config else {}
    shapes = _shapes(values.pop("shapes", {}))
    exempt = [_pattern(text, "exempt") for text in _texts(values.pop("exempt", []), "exempt")]
    for text in arguments.shape:
        name, equals, pattern = text.partition("=")
        if not equals:
            raise ConfigurationError(f"--shape {text!r}: write NAME=REGEX, such as 'order=#W[0-9]{{7}}'")
        shapes[name] = Shape(name, pattern)
    exempt += [_pattern(text, "--exempt") for text in arguments.exempt]
    tools = [*_texts(values.pop("answer_tools", []), "answer_tools"), *arguments.answer_tool]
    for name in ("min_digits", "strict", "check", "code_blocks"):
        given = getattr(arguments, name)
        if given is not None:
            values[name] = given
    return Evidence(shapes=tuple(shapes.values()), exempt=tuple(exempt), answer_tools=tuple(tools), **values)


def _from_file(name: str) -> dict[str, Any]:
    path = Path(name)
    toml = _toml_reader()
    try:
        document: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"--config {name}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ConfigurationError(f"--config {name}: not TOML: {error}") from None
    if path.name == "pyproject.toml":
        tools = document.get("tool")
        table = tools.get("otel-footprint") if isinstance(tools, Mapping) else None
        if not isinstance(table, Mapping):
            raise ConfigurationError(f"--config {name}: it has no table [tool.otel-footprint]")
        document = dict(table)
    unknown = next((key for key in document if key not in _KEYS), None)
    if unknown is not None:
        raise ConfigurationError(f"--config {name}: unknown key {unknown!r}; use {', '.join(_KEYS)}")
    return document


def _toml_reader() -> Any:
    for module in ("tomllib", "tomli"):  # the first is in Python from 3.11
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    raise ConfigurationError("--config needs Python 3.11, or the package tomli: pip install tomli")


def _shapes(given: object) -> dict[str, Shape]:
    if not isinstance(given, Mapping):
        raise ConfigurationError('shapes is not a table; write [shapes] and a line like order = "#W[0-9]{7}"')
    return {name: Shape(name, pattern) for name, pattern in given.items()}


def _texts(given: object, name: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise ConfigurationError(f"{name}={given!r} is not a list of strings")
    return list(given)


def _pattern(text: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigurationError(f"{name} {text!r} does not compile: {error}") from None
