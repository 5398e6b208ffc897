"""Shown code is compared exactly; nothing is told apart as declared, uncovered, or unexplained."""

import pytest

from otel_footprint.core.absence import absent, coverage
from otel_footprint.core.assessment.scripts import Submission, blocks_of, exit_code_of, script_of, script_rows
from otel_footprint.core.emptiness import CoverageGap, DeclaredAbsent, EmptyUndeclared, read_emptiness


@pytest.mark.parametrize(
    ("answer", "blocks"),
    [
        ("no code", []),
        ("```python\nx = 1\n```", ["x = 1"]),
        ("a\r\n~~~\r\nx\r\ny\r\n~~~\r\nb\n```\nz", ["x\ny", "z"]),
        ("````\n```\ninner\n```\n````", ["```\ninner\n```"]),
        ("```inline```", []),
    ],
)
def test_blocks(answer, blocks):
    assert blocks_of(answer) == blocks


def test_a_block_is_the_script_byte_for_byte():
    ran = Submission("x = 1\n", "python", "c1", 1, done=True, exit_code=0)
    failed = Submission("x = 2", "python", "c2", 2, done=True, exit_code=1)
    pending = Submission("x = 3", "python", None, 3)
    answer = "```\nx = 1\n```\n```\r\nx = 2\r\n```\n```\nx = 3\n```\n```\nx =  1\n```"
    rows = script_rows(answer, [ran, failed, pending], turn=1, iteration=2)
    assert [(row.block, row.label, row.dispatch, row.exit_code) for row in rows] == [
        (1, "ran", 1, 0),
        (2, "failed", 2, 1),
        (3, "submitted", 3, None),
        (4, "unmatched", None, None),
    ]
    assert rows[3].reason == "no-equal"
    assert script_rows("```\nx\n```", [], turn=1, iteration=1)[0].reason == "no-submissions"


def test_the_last_of_equal_submissions_counts():
    first = Submission("x", "python", "c1", 1, done=True, exit_code=1)
    second = Submission("x", "python", "c2", 2, done=True, exit_code=0)
    assert script_rows("```\nx\n```", [first, second], turn=1, iteration=1)[0].tool_call_id == "c2"


@pytest.mark.parametrize(
    ("arguments", "parameter", "script"),
    [
        ("x = 1", None, "x = 1"),
        ({"code": "x", "lang": "py"}, None, "x"),
        ({"body": "x"}, None, "x"),
        ({"a": "x", "b": "y"}, None, None),
        ({"a": "x", "b": "y"}, "b", "y"),
        ({"a": "x"}, "b", None),
        (None, None, None),
    ],
)
def test_what_was_submitted(arguments, parameter, script):
    assert script_of(arguments, parameter) == script


def test_exit_codes():
    assert exit_code_of({"exit_code": -9}) == -9
    assert exit_code_of({"exit_code": True}) is None
    assert exit_code_of("exit_code: 1") is None


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (absent(checked=["a"], not_checked=["b"], cannot_cover=["c"]), DeclaredAbsent(2)),
        ('{"af_absent": true, "checked": ["a"]}', DeclaredAbsent(0)),
        ('{"af_absent": true, "checked": []}', None),
        (coverage([], checked=["a"], not_checked=["b"]), CoverageGap(1)),
        (coverage([], checked=["a"]), None),
        ("", EmptyUndeclared()),
        ("[]", EmptyUndeclared()),
        (" null ", EmptyUndeclared()),
        ([], EmptyUndeclared()),
        (None, EmptyUndeclared()),
        ({"results": [], "total": 0}, EmptyUndeclared()),
        ('{"results": [], "next": null}', EmptyUndeclared()),
        ([{"type": "text", "text": "[]"}], EmptyUndeclared()),
        ([{"type": "image", "text": ""}], None),
        ({"results": [], "error": "no such table"}, None),
        ({"deleted": False}, None),
        ("nothing found", None),
        ({"results": [1]}, None),
    ],
)
def test_what_a_result_says_about_nothing(content, found):
    assert read_emptiness(content) == found
    assert read_emptiness(content, is_error=True) is None
