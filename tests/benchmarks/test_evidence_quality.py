"""The measure itself works: checkers whose figures are known get those figures."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from quality_checkers import Flags, PlainRule, Product, located  # noqa: E402
from quality_figures import CheckerFigures, measure_answers, measure_mutants, own_figures  # noqa: E402
from quality_gold import Score  # noqa: E402
from quality_mutants import Everything, mutants  # noqa: E402
from quality_replay import Answer, example_answer, replay  # noqa: E402
from quality_tables import percent, table, write_between  # noqa: E402

SOURCE = {"order": "W9502126", "total": 1234.5, "ships": "2024-05-20", "weight": "12.5 kg", "stock": 48211}
ANSWER = "Order W9502126 of $1,234.50 ships on May 20, 2024, weighs 12.5 kg; 48211 are left."


class Nothing:
    """A checker that flags nothing."""

    name, version = "nothing", ""

    def check(self, answer: Answer) -> Flags:
        """No flags."""
        return Flags(())


class Everywhere:
    """A checker that flags every answer from end to end."""

    name, version = "everything", ""

    def check(self, answer: Answer) -> Flags:
        """One flag."""
        return Flags(((0, len(answer.text)),))


def answer() -> Answer:
    return example_answer("one", SOURCE, ANSWER)


@pytest.mark.parametrize(("checker", "flagged", "caught"), [(Nothing(), 0, 0), (Everywhere(), 1, 1)])
def test_who_flags_nothing_or_everything_gets_the_figures_of_it(checker: object, flagged: int, caught: int) -> None:
    figures = CheckerFigures("x")
    made = mutants([answer()], 5)
    measure_answers(checker, "d2t", [answer()], figures)  # type: ignore[arg-type]
    measure_mutants(checker, made, figures)  # type: ignore[arg-type]
    assert figures.flagged == {"d2t": (flagged, 1)}
    assert sum(hit for hit, _ in figures.recall.values()) == caught * len(made)
    assert sum(done for _, done in figures.recall.values()) == len(made) == 5


def test_the_product_flags_no_right_answer_and_every_mutant() -> None:
    assert own_figures([answer()]).flagged == 0
    made = mutants([answer()], 5)
    assert {mutant.kind for mutant in made} == {
        "identifier", "money with cents", "date", "number with a unit", "number of 4 digits or more",
    }  # fmt: skip
    assert all(mutant.caught_by(Product().check(mutant.answer).spans) for mutant in made)


def test_the_plain_rule_knows_tokens_only() -> None:
    flags = PlainRule().check(answer())
    flagged = {ANSWER[start:end] for start, end in flags.spans}
    assert flagged == {"2024"}


def test_a_mutant_changes_one_digit_and_stands_nowhere() -> None:
    for mutant in mutants([answer()], 5):
        assert len(mutant.before) == len(mutant.after)
        assert sum(one != other for one, other in zip(mutant.before, mutant.after, strict=True)) == 1
        assert mutant.after not in answer().everything
        assert mutant.answer.text[slice(*mutant.span)] == mutant.after


def test_the_same_seed_gives_the_same_mutants() -> None:
    first, second = mutants([answer()], 5), mutants([answer()], 5)
    assert [one.after for one in first] == [one.after for one in second]


def test_what_is_there_in_another_spelling_is_no_mutant() -> None:
    there = Everything("lands 2024-05-20 at 19:30, 3.57 m/s, 98,304 bytes")
    assert not there.lacks("May 20, 2024")
    assert not there.lacks("7:30 PM")
    assert not there.lacks("98304")
    assert there.lacks("May 21, 2024")
    assert there.rounds_to("4 m/s")
    assert not there.rounds_to("5 m/s")


def test_an_answer_sees_only_what_stood_before_it() -> None:
    messages = [
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": "Order 44171."},
        {"role": "tool", "tool_call_id": "a", "content": "44171"},
        {"role": "assistant", "content": "Order 44171."},
    ]
    first, second = replay(messages, "one")
    assert (first.results, second.results) == ((), ("44171",))
    assert [value.status for value in first.judgement.values] == ["unsupported"]
    assert [value.status for value in second.judgement.values] == ["read"]


def test_gold_counts_flags_and_errors_apart() -> None:
    score = Score()
    score.add([(0, 2), (10, 12)], [(1, 3), (20, 22)], [(11, 30)])
    assert (score.flags, score.right, score.errors, score.found) == (2, 2, 2, 1)
    assert (score.all_errors, score.all_found) == (3, 2)
    assert (score.precision, score.recall) == (1.0, 0.5)


def test_spellings_are_located_as_whole_numbers() -> None:
    assert located("44 of 144, 044", ["44"]).spans == ((0, 2), (11, 14))


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert [percent(1999, 2000), percent(2000, 2000), percent(0, 0)] == ["99.9 %", "100 %", "–"]


def test_tables_go_between_their_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- figures: x -->\nold\n<!-- end of figures: x -->\nb\n")
    write_between(page, "x", table(("k",), [["v"]]))
    assert "old" not in page.read_text()
    assert page.read_text().startswith("a\n")
    assert page.read_text().endswith("\nb\n")
    with pytest.raises(ValueError, match="no markers"):
        write_between(page, "y", "")


def test_the_figures_of_real_answers_hold(shared_data: Path) -> None:
    lines = (shared_data / "tau_airline" / "conversations.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [
        one
        for number in random.Random(3).sample(range(len(lines)), 8)
        for one in replay(json.loads(lines[number])["messages"], str(number))
    ]
    figures = own_figures(answers)
    assert figures.with_data > 10
    assert figures.flagged + figures.inconclusive <= 1
    made = mutants(answers, 3)
    assert sum(mutant.caught_by(Product().check(mutant.answer).spans) for mutant in made) >= len(made) - 1
