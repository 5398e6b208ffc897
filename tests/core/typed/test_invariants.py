"""What must hold for every value, every spelling and every text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from otel_footprint.core.evidence.typed import Typed, agrees, find, of_leaf

from .comparing import grounds

DAYS = st.dates(min_value=date(1950, 1, 1), max_value=date(2049, 12, 31))
MINUTES = st.times().map(lambda at: at.replace(second=0, microsecond=0))


def ordinal(day: int) -> str:
    return f"{day}{'th' if 11 <= day <= 13 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


DATE_SPELLINGS: dict[str, Callable[[date], str]] = {
    "iso": lambda d: d.isoformat(),
    "month first": lambda d: f"{d:%B} {d.day}, {d.year}",
    "month first, short": lambda d: f"{d:%b} {d.day}, {d.year}",
    "month with full stop": lambda d: f"{d:%b}. {d.day}, {d.year}",
    "month first, ordinal": lambda d: f"{d:%B} {ordinal(d.day)}, {d.year}",
    "month first, no comma": lambda d: f"{d:%B} {d.day} {d.year}",
    "day first": lambda d: f"{d.day} {d:%B} {d.year}",
    "day first, short": lambda d: f"{d.day} {d:%b} {d.year}",
    "day first, padded": lambda d: f"{d:%d %b %Y}",
    "day first, ordinal": lambda d: f"the {ordinal(d.day)} of {d:%B} {d.year}",
    "hyphens": lambda d: f"{d:%d-%b-%Y}",
    "weekday": lambda d: f"{d:%A}, {d:%B} {d.day}, {d.year}",
    "short weekday": lambda d: f"{d:%a}, {d.day} {d:%b} {d.year}",
    "weekday behind": lambda d: f"{d:%B} {d.day}, {d.year} ({d:%A})",
    "weekday and iso": lambda d: f"{d:%A} {d.isoformat()}",
    "year first, slashes": lambda d: f"{d:%Y/%m/%d}",
    "capitals": lambda d: f"{d:%B} {d.day}, {d.year}".upper(),
    "bold": lambda d: f"**{d:%B} {d.day}, {d.year}**",
    "bold in parts": lambda d: f"**{d:%B} {d.day}**, {d.year}",
    "entities": lambda d: f"{d:%B}&nbsp;{d.day},&nbsp;{d.year}",
}
SLASH_SPELLINGS: dict[str, Callable[[date], str]] = {
    "american": lambda d: f"{d:%m/%d/%Y}",
    "american, short": lambda d: f"{d.month}/{d.day}/{d:%y}",
    "british": lambda d: f"{d:%d/%m/%Y}",
    "german": lambda d: f"{d:%d.%m.%Y}",
    "hyphens": lambda d: f"{d:%d-%m-%Y}",
}


@pytest.mark.parametrize("spell", DATE_SPELLINGS.values(), ids=DATE_SPELLINGS)
@given(day=DAYS, other=DAYS)
def test_a_date_agrees_with_itself_in_iso_form_and_with_no_other_day(
    spell: Callable[[date], str], day: date, other: date
) -> None:
    assume(day != other)
    stated = f"You leave on {spell(day)} as planned."
    values = find(stated)
    assert [value.kind for value in values] == ["date"]
    assert grounds(("date", day.isoformat()), stated)
    assert not grounds(("date", other.isoformat()), stated)
    assert grounds(stated, day.isoformat())
    assert not grounds(stated, other.isoformat())


@pytest.mark.parametrize("spell", SLASH_SPELLINGS.values(), ids=SLASH_SPELLINGS)
@given(day=DAYS, other=DAYS)
def test_a_date_in_numbers_agrees_with_either_reading_only(
    spell: Callable[[date], str], day: date, other: date
) -> None:
    stated = f"On {spell(day)}."
    assert grounds(("date", day.isoformat()), stated)
    same_century = other.year % 100 == day.year % 100
    if not (same_century and {other.month, other.day} == {day.month, day.day}):
        assert not grounds(("date", other.isoformat()), stated)


@given(day=DAYS, shift=st.integers(1, 6))
def test_a_full_date_with_the_wrong_weekday_agrees_with_nothing(day: date, shift: int) -> None:
    wrong = (day + timedelta(days=shift)).strftime("%A")
    stated = f"{wrong}, {day:%B} {day.day}, {day.year}"
    assert not grounds(("date", day.isoformat()), stated)
    assert not grounds(("date", (day + timedelta(days=shift)).isoformat()), stated)


@given(day=DAYS, other=DAYS)
def test_without_a_year_any_year_agrees(day: date, other: date) -> None:
    stated = f"{day:%B} {day.day}"
    assert grounds(("date", day.isoformat()), stated)
    assert grounds(("date", other.isoformat()), stated) == ((day.month, day.day) == (other.month, other.day))


@given(first=DAYS, span=st.integers(1, 20))
def test_a_range_of_days_gives_both_ends(first: date, span: int) -> None:
    last = first + timedelta(days=span)
    assume(last.month == first.month)
    for stated in (
        f"{first:%B} {first.day}–{last.day}, {last.year}",
        f"{first.day}-{last.day} {first:%B} {last.year}",
        f"{first:%B} {first.day} to {first:%b} {last.day}, {last.year}",
    ):
        ends = find(stated)
        assert len(ends) == 2
        for day, value in ((first, ends[0]), (last, ends[1])):
            assert any(agrees(value, offer) for offer in of_leaf("date", day.isoformat()))


TIME_SPELLINGS: dict[str, Callable[[time], str]] = {
    "24 hours": lambda t: f"{t:%H:%M}",
    "24 hours, seconds": lambda t: f"{t:%H:%M:%S}",
    "12 hours": lambda t: f"{t.hour % 12 or 12}:{t:%M %p}",
    "12 hours, small": lambda t: f"{t.hour % 12 or 12}:{t:%M}{'am' if t.hour < 12 else 'pm'}",
    "12 hours, dots": lambda t: f"{t.hour % 12 or 12}:{t:%M} {'a.m.' if t.hour < 12 else 'p.m.'}",
    "12 hours, padded": lambda t: f"{t:%I:%M %p}",
}


@pytest.mark.parametrize("spell", TIME_SPELLINGS.values(), ids=TIME_SPELLINGS)
@given(at=MINUTES, other=MINUTES)
def test_a_time_agrees_with_itself_only(spell: Callable[[time], str], at: time, other: time) -> None:
    stated = f"It leaves at {spell(at)}."
    assert grounds(("departure", at.isoformat()), stated)
    ambiguous = 10 <= at.hour <= 12 and spell is TIME_SPELLINGS["24 hours"]
    apart = (at.hour - other.hour) % (12 if ambiguous else 24) or at.minute - other.minute
    assert grounds(("departure", other.isoformat()), stated) == (apart == 0)


@given(
    seconds=st.integers(10**8 + 1, 22 * 10**8),
    offset=st.integers(-11, 13),
    late=st.integers(1, 10**7),
)
def test_an_instant_agrees_in_every_zone_and_as_an_epoch(seconds: int, offset: int, late: int) -> None:
    at = datetime.fromtimestamp(seconds, timezone.utc)
    there = at.astimezone(timezone(timedelta(hours=offset)))
    for carrier in (at.isoformat(), at.strftime("%Y-%m-%dT%H:%M:%SZ"), at.strftime("%Y-%m-%d %H:%M:%S UTC")):
        assert grounds(("created_at", carrier), there.isoformat())
    after = at + timedelta(seconds=late)
    assert not grounds(("created_at", after.isoformat()), there.isoformat())
    assert grounds(("created_at", seconds), there.isoformat())
    assert grounds(("created_at", seconds * 1000), there.isoformat())
    assert not grounds(("created_at", seconds + late), there.isoformat())


MONEY_SPELLINGS: dict[str, Callable[[Decimal], str]] = {
    "dollars": lambda n: f"${n:,.2f}",
    "bold": lambda n: f"**${n:,.2f}**",
    "escaped": lambda n: rf"\${n:,.2f}",
    "code in front": lambda n: f"USD {n:,.2f}",
    "code behind": lambda n: f"{n:.2f} USD",
    "words": lambda n: f"{n:,.2f} dollars",
    "no-break spaces": lambda n: f"{n:,.2f} USD".replace(",", "\u00a0"),
}


@pytest.mark.parametrize("spell", MONEY_SPELLINGS.values(), ids=MONEY_SPELLINGS)
@given(cents=st.integers(1, 10**9), other=st.integers(1, 10**9))
def test_an_amount_agrees_to_the_cent(spell: Callable[[Decimal], str], cents: int, other: int) -> None:
    assume(cents != other)
    stated = f"The total is {spell(Decimal(cents) / 100)}."
    assert [value.kind for value in find(stated)] == ["money"]
    for key, carried in (("price", cents / 100), ("amount_cents", cents), ("price", f"${Decimal(cents) / 100:.2f}")):
        assert grounds((key, carried), stated)
    assert not grounds(("price", other / 100), stated)
    assert not grounds(("price", f"${Decimal(other) / 100:.2f}"), stated)


@given(code=st.sampled_from(["EUR", "GBP", "CHF", "JPY"]), amount=st.integers(1, 10**6))
def test_another_currency_never_agrees(code: str, amount: int) -> None:
    assert not grounds(("price", f"{amount} {code}"), f"${amount}")
    assert not grounds(("price", f"${amount}"), f"{amount} {code}")


UNIT_PAIRS = [
    ("km", "m", 1000),
    ("kg", "g", 1000),
    ("h", "min", 60),
    ("s", "ms", 1000),
    ("GiB", "MiB", 1024),
    ("GHz", "MHz", 1000),
    ("l", "ml", 1000),
    ("kW", "W", 1000),
    ("Gbps", "Mbps", 1000),
]


@given(pair=st.sampled_from(UNIT_PAIRS), number=st.integers(1, 9999), other=st.integers(1, 9999))
def test_a_quantity_agrees_in_the_smaller_unit_only_when_equal(
    pair: tuple[str, str, int], number: int, other: int
) -> None:
    large, small, factor = pair
    assert grounds(("x", f"{number} {large}"), f"{number * factor} {small}")
    if number != other:
        assert not grounds(("x", f"{other} {large}"), f"{number * factor} {small}")


@given(number=st.decimals(min_value=1, max_value=10**6, places=4), places=st.integers(1, 3), off=st.integers(1, 500))
def test_a_rounded_quantity_agrees_within_half_its_last_place(number: Decimal, places: int, off: int) -> None:
    step = Decimal(1).scaleb(-places)
    rounded = number.quantize(step)
    assume(rounded >= 10)
    assert grounds(("weight_kg", float(number)), f"{rounded} kg")
    assert not grounds(("weight_kg", float(number)), f"{rounded + step * (1 + off)} kg")


TEXTS = st.text(
    st.one_of(
        st.sampled_from(list("0123456789.,:-/+$€%°'\"() \n\u00a0\u2009*<>&;\\{}TZPaepmxkMGB")),
        st.characters(),
    ),
    max_size=60,
)
PIECES = (
    "May |June| 20|20,| 2024|2024-|05-|19/|12:|30| AM|pm|+1|(+1)|$|€|1,234|.50| kg| GB|%| hours| min|15|to |and |–|-|<b>"
    "|</b>|&nbsp;|**|\\$|\\text{|}|three |hundred |twenty-|USD |0x|ff|:1a|+49 |(555) |about |over |EST|UTC+2|T07:00|Z|PT2H"
)
SNIPPETS = st.lists(st.sampled_from(PIECES.split("|")), max_size=14).map("".join)


@given(text=st.one_of(TEXTS, SNIPPETS))
def test_spans_are_of_the_text_ordered_and_apart(text: str) -> None:
    end = 0
    for value in find(text):
        assert value.start >= end
        assert value.end > value.start
        assert text[value.start : value.end] == value.text
        for part in value.parts:
            assert value.start <= part.start <= part.end <= value.end
        end = value.end


@given(text=st.one_of(TEXTS, SNIPPETS))
def test_the_same_text_agrees_with_itself(text: str) -> None:
    for value in find(text):
        possible = value.asked or value.wants
        assert agrees(value, value) or not possible


@given(
    key=st.one_of(
        st.none(),
        st.text(max_size=12),
        st.sampled_from(["price", "created_at", "size_bytes", "temp_c", "phone", "duration"]),
    ),
    value=st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, SNIPPETS, st.lists(st.integers(), max_size=2)
    ),
)
def test_every_leaf_can_be_read(key: str | None, value: object) -> None:
    for found in of_leaf(key, value):
        assert isinstance(found, Typed)
        assert isinstance(value, (str, int, float))
        if isinstance(value, str):
            assert value[found.start : found.end] == found.text
