"""Kinds of values seen in real answers, each with its mirror: a changed digit is flagged."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, ToolResult


def statuses(results: Json, answer: str, said: str = "", options: Evidence | None = None) -> dict[str, str]:
    corpus = Corpus(options or Evidence())
    if said:
        corpus.say(said)
    corpus.result(ToolResult("a", "look", results), ref="a", tool="look", turn=1, served=None)
    return {value.text: value.status for value in corpus.judge(answer, turn=1, tools_offered=True).values}


@pytest.mark.parametrize(
    ("results", "answer", "value", "status", "wrong"),
    [
        ({"date": "2024-05-20"}, "It leaves May 20, 2024.", "May 20, 2024", "respelled", "May 23, 2024"),
        ({"date": "2024-05-20"}, "It leaves May 20, 2024.", "May 20, 2024", "respelled", "May 20, 2034"),
        ({"at": "07:00:00"}, "It leaves at 7:00 AM.", "7:00 AM", "respelled", "7:30 AM"),
        (
            {"arrives": "01:00:00+1"},
            "It lands at 01:00 the next day.",
            "01:00 the next day",
            "respelled",
            "02:00 the next day",
        ),
        ({"amount": 121.20000000000005}, "You get $121.20 back.", "$121.20", "respelled", "$121.80"),
        ({"amount": -2580}, "You get $2,580 back.", "$2,580", "read", "$2,680"),
        ({"size_bytes": 16000000000}, "It holds 16 GB.", "16 GB", "respelled", "18 GB"),
        ({"capacity": "1000ml"}, "The 1000ml bottle.", "1000ml", "read", "1500ml"),
        ({"id": "gift_card_7504069"}, "Certificate 7504069 is used.", "7504069", "respelled", "7504068"),
        ({"card": "4929381332411784"}, "The card ending in 1784.", "1784", "respelled", "1794"),
        ({"flights": ["HAT035", "HAT066"]}, "Take HAT035/HAT066.", "HAT035/HAT066", "respelled", "HAT035/HAT067"),
        ({"order": "#W5838674"}, "Use W5838674-EX for the exchange.", "W5838674-EX", "respelled", "W5838675-EX"),
        ({"mac": "00:1B:44:11:3A:B7"}, "Its MAC is 001b44113ab7.", "001b44113ab7", "respelled", "001b44113ab8"),
        ({"used": 0.725}, "72.5% is used.", "72.5%", "respelled", "73.5%"),
    ],
)
def test_another_spelling_and_its_mirror(results: Json, answer: str, value: str, status: str, wrong: str) -> None:
    assert statuses(results, answer).get(value) == status
    changed = statuses(results, answer.replace(value, wrong))
    assert changed.get(wrong) == "unsupported", changed


def test_glued_units_ground_no_prose_number() -> None:
    assert statuses({"capacity": "1000ml"}, "It costs 1000 in all.") == {"1000": "unsupported"}


def test_a_small_number_with_a_unit_is_not_grounded_by_any_small_number() -> None:
    assert statuses({"ram": "16GB", "seats": 8}, "It has 8GB.") == {"8GB": "unsupported"}
    assert statuses({"discount_percent": 12, "seats": 15}, "You save 15%.") == {"15%": "unsupported"}


def test_leading_zeros_make_another_number() -> None:
    assert statuses({"card": "9448", "seats": 448}, "The card ending in 0448.") == {"0448": "unsupported"}


def test_a_year_has_to_come_from_somewhere() -> None:
    said = "I fly on May 20."
    assert statuses({"today": "2024-05-15"}, "You fly on 2024-05-20.", said) == {"2024-05-20": "said"}
    assert statuses({"today": "2024-05-15"}, "You fly on 2026-05-20.", said) == {"2026-05-20": "unsupported"}


@pytest.mark.parametrize(
    "answer",
    [
        "We are here 24/7.",
        "A 5-star place, 10-15 of them.",
        "Give me your order number, such as #W0000000 or W1234567.",
        "Write it as XXX-123.",
        "Fill in address1 and address2.",
        "1. first\n2. second [3]",
        "An i7/i9 model would do.",
        "It costs $0.",
        "```\nid = 'ZZ-99812'\n```",
    ],
)
def test_prose_is_no_data(answer: str) -> None:
    assert statuses({"id": "AB-12345"}, answer) == {}


def test_code_is_data_on_request() -> None:
    answer = "```\nid = 'ZZ-99812'\n```"
    assert statuses({}, answer, options=Evidence(code_blocks=True)) == {"ZZ-99812": "unsupported"}


@pytest.mark.parametrize("made_up", ["ORD-12345", "INV-123456", "AB-12345", "W1234567", "123456789"])
def test_a_value_that_counts_up_is_a_claim_unless_it_is_called_an_example(made_up: str) -> None:
    for claim in (f"Your order is {made_up}.", f"I like it: {made_up}", f"It is {made_up}, such as you wanted."):
        assert statuses({"id": "AB-4417"}, claim) == {made_up: "unsupported"}
    for example in (
        f"Give me the order id (e.g., #{made_up}).",
        f'It should look like "{made_up}".',
        f"For example, order {made_up}.",
        f"An id has the format **{made_up}**.",
        f"An id such as AB-4417 or {made_up}.",
    ):
        assert made_up not in statuses({"id": "AB-4417"}, example)


def test_a_placeholder_that_stands_in_a_result_is_read() -> None:
    assert statuses({"order": "#W0000000"}, "Your order is #W0000000.") == {"W0000000": "read"}


def test_coined_labels_are_no_data_but_their_parts_are() -> None:
    results: Json = {"to": "PHL", "card": "gift_card_7773485", "left": 203.0}
    answer = '{"option_id": "PHL-1", "remaining_on_gift_card_7773485_usd": 203.0}'
    assert statuses(results, answer) == {"gift_card_7773485": "read", "203.0": "read"} or statuses(results, answer) == {
        "7773485": "respelled",
        "203.0": "read",
    }
    assert statuses(results, answer.replace("7773485", "7773486"))["7773486"] == "unsupported"


def test_a_number_keeps_its_digits_as_written() -> None:
    assert statuses({"a": 14.9}, "The sum is 14.90 in all.") == {"14.90": "read"}


def test_json_answers_are_read_by_field() -> None:
    results: Json = {"price": 106, "seats": 17}
    answer = '{"total_price_usd": 106, "note": "see AB-4417"}'
    assert statuses(results, answer) == {"106": "read", "AB-4417": "unsupported"}
    assert statuses(results, "```json\n" + answer + "\n```") == {"106": "read", "AB-4417": "unsupported"}


def test_json_with_sums_in_it_is_still_json() -> None:
    results: Json = {"paid": 2787, "fare": 216}
    answer = '{"paid": 2787, "new_fare": 216, "refund_if_changed": 2787 - 216, "order": "ZX-9917"}'
    assert statuses(results, answer)["ZX-9917"] == "unsupported"
    assert "refund_if_changed" not in statuses(results, answer)


def test_spans_cover_every_occurrence() -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, "AB-4417"), ref="a", tool=None, turn=1, served=None)
    text = "AB-4417 is ab-4417, **AB-4417**."
    (value,) = corpus.judge(text, turn=1, tools_offered=True).values
    assert value.text == "AB-4417"
    assert [text[start:end].upper() for start, end in value.spans] == ["AB-4417"] * 3


def test_unicode_digits_dashes_and_spaces() -> None:
    assert (
        statuses({"id": "AB-4417", "size": 98304}, "AB\u20114417 has 98\u202f304 and \u0664\u0664\u0661\u0667.")[
            "AB\u20114417"
        ]
        == "read"
    )


def test_minimum_digits() -> None:
    assert statuses({}, "Room 417.") == {}
    assert statuses({}, "Room 417.", options=Evidence(min_digits=3)) == {"417": "unsupported"}


def test_a_person_leaves_the_prefix_of_an_identifier_out() -> None:
    said = "The order ID is 9502126."
    assert statuses("Error: order not found", "There is no order #W9502126.", said) == {"W9502126": "said"}
    assert statuses("Error: order not found", "There is no order #W9502127.", said) == {"W9502127": "unsupported"}


@pytest.mark.parametrize("asked", ["Or the earliest one tomorrow.", "The next day is fine too."])
def test_the_day_after_a_read_date_is_accounted_for_when_a_person_asked_for_it(asked: str) -> None:
    answer = "You fly on 2024-05-28. If there is none, I look on 2024-05-29."
    assert statuses({"date": "2024-05-28"}, answer, said=asked)["2024-05-29"] == "computed"
    assert statuses({"date": "2024-05-28"}, answer)["2024-05-29"] == "unsupported"
    wrong = statuses({"date": "2024-05-28"}, answer.replace("05-29", "05-26"), said=asked)
    assert wrong["2024-05-26"] == "unsupported"
    rules = asked + " policy" * 400
    assert statuses({"date": "2024-05-28"}, answer, said=rules)["2024-05-29"] == "unsupported"
