"""Values beside the name of another row than their own: every kind of table, each way to name a row, and what is left alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement
from otel_footprint.core.messages import Json, ToolResult

ORDERS: Json = [
    {"order_id": "#W1001", "total": 1234.5, "placed": "2024-05-20", "status": "open"},
    {"order_id": "#W1002", "total": 2750.25, "placed": "2024-06-11", "status": "closed"},
    {"order_id": "#W1003", "total": 99.1, "placed": "2024-07-01", "status": "open"},
]
BALANCES: dict[str, Json] = {
    "list of objects": [{"name": "Alice", "balance": 1234.5}, {"name": "Bob", "balance": 2750.25}],
    "objects keyed by name": {"Alice": {"balance": 1234.5, "age": 31}, "Bob": {"balance": 2750.25, "age": 32}},
    "columns by row": {"balance": {"0": 1234.5, "1": 2750.25}, "name": {"0": "Alice", "1": "Bob"}},
    "columns by name": {"balance": {"Alice": 1234.5, "Bob": 2750.25}, "city": {"Alice": "Rome", "Bob": "Oslo"}},
    "columns as lists": {"balance": [1234.5, 2750.25], "name": ["Alice", "Bob"]},
    "header and lines": {"columns": ["name", "balance"], "data": [["Alice", 1234.5], ["Bob", 2750.25]], "rows": 2},
    "list of lists": [["name", "balance"], ["Alice", 1234.5], ["Bob", 2750.25]],
    "csv": 'name,balance,note\nAlice,1234.50,"a, b"\nBob,2750.25,\n',
    "markdown": "Found:\n\n| name | balance |\n|---|---:|\n| **Alice** | 1234.50 |\n| Bob | 2750.25 |\n",
    "inside an object": {
        "page": 1,
        "found": [{"name": "Alice", "balance": 1234.5}, {"name": "Bob", "balance": 2750.25}],
    },
}
PLAYERS: Json = {
    "PTS": {"0": "12", "1": "8", "2": "21"},
    "REB": {"0": "3", "1": "9", "2": "4"},
    "AST": {"0": "7", "1": "2", "2": "5"},
    "FGM": {"0": "5", "1": "3", "2": "8"},
    "FGA": {"0": "11", "1": "6", "2": "17"},
    "MIN": {"0": "36", "1": "22", "2": "N/A"},
    "PLAYER_NAME": {"0": "Ann Fox", "1": "Bea Low", "2": "Cleo Ray"},
    "SECOND_NAME": {"0": "Fox", "1": "Low", "2": "Ray"},
}


def judge(answer: str, *results: Json | str, said: str = "") -> Judgement:
    corpus = Corpus(Evidence())
    corpus.say(said)
    for number, content in enumerate(results):
        ref = f"c{number}"
        text = content if isinstance(content, str) else json.dumps(content)
        corpus.result(ToolResult(ref, "look", text), ref=ref, tool="look", turn=1, served=None)
    return corpus.judge(answer, turn=1, tools_offered=True)


def reports(judgement: Judgement) -> list[tuple[str, str, str]]:
    """Value, the row it belongs to, the row that is named."""
    found = [
        (place.span, value.text, place.belongs_to, place.named)
        for value in judgement.values
        for place in value.misplaced
    ]
    return [report[1:] for report in sorted(found)]


@pytest.mark.parametrize("kind", BALANCES)
def test_every_kind_of_table(kind: str) -> None:
    wrong = judge("Alice has a balance of $2,750.25.", BALANCES[kind])
    assert reports(wrong) == [("$2,750.25", "Bob", "Alice")]
    right = judge("Bob has a balance of $2,750.25.", BALANCES[kind])
    assert reports(right) == []


def test_it_is_advice_and_no_flag() -> None:
    judgement = judge("Order #W1001 has a total of $2,750.25.", ORDERS)
    (value,) = [value for value in judgement.values if value.misplaced]
    assert (value.status, value.flagged) == ("read", False)
    assert judgement.verdict == "grounded"
    place = value.misplaced[0]
    assert "Order #W1001 has a total of $2,750.25."[slice(*place.span)] == "$2,750.25"
    assert (place.belongs_to, place.named) == ("#W1002", "#W1001")


def test_a_respelled_value_is_placed_too() -> None:
    assert reports(judge("Order #W1001 was placed on June 11, 2024.", ORDERS)) == [
        ("June 11, 2024", "#W1002", "#W1001")
    ]
    assert reports(judge("Order #W1001 was placed on May 20, 2024.", ORDERS)) == []


def test_each_occurrence_is_judged_where_it_stands() -> None:
    judgement = judge("#W1001 comes to $2,750.25.\n#W1002 comes to $2,750.25.\n#W1003 comes to $2,750.25.", ORDERS)
    assert reports(judgement) == [("$2,750.25", "#W1002", "#W1001"), ("$2,750.25", "#W1002", "#W1003")]
    (value,) = [value for value in judgement.values if value.misplaced]
    assert len(value.spans) == 3


def test_a_list_item_is_about_its_heading() -> None:
    answer = "### Order #W1001\n- Total: $2,750.25\n- Placed: May 20, 2024\n\n### Order #W1002\n- Total: $2,750.25"
    assert reports(judge(answer, ORDERS)) == [("$2,750.25", "#W1002", "#W1001")]
    nested = "- Order #W1001\n  - Total: $2,750.25\n- Order #W1002\n  - Total: $2,750.25"
    assert reports(judge(nested, ORDERS)) == [("$2,750.25", "#W1002", "#W1001")]


def test_a_row_of_an_answers_table_is_about_its_first_cell() -> None:
    answer = "| Order | Total |\n|---|---|\n| #W1001 | $2,750.25 |\n| #W1002 | $2,750.25 |"
    assert reports(judge(answer, ORDERS)) == [("$2,750.25", "#W1002", "#W1001")]


@pytest.mark.parametrize(
    "answer",
    [
        "It has a total of $2,750.25.",
        "Orders #W1001 and #W1002 come to $1,234.50 and $2,750.25.",
        "Compared with #W1001, order #W1002 is dearer: $2,750.25.",
        "On average #W1001 and the like come to $2,750.25.",
        "Items of #W1001 (Keyboard: $2,750.25).",
    ],
)
def test_what_names_no_row_or_several_is_left_alone(answer: str) -> None:
    assert reports(judge(answer, ORDERS)) == []


def test_what_stands_elsewhere_too_is_left_alone() -> None:
    answer = "Order #W1001 has a total of $2,750.25."
    assert reports(judge(answer, ORDERS, {"limit": 2750.25})) == []
    assert reports(judge(answer, {"orders": ORDERS, "sum": 2750.25})) == []
    assert (
        reports(judge(answer, [{"order_id": "#W1001", "paid": 10.5}, {"order_id": "#W1002", "total": 2750.25}])) == []
    )


def test_what_a_row_inside_or_around_carries_is_its_own() -> None:
    orders: Json = [
        {
            "order_id": "#W1001",
            "total": 4000.5,
            "items": [{"item_id": "7001", "price": 1234.5}, {"item_id": "7002", "price": 2766.0}],
        },
        {
            "order_id": "#W1002",
            "total": 2750.25,
            "items": [{"item_id": "7003", "price": 2750.25}, {"item_id": "7004", "price": 50.5}],
        },
    ]
    assert reports(judge("Order #W1001 holds an item for $1,234.50.", orders)) == []
    assert reports(judge("Item 7001 is part of a total of $4,000.50.", orders)) == []
    assert reports(judge("Item 7001 costs $2,766.00.", orders)) == [("$2,766.00", "7002", "7001")]


def test_a_name_of_the_owner_in_the_sentence_is_a_hint_that_it_is_meant() -> None:
    items: Json = [{"name": "Desk Lamp", "price": 135.24}, {"name": "Office Chair", "price": 511.24}]
    assert reports(judge("With the Desk Lamp, the chair is $511.24.", items)) == []
    assert reports(judge("The Desk Lamp is $511.24.", items)) == [("$511.24", "Office Chair", "Desk Lamp")]


def test_names_and_values_are_fields_and_no_rows() -> None:
    spec: Json = [{"name": "Chipset", "value": "MT6761"}, {"name": "CPU", "value": "Cortex-A53"}]
    assert reports(judge("Powered by the MT6761 with a fast CPU.", spec)) == []


# --- small numbers


def test_a_small_number_belongs_to_the_field_its_word_names() -> None:
    answer = "Ann Fox had 8 points, three rebounds and 7 assists. Bea Low added 8 points and nine rebounds."
    judgement = judge(answer, PLAYERS)
    assert reports(judgement) == [("8", "Bea Low", "Ann Fox")]
    (value,) = judgement.values
    assert (value.text, value.shape, value.status, value.flagged) == ("8", "number", "read", False)
    assert [carrier.ref for carrier in value.carriers] == ["c0"]
    assert judgement.verdict == "grounded"


def test_right_small_numbers_are_no_values() -> None:
    judgement = judge("Ann Fox had 12 points, three rebounds and seven assists.", PLAYERS)
    assert judgement.values == ()
    assert judgement.verdict == "no_claims"


def test_two_names_in_one_sentence_each_have_what_follows() -> None:
    answer = "Ann Fox had 8 points and 3 rebounds, while Bea Low had 12 points and 9 rebounds."
    assert reports(judge(answer, PLAYERS)) == [("8", "Bea Low", "Ann Fox"), ("12", "Ann Fox", "Bea Low")]
    assert reports(judge("Ann Fox and Bea Low each had 8 points.", PLAYERS)) == []


def test_a_word_that_no_field_resembles_is_learned_from_the_answer() -> None:
    answer = (
        "Ann Fox had 12 points and 3 boards. Bea Low had 8 points and 9 boards. "
        "Cleo Ray had 21 points and 4 boards. Fox had 9 boards."
    )
    assert reports(judge(answer, PLAYERS)) == [("9", "Bea Low", "Fox")]


def test_pairs_are_two_fields() -> None:
    answer = (
        "Ann Fox went 5-of-11 shooting. Bea Low went 3-of-6 shooting. Cleo Ray went 8-of-17 shooting. "
        "Ann Fox was 5-of-17 shooting."
    )
    assert reports(judge(answer, PLAYERS)) == [("17", "Cleo Ray", "Ann Fox")]


def test_articles_count_in_a_list_of_counts() -> None:
    players: Json = [{"name": "Ann", "steals": 1, "blocks": 0}, {"name": "Bea", "steals": 3, "blocks": 1}]
    assert reports(judge("Ann had a steal and a block.", players)) == []
    assert reports(judge("Ann had 1 steal and a block.", players)) == [("a block", "Bea", "Ann")]


def test_labels_headers_and_what_is_said_before_name_fields_too() -> None:
    table = "| Player | Points | Assists |\n|---|---|---|\n| Ann Fox | 8 | 7 |\n| Bea Low | 8 | 2 |"
    assert reports(judge(table, PLAYERS)) == [("8", "Bea Low", "Ann Fox")]
    assert reports(judge("**Ann Fox**\n- Points: 8\n- Assists: 7", PLAYERS)) == [("8", "Bea Low", "Ann Fox")]
    hotels: Json = [{"name": "Ritz", "rating": 4.8}, {"name": "Savoy", "rating": 3.9}]
    assert reports(judge("The Ritz has a rating of 3.9.", hotels)) == [("3.9", "Savoy", "Ritz")]
    assert reports(judge("The Ritz has a rating of 4.8.", hotels)) == []


def test_a_number_of_another_field_only_belongs_to_nobody() -> None:
    assert reports(judge("Ann Fox had 17 points and 7 assists.", PLAYERS)) == [("17", "", "Ann Fox")]
    assert reports(judge("Ann Fox had 99 points and 7 assists.", PLAYERS)) == []


def test_a_wrong_name_is_said_once() -> None:
    assert reports(judge("Ann Fox had 8 points, 9 rebounds and 2 assists.", PLAYERS)) == [("8", "Bea Low", "Ann Fox")]


@pytest.mark.parametrize(
    "answer",
    [
        "Ann Fox hit a three-point shot.",
        "Ann Fox averaged 8 points, 3 rebounds and 7 assists.",
        "Ann Fox combined for 8 points over two games.",
        "She had 8 points.",
        "Ann Fox won by 8.",
        "ann fox had 8 points.",
    ],
)
def test_numbers_that_count_something_else_are_left_alone(answer: str) -> None:
    assert reports(judge(answer, PLAYERS)) == []


def test_what_a_person_said_is_theirs() -> None:
    assert (
        reports(judge("Ann Fox had 8 points, 3 rebounds and 7 assists.", PLAYERS, said="Give Ann Fox 8 points")) == []
    )


def test_a_number_with_a_unit_is_carried_by_the_field_its_word_means() -> None:
    assert [value.status for value in judge("Ann Fox played 36 minutes.", PLAYERS).values] == ["respelled"]
    changed = judge("Ann Fox played 37 minutes.", PLAYERS)
    assert [(value.status, value.flagged) for value in changed.values] == [("unsupported", True)]


# --- invariants

_scalar = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5000)
    | st.floats(0, 5000)
    | st.sampled_from(["Ann", "Bob", "x", "N/A", "12"])
)
_json = st.recursive(
    _scalar,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["abc", "name", "id", "0", "1"]), inner, max_size=4)
    ),
    max_leaves=25,
)
_answer = st.lists(
    st.sampled_from(
        [
            "Ann",
            "Bob",
            "had",
            "12",
            "4000",
            "points",
            "and",
            "a",
            ",",
            ".",
            "\n",
            "- ",
            "|",
            ": ",
            "(",
            "3-4",
            ")",
            "five",
        ]
    ),
    max_size=30,
).map(" ".join)


@given(_json, _answer)
def test_only_read_values_are_placed_and_nothing_is_flagged_for_it(content: Json, answer: str) -> None:
    for value in judge(answer, content).values:
        if value.misplaced:
            assert value.status in ("read", "respelled")
            assert not value.flagged
            spans = {(start, end) for start, end in value.spans}
            for place in value.misplaced:
                assert any(start <= place.span[0] and place.span[1] <= end for start, end in spans)
                assert place.named.lstrip("#") in answer
                assert place.belongs_to != place.named


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_survived(content: str, answer: str) -> None:
    judge(answer, content)


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("a,b\n" * 20_000, "a 3 points"),
        (
            json.dumps([{"name": f"P{number}", "points": number % 9} for number in range(1500)]),
            "P1 had 3 points, " * 3000,
        ),
        (
            json.dumps([{"name": f"P{number}", **{f"f{place}": 1 for place in range(60)}} for number in range(60)]),
            "P1 was 1-of-1 foo. " * 2000,
        ),
        ('{"a":' * 5000 + "1" + "}" * 5000, "P1 had 3 points"),
    ],
)
def test_hostile_text_ends(content: str, answer: str) -> None:
    judge(answer, content)


STOCK: Json = [
    {"name": "Laptop Stand", "price": 45.5, "units_sold": 1204, "since": "2024-05-20"},
    {"name": "Desk Lamp", "price": 89.99, "units_sold": 3417, "since": "2024-06-11"},
]


@pytest.mark.parametrize(
    ("answer", "misplaced"),
    [
        ({"items": [{"name": "Desk Lamp", "price": 89.99}, {"name": "Laptop Stand", "price": 45.5}]}, []),
        (
            {"items": [{"name": "Desk Lamp", "price": 45.5}, {"name": "Laptop Stand", "price": 89.99}]},
            ["45.5", "89.99"],
        ),
        ({"item": "Desk Lamp", "sold": 1204, "since": "May 20, 2024"}, ["1204", "May 20, 2024"]),
        ({"item": "Desk Lamp", "sold": 3417, "since": "June 11, 2024"}, []),
        ([{"name": "Desk Lamp"}, {"price": 45.5}], []),  # not the same object
        ({"cheaper_than": "Desk Lamp", "name": "Laptop Stand", "price": 45.5}, []),  # two rows are named
        ({"name": "Desk Lamp", "alternatives": [{"price": 45.5}]}, []),  # what is around other objects is no row
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_of_a_json_answer_is_a_row(answer: Json, misplaced: list[str], indent: int | None) -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", "list", STOCK), ref="a", tool="list", turn=1, served=None)
    text = json.dumps(answer, indent=indent)
    judgement = corpus.judge(text, turn=1, tools_offered=True)
    places = [place for value in judgement.values for place in value.misplaced]
    assert sorted(text[slice(*place.span)] for place in places) == sorted(misplaced)
    assert not any(value.flagged for value in judgement.values)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # All of them are Cleo's: the name is wrong, which is said once; what the named row has too changes nothing.
        ("Ann Fox had 21 points and 4 rebounds.", [("21", "Cleo Ray", "Ann Fox")]),
        ("Ann Fox had 21 points, 4 rebounds and 5 assists.", [("21", "Cleo Ray", "Ann Fox")]),
        # Three of four are: so is the fourth, whoever has it.
        ("Ann Fox had 21 points, 4 rebounds, 5 assists and 36 minutes.", [("21", "Cleo Ray", "Ann Fox")]),
        # One of two: each is said.
        ("Ann Fox had 21 points and 9 rebounds.", [("21", "Cleo Ray", "Ann Fox"), ("9", "Bea Low", "Ann Fox")]),
        ("Ann Fox had 12 points and 9 rebounds.", [("9", "Bea Low", "Ann Fox")]),
    ],
)
def test_a_wrong_name_is_said_once_also_where_a_number_fits_it(
    answer: str, expected: list[tuple[str, str, str]]
) -> None:
    assert reports(judge(answer, PLAYERS)) == expected


def test_what_a_name_that_no_row_has_begins_is_left_alone() -> None:
    assert reports(judge("Ann Fox played well, and had 21 points.", PLAYERS)) == [("21", "Cleo Ray", "Ann Fox")]
    assert reports(judge("Ann Fox played well, while the Meteors had 21 points.", PLAYERS)) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ann Fox had 12 points (5-11 FG).", []),
        ("Ann Fox had 12 points (5-17 FG).", [("17", "Cleo Ray", "Ann Fox")]),
        ("Ann Fox had 12 points (3-11 FG).", [("3", "Bea Low", "Ann Fox")]),
        ("Ann Fox had 12 points (5-11 XY).", []),
    ],
)
def test_the_word_of_a_pair_begins_the_names_of_its_fields(answer: str, expected: list[tuple[str, str, str]]) -> None:
    assert reports(judge(answer, PLAYERS)) == expected


def test_two_fields_of_which_either_may_be_larger_are_no_pair() -> None:
    rows = [{"name": "Ann Fox", "RXA": 5, "RXB": 11}, {"name": "Bea Low", "RXA": 9, "RXB": 3}]
    assert reports(judge("Ann Fox had (9-11 RX).", rows)) == []
