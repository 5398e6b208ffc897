"""The closed set of derivations: each a stream of results, nearest and most plausible first.

Rules
-----
- A family yields what it reaches as (number, inputs); its weight says how rarely such a derivation is right.
- Money comes only from money, percent from two numbers of one kind, a duration from two clock times of one row.
- Counts multiply and never add. Zero and negative results are passed over by the search.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import combinations, islice
from typing import Final, TypeAlias

from otel_footprint.core.evidence.rows import Cell, Row, Table
from otel_footprint.core.evidence.stated import Operand

Result: TypeAlias = "tuple[Decimal, tuple[str, ...]]"

MAX_RUN: Final = 12
MAX_NEAR: Final = 24
"""Stated operands around a value that pairs are made of."""
MAX_ROWS: Final = 24


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of derivation. ``cost`` is the price of one result: lower is tried earlier."""

    name: str
    cost: float
    results: Callable[[], Iterator[Result]]


def spelled(number: Decimal) -> str:
    """A number as a derivation's input."""
    return format(number.normalize(), "f")


def _inputs(numbers: Sequence[Decimal]) -> tuple[str, ...]:
    return tuple(spelled(number) for number in numbers[:16])


def runs(near: Sequence[Operand], at: int) -> Iterator[Result]:
    """Sums of stated values directly before or directly after a place."""
    before = [operand for operand in near if operand.start < at]
    after = [operand for operand in near if operand.start > at]
    before.reverse()
    for side in (before, after):
        total = Decimal(0)
        taken: list[Decimal] = []
        for operand in side[:MAX_RUN]:
            total += operand.number
            taken.append(operand.number)
            if len(taken) > 1:
                yield total, _inputs(taken)


def groups(near: Sequence[Operand], target: Operand) -> Iterator[Result]:
    """Sums of all stated values of the sentence, item, list or object around a place, and of one JSON field."""
    for place in target.places:
        inside = [operand for operand in near if place in operand.places and operand.start != target.start]
        if 1 < len(inside) <= 40:
            yield (
                sum((operand.number for operand in inside), Decimal(0)),
                _inputs([operand.number for operand in inside]),
            )
        before = [operand for operand in inside if operand.start < target.start]
        if 1 < len(before) < len(inside):
            yield (
                sum((operand.number for operand in before), Decimal(0)),
                _inputs([operand.number for operand in before]),
            )
    by_key: dict[str, list[Operand]] = {}
    for operand in near:
        if operand.key is not None:
            by_key.setdefault(operand.key, []).append(operand)
    for place in target.places:
        for operands in by_key.values():
            inside = [operand for operand in operands if place in operand.places]
            if 1 < len(inside) <= 40:
                yield sum((one.number for one in inside), Decimal(0)), _inputs([one.number for one in inside])


def item_ends(near: Sequence[Operand], target: Operand) -> Iterator[Result]:
    """Of the first (and of the last) stated values of the list items or lines around: their difference, their sum."""
    own = dict(target.places)
    block = own.get("block")
    # In a JSON answer a block is a pair: the leaf it stands in, and its number there.
    for kind in ("item", "line"):
        for blocks in ((block,), (_less(block),), None):
            firsts: dict[object, Operand] = {}
            lasts: dict[object, Operand] = {}
            for operand in near:
                places = dict(operand.places)
                place = places.get(kind)
                if (
                    place is None
                    or place == own.get(kind)
                    or (blocks is not None and places.get("block") not in blocks)
                ):
                    continue
                firsts.setdefault(place, operand)
                lasts[place] = operand
            for chosen in (lasts, firsts):
                before = [operand.number for operand in chosen.values() if operand.start < target.start]
                if len(before) > 1:
                    yield abs(before[-1] - before[-2]), _inputs(before[-2:])
                    yield before[-1] + before[-2], _inputs(before[-2:])
                if 2 < len(chosen) <= 40:
                    numbers = [operand.number for operand in chosen.values()]
                    yield sum(numbers, Decimal(0)), _inputs(numbers)


