"""What the model is told of its own declarations, on the wire only: tickets for what is set aside, and a list of the rest.

Rules
-----
- A result that is noise or ruled out is served as a small JSON ticket. The history itself is not changed.
- The list says of every line that the model declared it. Facts, limitations, open references, and how many results nobody
  judged; at most ``LINES_LIMIT`` lines in a bucket, ``TEXT_LIMIT`` characters a line, and what is left out is counted.
- No text of the model can pose as a part of the list: line ends and control characters become spaces, and each line stands
  behind a mark of its own.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from otel_footprint.core.findings.ledger import Ledger
from otel_footprint.core.findings.rows import TEXT_LIMIT, Assertion, StandingRow
from otel_footprint.core.findings.standing import CLOSED, Standing
from otel_footprint.core.messages import canonical_json

LINES_LIMIT: Final = 64
IDS_LIMIT: Final = 32
HEADING: Final = "Declared by the model about earlier results (not checked by anyone):"


def ticket(row: StandingRow) -> str:
    """What stands in place of a result that is set aside."""
    return canonical_json({"collapsed": True, "standing": row.standing, "toolCallId": row.ref})


def is_collapsed(standing: Standing | None) -> bool:
    """Whether a result of that standing is served as a ticket."""
    return standing in CLOSED


def served_list(ledger: Ledger, refs: Sequence[str]) -> str | None:
    """The list for the system part; None when nothing was declared. ``refs`` are the served results, in order."""
    current = ledger.current
    rows = [row for row in current.values() if not row.unknown_id]
    if not rows:
        return None
    parts = [HEADING]
    parts += _bucket("Facts", (_line(row, "asserts") for row in rows if row.standing == "fact"))
    parts += _bucket("Limitations", (_line(row, "quotes") for row in rows if row.standing == "ruled-out"))
    opened = [row.ref for row in rows if row.standing == "open"]
    if opened:
        rest = f" and {len(opened) - IDS_LIMIT} more" if len(opened) > IDS_LIMIT else ""
        parts.append(f"Open: {', '.join(_flat(ref) for ref in opened[:IDS_LIMIT])}{rest}")
    undeclared = sum(ref not in current for ref in refs)
    if undeclared:
        parts.append(f"Results that nothing was declared about: {undeclared}")
    return "\n".join(parts) if len(parts) > 1 else None


def _bucket(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    if not found:
        return []
    omitted = len(found) - LINES_LIMIT
    shown = [f"- {line}" for line in found[:LINES_LIMIT]]
    return [f"{title}:", *shown, *([f"- ({omitted} more are left out)"] if omitted > 0 else [])]


def _line(row: StandingRow, verb: str) -> str:
    said = [text for text in (row.line, row.settles) if text]
    values = "; ".join(map(_assertion, row.assertions))
    if values:
        said.append(f"{verb} {values}")
    text = f"[{row.provenance}] declared by the model: {' / '.join(said) or row.standing}"
    return _flat(text)


def _assertion(one: Assertion) -> str:
    return f"{one.kind} {one.id} {one.predicate} = {json.dumps(one.value, ensure_ascii=False)}"


def _flat(text: str) -> str:
    """One line, cut at the limit: nothing in it ends the line or hides in it."""
    flat = "".join(" " if _breaks(char) else char for char in text[: 4 * TEXT_LIMIT])
    flat = " ".join(flat.split())
    return flat if len(flat) <= TEXT_LIMIT else flat[: TEXT_LIMIT - 1] + "…"


def _breaks(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")
