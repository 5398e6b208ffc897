"""The code blocks of the documentation, with what stands hidden before them.

A block may have HTML comments directly before it, which a reader of the page does not see:

- ``<!-- before: … -->``: Python (or shell) that runs first, in the same namespace (or shell);
- ``<!-- file NAME: … -->``: a file that is there in the block's folder;
- ``<!-- script: … -->``: what the scripted provider says, as a Python list of steps; else it says "Hello." for ever;
- ``<!-- run by .ci/run -->``: the block's commands are run by CI itself, line by line, and not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--\s*(before:|file [\w.\-/]+:|script:|run by \.ci/run)((?:(?!-->).)*)-->\s*\Z", re.DOTALL)

RUN = ("python", "bash")
PARSED = ("toml", "yaml", "json")
SHOWN = ("text", "console", "mermaid")


@dataclass(frozen=True)
class Block:
    """One fenced block. ``line`` is where its first line stands in the page, from 1."""

    page: str
    line: int
    language: str
    code: str
    before: str = ""
    script: str = ""
    run_by_ci: bool = False
    files: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(path: Path, page: str) -> Iterator[Block]:
    """Every fenced block of the page, in order."""
    text = path.read_text()
    for match in _FENCE.finditer(text):
        before, script, run_by_ci = "", "", False
        files: dict[str, str] = {}
        head = text[: match.start()]
        while comment := _COMMENT.search(head):
            head = head[: comment.start()]
            kind, body = comment.group(1), comment.group(2).strip("\n") + "\n"
            if kind == "before:":
                before = body + before
            elif kind == "script:":
                script = body
            elif kind.startswith("file "):
                files[kind[5:-1]] = body
            else:
                run_by_ci = True
        line = text.count("\n", 0, match.start()) + 2
        yield Block(page, line, match.group(1), match.group(2), before, script, run_by_ci, files)
