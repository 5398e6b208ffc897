"""What looks like a typed value and is none, or is data only where something else says so."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.typed import find, of_leaf

from .comparing import grounds


def kinds(text: str) -> list[str]:
    return [value.kind for value in find(text) if not value.weak]


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3",
        "v2.0.1",
        "release 1.10.24",
        "at 192.168.1.10",
        "10.0.0.1:8080",
        "a score of 3-4",
        "they won 2-1",
        "SKU-2024-05-20-17",
        "order W5838674",
        "flight HAT035+HAT066",
        "4OG6T3/HAT018",
        "5G coverage",
        "the 3D screen",
        "ISO 8601",
        "RFC 3339",
        "gift_card_7504069",
        "page 12 of 20",
        "1. first, 2. second",
        "see [3]",
        "24/7 support",
        "you may 20 times retry",
        "march 5 abreast",
        "ratio 16:9",
        "chapter 3, verse 16",
        "Room 101",
        "zip 80279",
        "user_1234@example.com",
        "https://example.com/2024/05/20/post",
        "127.0.0.1",
        "A1 paper",
        "B2B sales",
        "MP3 file",
        "H2O",
        "Boeing 737",
        "option 5 in the list",
        "plan 3 B",
        "the 1990s",
        "'5' and \"7\"",
        "May I have 3?",
        "second 3",
        "x86_64",
        "python3.11",
        "$",
        "%",
        "12-34-56-78",
        "the query 'market trends 2023-2024'",
        "id 6017636844** - 15",
        "4K resolution",
        "responseId 5L-FapjqCteFtf",
        "2 x 5 of them",
        "in the 90+6 minute",
    ],
)
def test_prose_and_identifiers_are_no_values(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    ("carrier", "answer"),
    [
        (("version", "2.5.20"), "May 20"),
        (("score", "5-20"), "May 20"),
        (("count", 5), "5 GB"),
        (("count", 7), "7 hours"),
        (("seats", 50), "50%"),
        ("a 50 lb bag", "50 hours"),
        ("$50", "50 GB"),
        (("size", "34 GB"), "32 GB"),
        (("memory", "32GB"), "34GB"),
        (("price", 50), "50 km"),
        (("temperature_c", 20), "−20 °C"),
        (("date", "2024-05-20"), "2024-05"),
        (("at", "07:00:30"), "07:00:31"),
        (("at", "07:00"), "07:00:30"),
        (("arrival", "01:30:00"), "01:30 (+2)"),
        (("id", 1716192000), "May 20, 2024"),
        (("created_at", 12345), "May 20, 2024"),
        (("mac", "00:1a:2b:3c:4d:5e"), "00:1a:2b:3c:4d:5f"),
        (("price", 123.45), "$123"),
        (("price", 1187.32), "$1,200"),
        (("total", 99.995), "$99"),
        (("x", 45.2857), "45"),
        (("departure_time_est", "15:00:00"), "3:00 PM PST"),
        (("at", "2024-05-15T06:04:00Z"), "2024-05-15T06:04:00+02:00"),
        ("the 20th", "May 20"),
        (("phone", "+1 555 123 4567"), "+44 555 123 4567"),
    ],
)
def test_another_value_never_agrees(carrier: object, answer: str) -> None:
    assert not grounds(carrier, answer)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["5-4 business days", "May 25-96", "May 25, 96, and 27", "May 33, 2024", "2024-05-32", "14:00 AM"]
)
def test_what_is_spelled_like_a_value_and_is_none_agrees_with_nothing(text: str) -> None:
    assert not grounds("5 business days, 2024-05-25, 2024-05-27, 2024-05-03, May 2024, 14:00, 2 PM", text)


def test_a_sentence_ends_behind_a_time() -> None:
    assert [value.text for value in find("It is 4:20 PM. We leave at 5 p.m. today.")] == ["4:20 PM", "5 p.m."]


def test_an_identifier_before_a_dash_is_no_part_of_a_range() -> None:
    values = [value.text for value in find("Item ID: 6017636844** - 15-inch, i7") if not value.weak]
    assert values == ["15-inch"]


@pytest.mark.parametrize("text", ["three bags", "10/12", "20240520", "1234", "3.5", "twenty minutes"])
def test_a_spelling_that_may_be_something_else_is_weak(text: str) -> None:
    values = find(text)
    assert values
    assert all(value.weak for value in values)


@pytest.mark.parametrize(
    "value", [None, True, False, [], {}, "", "no digits here", float("nan"), float("inf"), 10**400]
)
def test_a_leaf_without_a_number_carries_nothing(value: object) -> None:
    assert of_leaf("price", value) == ()
