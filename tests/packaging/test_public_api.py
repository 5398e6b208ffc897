"""The public names are exactly those that the documentation lists, and each is there and documented."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

from packaging_paths import PACKAGE

import otel_footprint
from otel_footprint import _exports

PUBLIC = [
    "ConfigurationError",
    "Conversation",
    "Evidence",
    "Findings",
    "FootprintError",
    "Shape",
    "SlidingWindow",
    "SummarizeOldest",
    "TokenBudget",
    "UnreadableInputError",
    "UnsupportedValuesError",
    "WindowRecord",
    "WindowResult",
    "WindowStrategy",
    "WindowUnmeasurableError",
    "absent",
    "check",
    "conversation",
    "coverage",
    "current_conversation",
    "instrument",
    "uninstrument",
]
"""Adding a name is a decision to keep it; removing one breaks somebody."""


def test_all_is_the_public_api() -> None:
    assert otel_footprint.__all__ == PUBLIC
    assert sorted(_exports.PUBLIC) == PUBLIC


def test_every_public_name_is_there_and_says_what_it_does() -> None:
    for name in otel_footprint.__all__:
        thing = getattr(otel_footprint, name)
        assert inspect.getdoc(thing), name


def test_dir_shows_every_public_name_before_it_is_loaded() -> None:
    code = "import otel_footprint; print(*dir(otel_footprint))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(PUBLIC) <= set(shown)
    assert "__all__" in shown


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(otel_footprint, "no_such_name")


def test_type_checkers_are_told_the_same_names() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    typed = [
        alias.asname or alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]
    assert sorted(typed) == PUBLIC


def test_star_import_gives_every_public_name() -> None:
    code = f"from otel_footprint import *\nfor name in {PUBLIC!r}: globals()[name]"
    subprocess.run([sys.executable, "-c", code], check=True)
