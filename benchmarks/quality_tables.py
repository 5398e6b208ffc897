"""The figures as tables: the same text for the terminal and for the page, between its markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from quality_figures import CheckerFigures, Hits, OwnFigures
from quality_gold import Score
from quality_mutants import KINDS

from otel_footprint.core.evidence.verdicts import STATUSES

NAMES = {
    "tau_airline": "tau-bench airline",
    "tau_retail": "tau-bench retail",
    "tau2_airline": "tau2-bench airline",
    "tau2_retail": "tau2-bench retail",
    "tau_assertions": "planner agents, retail",
    "d2t": "d2t (data to text)",
    "rotowire": "rotowire (box scores)",
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table with columns of equal width."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    spelled = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([spelled[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *spelled[1:]])


def share(hits: Hits) -> str:
    """``3 of 293 (1.0 %)``; a dash for none of none."""
    hit, done = hits
    return f"{hit} of {done} ({percent(hit, done)})" if done else "–"


def percent(hit: int, done: int) -> str:
    """A share with one decimal; never rounded up to all."""
    if not done:
        return "–"
    exact = 100 * hit / done
    return "100 %" if hit == done else f"{min(exact, 99.9):.1f} %"


def corpora(figures: Mapping[str, OwnFigures]) -> str:
    """Answers, verdicts and times by corpus."""
    rows = [
        [
            NAMES[name],
            str(one.answers),
            str(one.with_data),
            f"{one.flagged} ({percent(one.flagged, one.with_data)})",
            f"{one.inconclusive} ({percent(one.inconclusive, one.with_data)})",
            str(one.misplaced),
            f"{one.median_ms:.2f} ms",
            f"{one.p99_ms:.0f} ms",
        ]
        for name, one in figures.items()
    ]
    return table(("corpus", "answers", "with data", "flagged", "inconclusive", "misplaced", "median", "p99"), rows)


def statuses(figures: Mapping[str, OwnFigures]) -> str:
    """Values by status; flagged ones in brackets."""
    used = [status for status in STATUSES if any(one.statuses[status] for one in figures.values())]
    rows = [
        [
            NAMES[name],
            *(
                str(one.statuses[status])
                + (f" ({one.flagged_values[status]} flagged)" if one.flagged_values[status] else "")
                for status in used
            ),
        ]
        for name, one in figures.items()
    ]
    return table(("values", *used), rows)


def recall(by_corpus: Mapping[str, CheckerFigures], together: CheckerFigures) -> str:
    """Mutation recall of the product by class and corpus."""
    names = list(by_corpus)
    rows = []
    for kind in (*KINDS, "money, both"):
        cells = [_of(one.recall, kind) for one in (*by_corpus.values(), together)]
        if cells[-1][1]:
            *each, total = cells
            rows.append([kind, *("–" if not done else f"{hit}/{done}" for hit, done in each), share(total)])
    return table(("changed digit in", *names, "together"), rows)


def _of(found: Mapping[str, Hits], kind: str) -> Hits:
    if kind != "money, both":
        return found.get(kind, (0, 0))
    parts = [found.get(one, (0, 0)) for one in KINDS if one.startswith("money")]
    return sum(hit for hit, _ in parts), sum(done for _, done in parts)


def side_by_side(checkers: Sequence[CheckerFigures], corpora_shown: Sequence[str]) -> str:
    """False alarms and time of every checker."""
    rows = []
    for one in checkers:
        total = tuple(map(sum, zip(*one.flagged.values(), strict=True)))
        rows.append(
            [
                one.name,
                *(percent(*one.flagged[name]) for name in corpora_shown),
                percent(*total),
                f"{one.median_ms:.1f} / {one.p99_ms:.0f} ms",
            ]
        )
    return table(("flagged answers", *(NAMES[name] for name in corpora_shown), "together", "median / p99"), rows)


def recall_side_by_side(checkers: Sequence[CheckerFigures]) -> str:
    """Mutation recall of every checker on the same mutants."""
    kinds = [kind for kind in KINDS if any(one.recall.get(kind) for one in checkers)]
    rows = []
    for one in checkers:
        total = tuple(map(sum, zip(*one.recall.values(), strict=True)))
        rows.append([one.name, *(percent(*one.recall.get(kind, (0, 0))) for kind in kinds), percent(*total)])
    counts = [str(next(one.recall[kind][1] for one in checkers if kind in one.recall)) for kind in kinds]
    rows.append(["cases", *counts, str(sum(map(int, counts)))])
    return table(("changed digit in", *kinds, "all"), rows)


def gold(scores: Mapping[str, tuple[Score, Score]]) -> str:
    """Precision and recall against what people marked."""
    rows = []
    for name, (d2t, rotowire) in scores.items():
        rows.append(
            [
                name,
                str(d2t.flags),
                percent(d2t.right, d2t.flags),
                percent(d2t.found, d2t.errors),
                percent(d2t.all_found, d2t.all_errors),
                str(rotowire.flags),
                percent(rotowire.right, rotowire.flags),
                percent(rotowire.found, rotowire.errors),
            ]
        )
    head = (
        "checker",
        "d2t: flags",
        "right",
        "spans with a number found",
        "all spans found",
        "rotowire: flags",
        "right",
        "wrong numbers found",
    )
    return table(head, rows)


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text between the markers of that name. Raises ValueError when the page has none."""
    begin, end = f"<!-- figures: {name} -->", f"<!-- end of figures: {name} -->"
    content = page.read_text(encoding="utf-8")
    if begin not in content or end not in content:
        raise ValueError(f"{page} has no markers for {name!r}")
    head, rest = content.split(begin, 1)
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")
