"""Which messages are ours by their words alone, where nothing else is left to tell: in a trace that was recorded.

Rules
-----
- Only what we write word for word is ours: a drop notice as a whole, a summary by its label, a correction by its first part.
  A person who quotes the opening of one said what they said.
"""

from __future__ import annotations

import re
from typing import Final

from otel_footprint.core.messages import Authored, Message
from otel_footprint.core.revision import is_correction
from otel_footprint.core.window.notice import is_notice
from otel_footprint.core.window.summary import SUMMARY_PREFIX

_LABEL: Final = re.compile(
    rf"{re.escape(SUMMARY_PREFIX)} Written by the model .{{1,200}}?, not by a person, in place of \d+ earlier messages?\. "
)


def who_wrote(message: Message) -> Authored | None:
    """Who else than a person or the application wrote this message, as far as its words tell; None: nobody else."""
    if message.role != "user" or message.authored is not None:
        return message.authored
    if is_notice(message):
        return "notice"
    text = message.text
    if is_correction(text):
        return "correction"
    return "summary" if _LABEL.match(text) else None