def _less(block: object) -> object:
    if isinstance(block, tuple):
        return (block[0], block[1] - 1)
    return block - 1 if isinstance(block, int) else None


def nearest(near: Sequence[Operand], at: int) -> list[Operand]:
    """The operands around a place, nearest first; one that an earlier sum used up counts as further away."""
    ranked = sorted(near, key=lambda operand: abs(operand.start - at) + 400 * operand.used)
    seen: set[Decimal] = set()
    unique = [one for one in ranked if not (one.number in seen or seen.add(one.number))]  # type: ignore[func-returns-value]
    return unique[:MAX_NEAR]


def neighbour_differences(near: Sequence[Operand], target: Operand) -> Iterator[Result]:
    """Differences with the value beside the target: first from values that earlier differences were taken from."""
    narrow = target.places[0] if target.places else None
    beside = [operand for operand in near if narrow in operand.places]
    before = [operand for operand in near if operand.start < target.start]
    firsts = [*sorted(beside, key=lambda operand: abs(operand.start - target.start))[:2], *before[-1:]]
    bases = sorted(near, key=lambda operand: (-operand.base, abs(operand.start - target.start)))
    seen: set[tuple[Decimal, Decimal]] = set()
    for first in firsts:
        for other in bases[:6]:
            pair = (first.number, other.number)
            if pair not in seen and first.number != other.number:
                seen.add(pair)
                yield abs(first.number - other.number), _inputs((max(pair), min(pair)))


def pairs(ranked: Sequence[Operand]) -> Iterator[Result]:
    """Difference and sum of two stated values, nearest first."""
    for right in range(1, len(ranked)):
        for left in range(right):
            one, other = ranked[left].number, ranked[right].number
            yield abs(one - other), _inputs((max(one, other), min(one, other)))
            yield one + other, _inputs((one, other))


def twice(ranked: Sequence[Operand]) -> Iterator[Result]:
    """Twice or thrice the same stated value is left to ``counted``; here two stated values give or take a third."""
    for first, second, third in combinations(ranked[:8], 3):
        one, two, three = first.number, second.number, third.number
        for total in (one + two - three, one + three - two, two + three - one, one + two + three):
            yield abs(total), _inputs((one, two, three))


def counted(ranked: Sequence[Operand], counts: Sequence[int]) -> Iterator[Result]:
    """A stated value times a small count, nearest of both first."""
    for distance in range(len(ranked) + len(counts) - 1):
        for place in range(min(distance, len(ranked) - 1) + 1):
            if distance - place < len(counts):
                count = counts[distance - place]
                yield ranked[place].number * count, (spelled(ranked[place].number), str(count))


def extremes_counted(near: Sequence[Operand], counts: Sequence[int]) -> Iterator[Result]:
    """The lowest, then the highest stated value times a small count, for where the text speaks of the cheapest."""
    if near:
        numbers = [operand.number for operand in near]
        for number in (min(numbers), max(numbers)):
            for count in counts:
                yield number * count, (spelled(number), str(count))


def runs_counted(near: Sequence[Operand], at: int, counts: Sequence[int]) -> Iterator[Result]:
    """The sum of the two or three values directly before a place times a small count (two legs, three passengers)."""
    before = [operand.number for operand in near if operand.start < at]
    for size in (2, 3):
        if len(before) >= size:
            chosen = before[-size:]
            for count in counts:
                yield sum(chosen, Decimal(0)) * count, (*_inputs(chosen), str(count))


def totals_counted(totals: Iterable[Result], counts: Sequence[int]) -> Iterator[Result]:
    """The sum of a named row's own list, times a small count."""
    for total, inputs in totals:
        for count in counts:
            yield total * count, (*inputs, str(count))


