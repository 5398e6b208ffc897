"""Each kind of derivation on the smallest case, and its mirror: one digit changed, and the value is flagged."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest

from otel_footprint.core.evidence import shifted
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.derive import MAX_TARGETS
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.rows import rows_of
from otel_footprint.core.evidence.verdicts import Value
from otel_footprint.core.messages import Json, ToolCall, ToolResult

FLIGHTS: Json = [
    {"flight_number": "HAT110", "date": "2024-05-24", "prices": {"economy": 105, "business": 496}, "seats": 9},
    {"flight_number": "HAT172", "date": "2024-05-24", "prices": {"economy": 102, "business": 360}, "seats": 2},
]
RESERVATION: Json = {
    "reservation_id": "JG7FMM",
    "flights": [{"flight_number": "HAT028", "price": 140}, {"flight_number": "HAT277", "price": 101}],
    "passengers": [{"first_name": "Omar"}, {"first_name": "Fatima"}],
    "payment_history": [{"payment_id": "credit_card_2929732", "amount": 7136}],
}
SHIRTS: Json = [
    {"order_id": "#W2378156", "items": [{"name": "T-Shirt", "item_id": "9612497925", "price": 50.88}]},
    {
        "name": "T-Shirt",
        "variants": {"8124970213": {"item_id": "8124970213", "price": 53.48}, "1": {"item_id": "1", "price": 9}},
    },
]
WALLET: Json = {
    "payment_methods": {
        "gift_card_1": {"source": "gift_card", "id": "gift_card_1", "amount": 198},
        "gift_card_2": {"source": "gift_card", "id": "gift_card_2", "amount": 129},
        "certificate_3": {"source": "certificate", "id": "certificate_3", "amount": 500},
    }
}
TIMES: Json = [{"flight_number": "HAT110", "departs": "14:00:00", "arrives": "16:30:00"}]
LINES: Json = [{"price": 12.5, "qty": 3}, {"price": 7.25, "qty": 2}]
CART: Json = {
    "cart_id": "C-2041",
    "items": [
        {"quantity": 3, "product": {"sku": "MUG-01", "name": "Mug", "price": 12.5}},
        {"quantity": 2, "product": {"sku": "PEN-02", "name": "Pen", "price": 7.25}},
    ],
    "tax": 4.16,
}


@dataclass(frozen=True)
class Case:
    """An answer whose value is derived, and what to change so that it is not."""

    name: str
    results: Json
    answer: str
    value: str
    wrong: str
    derivation: str
    said: str = ""
    before: str = ""
    extra: tuple[str, ...] = field(default=())


CASES = (
    Case("written equation", FLIGHTS, "HAT110 at $105 + HAT172 at $102 = $207.", "$207", "$217", "equation"),
    Case(
        "run of values before it",
        FLIGHTS,
        "HAT110 costs $105 and HAT172 costs $102. Total: $207.",
        "$207",
        "$209",
        "sum",
    ),
    Case(
        "column of the rows named in its line",
        FLIGHTS,
        "Economy fares:\n- HAT110 + HAT172: $207\n",
        "$207",
        "$227",
        "column sum",
    ),
    Case(
        "list inside a named row",
        RESERVATION,
        "Reservation JG7FMM: new total price $241.",
        "$241",
        "$261",
        "column sum",
    ),
    Case(
        "times the length of a list in the row",
        RESERVATION,
        "Reservation JG7FMM now costs $241 per passenger, $482 for all passengers.",
        "$482",
        "$492",
        "count times",
    ),
    Case(
        "stated value times a stated count",
        FLIGHTS,
        "HAT110 is $105 each; for 3 bags $315.",
        "$315",
        "$325",
        "count times",
    ),
    Case(
        "difference of two stated",
        FLIGHTS,
        "HAT110: $496 in business, $105 in economy: $391 less.",
        "$391",
        "$381",
        "difference",
    ),
    Case(
        "difference to the variant bought before",
        SHIRTS,
        "The T-Shirt you picked costs $53.48. The price difference is $2.60.",
        "$2.60",
        "$7.60",
        "difference",
    ),
    Case(
        "sum of a group that the field names",
        WALLET,
        '{"balances": {"gift_cards_total": 327, "certificate": 500}}',
        "327",
        "337",
        "sum",
    ),
    Case(
        "subtotals, their total and what is left of it",
        FLIGHTS,
        '{"legs": [{"flight": "HAT110", "price_usd": 105}, {"flight": "HAT172", "price_usd": 102}], "total_price_usd": 207}',
        "207",
        "209",
        "sum",
    ),
    Case(
        "duration between two times of a row",
        TIMES,
        "HAT110 takes 2 hours 30 minutes.",
        "2 hours 30 minutes",
        "2 hours 20 minutes",
        "duration",
    ),
    Case(
        "a carried date and the next day",
        FLIGHTS,
        "It leaves on May 24, 2024 and lands the next day, May 25, 2024.",
        "May 25, 2024",
        "May 28, 2024",
        "date plus days",
    ),
    Case(
        "twice the cheapest",
        [
            {"flight_number": f"HAT{number}", "price": price}
            for number, price in ((174, 69), (152, 54), (178, 84), (102, 81))
        ],
        "HAT174 $69, HAT152 $54, HAT178 $84, HAT102 $81. For both of you the lowest total is $108.",
        "$108",
        "$118",
        "count times",
    ),
    Case(
        "days between two stated dates",
        {"from": "2024-05-20", "to": "2024-06-14"},
        "You stay from May 20, 2024 to June 14, 2024, that is 25 days.",
        "25 days",
        "26 days",
        "duration between dates",
    ),
    Case(
        "complement of a percentage",
        {"used_percent": 72},
        "72% is used, the remaining 28% is free.",
        "28%",
        "38%",
        "complement",
    ),
    Case("prices times counts of a list", LINES, "Subtotal $52.00.", "$52.00", "$53.00", "sum of price times count"),
    Case(
        "price times the count of its row", LINES, "The first come to $37.50.", "$37.50", "$37.60", "price times count"
    ),
    Case(
        "prices inside the lines of a named row",
        CART,
        "Cart C-2041 comes to $52.00 before tax.",
        "$52.00",
        "$52.10",
        "sum of price times count",
    ),
    Case(
        "a total over a subtotal that was worked out",
        CART,
        "Cart C-2041: subtotal $52.00, tax $4.16, total $56.16.",
        "$56.16",
        "$56.26",
        "sum",
    ),
    Case(
        "a rate times nights",
        {"hotel": "Ritz", "rate": 180, "nights": 3},
        "The Ritz comes to $540.",
        "$540",
        "$560",
        "price times count",
    ),
    Case(
        "a date that reads two ways, the day first",
        {"ordered": "2024-06-02"},
        "Ordered 2024-06-02, it ends on 05/06/2024, three days later.",
        "05/06/2024",
        "05/07/2024",
        "date plus days",
    ),
    Case(
        "a date that reads two ways, the month first",
        {"ordered": "2024-05-03"},
        "Ordered 2024-05-03, it ends on 05/06/2024, three days later.",
        "05/06/2024",
        "05/07/2024",
        "date plus days",
    ),
    Case(
        "from a date that reads two ways",
        {"ordered": "05/06/2024"},
        "Ordered 05/06/2024, it ends three days later on June 8, 2024.",
        "June 8, 2024",
        "June 9, 2024",
        "date plus days",
    ),
    Case(
        "from what the answer before stated",
        FLIGHTS,
        "You would save $391.",
        "$391",
        "$381",
        "difference",
        before="HAT110 costs $496 in business and $105 in economy.",
    ),
)


def judged(case: Case, answer: str) -> Value | None:
    corpus = Corpus(Evidence())
    if case.said:
        corpus.say(case.said)
    corpus.call(ToolCall("a", "look", {}), ref="a", turn=1)
    corpus.result(ToolResult("a", "look", case.results), ref="a", tool="look", turn=1, served=None)
    if case.before:
        corpus.judge(case.before, turn=1, tools_offered=True)
    values = corpus.judge(answer, turn=1, tools_offered=True).values
    wanted = case.value if answer == case.answer else case.wrong
    return next((value for value in values if value.text == wanted), None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_derived(case: Case) -> None:
    value = judged(case, case.answer)
    assert value is not None
    assert value.status == "computed", value
    assert not value.flagged
    assert value.derivation is not None
    assert case.derivation in value.derivation.name
    assert value.derivation.inputs


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_digit_changed_is_flagged(case: Case) -> None:
    value = judged(case, case.answer.replace(case.value, case.wrong))
    assert value is not None
    assert (value.status, value.flagged) == ("unsupported", True), value


def test_a_written_equation_that_is_wrong_is_flagged_though_other_sums_would_do() -> None:
    case = Case("", FLIGHTS, "HAT110 $105 + HAT172 $102 = $210.", "$210", "", "")
    value = judged(case, case.answer)
    assert value is not None
    assert value.flagged


def test_a_computed_value_stays_computed_when_it_is_repeated() -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, FLIGHTS), ref="a", tool=None, turn=1, served=None)
    corpus.judge("HAT110 at $105 + HAT172 at $102 = $207.", turn=1, tools_offered=True)
    (value,) = corpus.judge("Shall I charge $207?", turn=2, tools_offered=True).values
    assert value.status == "computed"
    fork = corpus.fork()
    assert fork.judge("Shall I charge $207?", turn=2, tools_offered=True).verdict == "grounded"


def test_identifiers_and_counts_are_not_derived() -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, {"seats": 4000, "miles": 1200}), ref="a", tool=None, turn=1, served=None)
    (first, second, third) = corpus.judge("4000 seats for 1200, room 5200-A.", turn=1, tools_offered=True).values
    assert (first.status, second.status, third.status) == ("read", "read", "unsupported")


def test_money_comes_only_from_money() -> None:
    corpus = Corpus(Evidence())
    corpus.result(
        ToolResult("a", None, [{"id": "R-1001", "seats": 130}, {"id": "R-1002", "seats": 77}]),
        ref="a", tool=None, turn=1, served=None,
    )  # fmt: skip
    values = corpus.judge("R-1001 and R-1002 together cost $207.", turn=1, tools_offered=True).values
    assert values[-1].status == "unsupported"


@pytest.mark.parametrize(
    "row",
    [
        {"id": "R-1001", "price": 12.5, "stock": 40},
        {"id": "R-1001", "price": 12.5, "discount": 40},
        {"id": "R-1001", "total_price": 12.5, "quantity": 40},
        {"id": "R-1001", "price": 12.5, "available_units": 40},
    ],
)
def test_only_a_unit_price_and_a_count_make_a_line(row: Json) -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, [row]), ref="a", tool=None, turn=1, served=None)
    values = corpus.judge("R-1001 comes to $500.00.", turn=1, tools_offered=True).values
    assert values[-1].status == "unsupported"


def test_what_many_wrong_sums_would_reach_too_is_only_derivable() -> None:
    rows: Json = [{"id": f"R-{1000 + place}", "price": 31 + 7 * place} for place in range(12)]
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, rows), ref="a", tool=None, turn=1, served=None)
    names = ", ".join(f"R-{1000 + place}" for place in range(12))
    found = [
        corpus.fork().judge(f"Of {names} two make ${total}.", turn=1, tools_offered=True).values[-1]
        for total in range(70, 200)
    ]
    computed = sum(value.status == "computed" for value in found)
    assert computed <= 20, computed


def test_values_after_those_that_are_tried_are_left_open() -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, FLIGHTS), ref="a", tool=None, turn=1, served=None)
    answer = "\n".join(f"- ${9_000 + place}" for place in range(MAX_TARGETS + 10))
    values = corpus.judge(answer, turn=1, tools_offered=True).values
    assert [value.status for value in values] == ["unsupported"] * (MAX_TARGETS + 10)
    assert [value.flagged for value in values] == [True] * MAX_TARGETS + [False] * 10


def test_a_mark_of_the_next_day_is_looked_for_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    flight: Json = {"flight_number": "HAT110", "date": "2024-05-24", "arrives": "06:30:00+1"}
    answer = "HAT110 of May 24, 2024 arrives at 6:30 AM on May 25, 2024."
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, flight), ref="a", tool=None, turn=1, served=None)
    assert corpus.fork().judge(answer, turn=1, tools_offered=True).verdict == "grounded"
    wrong = answer.replace("May 25", "May 26")
    assert corpus.fork().judge(wrong, turn=1, tools_offered=True).verdict == "ungrounded"
    monkeypatch.setattr(shifted, "MAX_SEARCHED", 10)
    assert corpus.fork().judge(wrong, turn=1, tools_offered=True).reasons == ("work_bound",)


def test_a_row_of_very_many_words_and_times_is_read_once_through() -> None:
    """Each word once: a row that was copied for every one of them took half a minute here."""
    words = ["".join(letters) for letters in itertools.islice(itertools.product("abcdefghij", repeat=5), 40_000)]
    times = [f"{number // 60 % 24:02d}:{number % 60:02d}" for number in range(20_000)]
    [row] = rows_of(({"id": "AB-4417", "words": words, "slots": times},))
    assert (len(row.tags), len(row.timed), len(row.clocks)) == (40_000, 20_000, 30)
