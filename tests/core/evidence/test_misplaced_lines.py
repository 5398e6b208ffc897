"""Tables by their lines and by their shapes: what is one, at the cost of one pass over it."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence import misplaced_lines
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.misplaced_lines import Grid, grids
from otel_footprint.core.evidence.misplaced_shapes import counts_up
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, ToolResult


def test_a_delimiter_in_quotes_makes_no_header() -> None:
    text = '"Doe, Jane"\n"1,234"\n"5,678"'
    assert [*grids(text)] == text.splitlines()
    assert [*grids(text.replace('"', ""))] == [Grid(["Doe", "Jane"], [["1", "234"], ["5", "678"]])]


@pytest.mark.parametrize(
    "text",
    ['"a,b"\n"1,234"\n', "a|b\n", "a,b\n1,2,3\n", '"a;b",c\n"1;2"\n', "a,b;c\n1,2;\n", "|a|\n|-|\n"],
)
def test_each_line_is_read_a_few_times_however_many_there_are(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    cells = misplaced_lines._cells

    def counted(line: str, mark: str) -> list[str]:
        read.append(line)
        return cells(line, mark)

    monkeypatch.setattr(misplaced_lines, "_cells", counted)
    lines = text * 300
    assert len([*grids(lines)]) <= 601
    assert len(read) <= 8 * lines.count("\n")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["0", "1", "2"], True),
        (["2", "1"], True),
        (["001", "002"], True),
        (["0" * 5_000, "1"], True),
        (["0", "1", "3"], False),
        (["2", "3"], False),
        (["1" * 5_000, "2"], False),
        (["1", "2", ""], False),
        (["1", "²"], False),
        ([], False),
    ],
)
def test_keys_that_count_up(keys: list[str], *, expected: bool) -> None:
    assert counts_up(keys) is expected


def test_a_key_of_more_digits_than_python_converts_is_a_key() -> None:
    key = "1" * 5_000
    columns: Json = {"points": {key: 4417, "2": 12}, "name": {key: "Alpha", "2": "Bolt"}}
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, columns), ref="a", tool=None, turn=1, served=None)
    (value,) = corpus.judge("Bolt has 4417 points.", turn=1, tools_offered=True).values
    assert value.status == "read"