def owned_columns(rows: Sequence[Row], *, money: bool) -> Iterator[Result]:
    """The sum of one field over the list inside a named row (the flights of a reservation)."""
    tables: dict[tuple[Table, str], list[Decimal]] = {}
    for row in rows:
        for cell in row.cells:
            if cell.money == money:
                tables.setdefault((row.table, cell.field), []).append(cell.number)
    seen: set[Decimal] = set()
    for column in tables.values():
        total = sum(column, Decimal(0))
        if len(column) > 1 and total not in seen:
            seen.add(total)
            yield total, _inputs(column)


def kin_differences(
    stated: Sequence[Operand],
    by_number: Mapping[Decimal, Sequence[tuple[Row, Cell]]],
    by_name: Mapping[str, Sequence[Row]],
) -> Iterator[Result]:
    """A stated value of a row less the same field of another row under the same name (one product, two variants' prices)."""
    seen: set[tuple[Decimal, Decimal]] = set()
    for operand in stated[:8]:
        for row, cell in by_number.get(operand.number, ())[:8]:
            last = cell.field.rpartition(".")[2]
            for name in sorted(row.kin):
                for other in by_name.get(name, ())[:MAX_ROWS]:
                    if other is row:
                        continue
                    for theirs in other.cells:
                        pair = (operand.number, theirs.number)
                        if not theirs.money or theirs.number == operand.number or pair in seen:
                            continue
                        if theirs.field.rpartition(".")[2] == last:
                            seen.add(pair)
                            yield abs(operand.number - theirs.number), _inputs((max(pair), min(pair)))


def from_fields(ranked: Sequence[Operand], rows: Sequence[Row]) -> Iterator[Result]:
    """The difference between an amount of a row that is named beside the target and a stated value (balance less payment)."""
    for row in rows[:4]:
        for cell in row.cells[:6]:
            if cell.money:
                for operand in ranked[:3]:
                    yield (
                        abs(cell.number - operand.number),
                        _inputs((max(cell.number, operand.number), min(cell.number, operand.number))),
                    )


def remainders(near: Sequence[Operand], at: int) -> Iterator[Result]:
    """A stated total less the sum of the values directly before the target (what the last payment has to cover)."""
    before = [operand.number for operand in near if operand.start < at]
    for size in (2, 3, 4):
        if len(before) >= size:
            part = sum(before[-size:], Decimal(0))
            larger = dict.fromkeys(number for number in reversed(before[:-size]) if number > part)
            for total in islice(larger, 6):
                yield total - part, _inputs((total, *before[-size:]))


def from_totals(ranked: Sequence[Operand], totals: Iterable[Result]) -> Iterator[Result]:
    """A stated value less the sum of a named row's own list (what was paid before for all its parts)."""
    few = list(islice(totals, 8))
    for operand in ranked[:3]:
        for total, inputs in few:
            yield abs(operand.number - total), (spelled(operand.number), *inputs)


def tagged_sums(rows: Sequence[Row], tags: Container[str], *, money: bool) -> Iterator[Result]:
    """The sum of one field over the rows of a table that share a word which the answer uses (all gift cards)."""
    tables: dict[tuple[Table, str, str], list[Decimal]] = {}
    for row in rows:
        for tag in row.tags:
            if tag in tags:
                for cell in row.cells:
                    if cell.money == money:
                        tables.setdefault((row.table, tag, cell.field), []).append(cell.number)
    for column in tables.values():
        if len(column) > 1:
            yield sum(column, Decimal(0)), _inputs(column)


def with_others(ranked: Sequence[Operand], others: Sequence[Decimal]) -> Iterator[Result]:
    """Differences between a value stated here and one stated in the answer before, then within that answer."""
    for operand in ranked[:4]:
        for other in others:
            yield abs(operand.number - other), _inputs((max(operand.number, other), min(operand.number, other)))
    for one, other in combinations(others[:6], 2):
        yield abs(one - other), _inputs((max(one, other), min(one, other)))


