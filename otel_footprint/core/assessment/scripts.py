"""Compares the code an answer shows with the scripts that were submitted to a code tool in the same turn.

Rules
-----
- A block is a fenced part of the answer (three or more backticks or tildes, closed by as many or by the end of the text).
  At most ``BLOCKS_LIMIT`` are read.
- The comparison is exact, byte by byte, after line ends are one kind and the ones at the end are gone. Nothing is
  guessed: code that differs by a space is another script.
- A script is what a declared code tool was given: its whole text where the arguments are text, else the argument that was
  named, else the only text among them.
- Where one script was submitted several times, the last submission counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.assessment.witness import ScriptLabel, ScriptShownRow
from otel_footprint.core.messages import Json

BLOCKS_LIMIT: Final = 32
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_EXIT: Final = ("exit_code", "exitCode", "returncode", "return_code")


@dataclass(frozen=True, slots=True)
class Submission:
    """One script that was given to a code tool. ``dispatch`` counts from 1 in the turn; ``done`` says a result was seen."""

    script: str
    tool: str
    tool_call_id: str | None
    dispatch: int
    done: bool = False
    exit_code: int | None = None
    is_error: bool = False


def script_of(arguments: Json, parameter: str | None = None) -> str | None:
    """The script in the arguments of a code tool's call; None where it is not clear which argument it is."""
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, Mapping):
        return None
    if parameter is not None:
        named = arguments.get(parameter)
        return named if isinstance(named, str) else None
    texts = [value for value in arguments.values() if isinstance(value, str)]
    for name in ("code", "script", "source", "input"):
        if isinstance(arguments.get(name), str):
            return str(arguments[name])
    return texts[0] if len(texts) == 1 else None


def exit_code_of(content: Json) -> int | None:
    """The exit code that a code tool's result states; None where it states none."""
    if not isinstance(content, Mapping):
        return None
    for name in _EXIT:
        code = content.get(name)
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


def blocks_of(answer: str) -> list[str]:
    """The fenced blocks of an answer, in order, without their fences."""
    blocks: list[str] = []
    fence = ""
    lines: list[str] = []
    for line in _lines(answer):
        match = _FENCE.match(line)
        if not fence:
            if match is not None and not (match.group(1)[0] == "`" and "`" in match.group(2)):
                fence, lines = match.group(1), []
        elif match is not None and match.group(1).startswith(fence) and not match.group(2).strip():
            blocks.append("\n".join(lines))
            fence = ""
        else:
            lines.append(line)
        if len(blocks) == BLOCKS_LIMIT:
            return blocks
    return [*blocks, "\n".join(lines)] if fence else blocks


def script_rows(
    answer: str, submissions: Sequence[Submission], *, turn: int, iteration: int
) -> tuple[ScriptShownRow, ...]:
    """One row for each block the answer shows."""
    known = {_normal(one.script): one for one in submissions}
    rows: list[ScriptShownRow] = []
    for number, block in enumerate(blocks_of(answer), 1):
        found = known.get(_normal(block))
        if found is None:
            rows.append(
                ScriptShownRow(
                    turn=turn,
                    iteration=iteration,
                    block=number,
                    label="unmatched",
                    reason="no-equal" if submissions else "no-submissions",
                )
            )
        else:
            rows.append(
                ScriptShownRow(
                    turn=turn,
                    iteration=iteration,
                    block=number,
                    label=_label(found),
                    tool_call_id=found.tool_call_id,
                    tool=found.tool,
                    dispatch=found.dispatch,
                    exit_code=found.exit_code,
                )
            )
    return tuple(rows)


def _label(submission: Submission) -> ScriptLabel:
    if not submission.done:
        return "submitted"
    return "failed" if submission.is_error or submission.exit_code else "ran"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _normal(script: str) -> str:
    return "\n".join(_lines(script)).rstrip("\n")
