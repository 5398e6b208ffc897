"""The drop notice: the one message that says to the model that earlier messages left its window.

Rules
-----
- Every character is ours but the names of tools, of which at most ``NAMES_LIMIT`` go in, the ones that left last. A name goes
  in whole and only if it is a plain identifier; any other is left out, never cut. No text of a person, a model or a tool.
- It opens with ``NOTICE_PREFIX``, which does not change. A message is a notice when it is authored as one, or when all of its
  text is exactly what we write: a person who quotes the opening still said what they said.
- It is a user message: it may have to take the head of the window, which some providers accept only from a user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from otel_footprint.core.messages import Message, Text

NOTICE_PREFIX: Final = "[otel-footprint notice]"
NAMES_LIMIT: Final = 4
PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.:-]{1,48}")

_REQUEST_KEPT: Final = " The current request was kept."
_RESULTS: Final = " Tool results are among them"
_AGAIN: Final = ": call the tool again if you need one."
_WHERE: Final = " They are in the record of this trace."
_NAME: Final = PLAIN_NAME.pattern
_NOTICE: Final = re.compile(
    rf"{re.escape(NOTICE_PREFIX)} \d+ earlier messages? left this window at iteration \d+, by the strategy {_NAME}\."
    rf"(?:{re.escape(_REQUEST_KEPT)})?"
    rf"(?:{re.escape(_RESULTS)}(?: \({_NAME}(?:, {_NAME}){{0,{NAMES_LIMIT - 1}}}(?: and others)?\))?{re.escape(_AGAIN)})?"
    rf"{re.escape(_WHERE)}"
)


def drop_notice(
    *, left: int, iteration: int, strategy: str, request_kept: bool, tools: Sequence[str | None], named: bool
) -> Message:
    """The notice of one drop.

    ``left`` counts messages; ``tools`` are the tools whose results left, in order, None where one cannot be named; with
    ``named`` the names go in.
    """
    text = [
        f"{NOTICE_PREFIX} {left} earlier message{'' if left == 1 else 's'} left this window at iteration {iteration}, "
        f"by the strategy {strategy if PLAIN_NAME.fullmatch(strategy) else 'unnamed'}."
    ]
    if request_kept:
        text.append(_REQUEST_KEPT)
    if tools:
        names = spoken_names(tools) if named else ()
        text.append(_RESULTS)
        if names:
            others = " and others" if set(tools) - set(names) else ""
            text.append(f" ({', '.join(names)}{others})")
        text.append(_AGAIN)
    text.append(_WHERE)
    return Message("user", (Text("".join(text)),), authored="notice")


def spoken_names(tools: Sequence[str | None]) -> tuple[str, ...]:
    """The names that may stand in a notice, in the order they left: plain identifiers, the last ones where there are many."""
    newest: dict[str, None] = {}
    for tool in reversed(tools):
        if tool is not None and tool not in newest and PLAIN_NAME.fullmatch(tool):
            newest[tool] = None
            if len(newest) == NAMES_LIMIT:
                break
    return tuple(reversed(newest))


def is_notice(message: Message) -> bool:
    """Whether the message is a drop notice of ours."""
    if message.role != "user":
        return False
    if message.authored is not None:
        return message.authored == "notice"
    text = message.text
    return text.startswith(NOTICE_PREFIX) and _NOTICE.fullmatch(text) is not None