def named_columns(rows: Sequence[Row], *, money: bool) -> Iterator[Result]:
    """The sum over all named rows of one table, by field; then over all named rows with that field."""
    tables: dict[tuple[Table, str], dict[object, Decimal]] = {}
    everywhere: dict[str, dict[object, Decimal]] = {}
    for row in rows:
        for cell in row.cells:
            if cell.money == money:
                identity = frozenset(row.names) or id(row)
                tables.setdefault((row.table, cell.field), {})[identity] = cell.number
                everywhere.setdefault(cell.field, {})[identity] = cell.number
    for column in (*tables.values(), *everywhere.values()):
        if len(column) > 1:
            numbers = list(column.values())
            yield sum(numbers, Decimal(0)), _inputs(numbers)


def named_pairs(rows: Sequence[Row], *, money: bool) -> Iterator[Result]:
    """Difference, then sum, of one field in two or three named rows."""
    columns: dict[str, list[Decimal]] = {}
    for row in rows[:MAX_ROWS]:
        for cell in row.cells:
            if cell.money == money:
                column = columns.setdefault(cell.field, [])
                if cell.number not in column:
                    column.append(cell.number)
    for column in columns.values():
        for one, other in combinations(column[:12], 2):
            yield abs(one - other), _inputs((max(one, other), min(one, other)))
            yield one + other, _inputs((one, other))


def named_triples(rows: Sequence[Row], *, money: bool) -> Iterator[Result]:
    """The sum of one field over three or four named rows."""
    columns: dict[str, list[Decimal]] = {}
    for row in rows[:MAX_ROWS]:
        for cell in row.cells:
            if cell.money == money:
                columns.setdefault(cell.field, []).append(cell.number)
    for size in (3, 4):
        for column in columns.values():
            for chosen in combinations(column[:8], size):
                yield sum(chosen, Decimal(0)), _inputs(chosen)


def fields_counted(rows: Sequence[Row], counts: Sequence[int]) -> Iterator[Result]:
    """An amount of a row that is named beside the target, times a small count."""
    for row in rows[:MAX_ROWS]:
        for cell in row.cells:
            if cell.money:
                for count in counts:
                    yield cell.number * count, (spelled(cell.number), str(count))


def row_lengths(rows: Sequence[Row]) -> Iterator[Result]:
    """How many entries a table has."""
    sizes: dict[Table, int] = {}
    for row in rows:
        sizes[row.table] = sizes.get(row.table, 0) + 1
    for size in sizes.values():
        if size > 1:
            yield Decimal(size), ("rows",)


def clock_spans(rows: Sequence[Row], *, two: bool = False) -> Iterator[Result]:
    """The time between two clock times of one row, in seconds; over midnight too. ``two``: of rows with two times only."""
    for row in rows:
        clocks = row.clocks
        if two and len(clocks) != 2:
            continue
        for first, second in islice(combinations(clocks, 2), 28):
            # The order of the fields says nothing (objects come sorted too), so both ways around midnight count.
            apart = abs(second - first)
            inputs = (spelled_clock(min(first, second)), spelled_clock(max(first, second)))
            yield Decimal(apart * 60), inputs
            if apart < 1440 and max(first, second) < 1440:
                yield Decimal((1440 - apart) * 60), inputs


def date_spans(days: Sequence[date]) -> Iterator[Result]:
    """The time between two stated dates, in seconds."""
    for one, other in combinations(days, 2):
        yield Decimal(abs((one - other).days) * 86_400), (min(one, other).isoformat(), max(one, other).isoformat())


def spelled_clock(minutes: int) -> str:
    """A time of day as a derivation's input, from minutes."""
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def shares(ranked: Sequence[Decimal]) -> Iterator[Result]:
    """One number as a percentage of another, and the change from one to another."""
    for right in range(1, len(ranked)):
        for left in range(right):
            small, large = sorted((ranked[left], ranked[right]))
            if small > 0:
                yield small / large * 100, _inputs((small, large))
                yield (large - small) / small * 100, _inputs((large, small))
                yield (large - small) / large * 100, _inputs((large, small))
