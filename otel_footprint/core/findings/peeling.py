"""Takes the reserved key out of a JSON object as its text arrives, and leaves every other byte as it is.

Rules
-----
- Only a member of the outermost object is taken out, with one comma beside it, so that what is left is JSON when the whole
  was. Text that does not open with ``{`` passes as it is.
- What comes out does not depend on how the text was cut into pieces.
- Nothing is held back but a comma, white space and what may still become the reserved key.
- A key is compared by what it says: ``"\\u005ffindings"`` is the same key.
- A reserved member that breaks off stays out of what the application sees; text that only might have become the key is
  given out at the end.
"""

from __future__ import annotations

import json
import re
from enum import Enum, auto
from typing import Final

RESERVED: Final = "_findings"

_PLAIN: Final = re.compile(r'[^"{}\[\],]+')
_IN_STRING: Final = re.compile(r'[^"\\]+')
_SPACE: Final = " \t\n\r"
_SPACES: Final = re.compile(r"[ \t\n\r]+")


class _State(Enum):
    START = auto()  # before the outermost object
    MEMBER = auto()  # where a member of the outermost object may begin
    KEY = auto()  # inside a key that may be the reserved one
    COLON = auto()  # after the reserved key
    REMOVED = auto()  # inside the value of the reserved key
    AFTER_REMOVED = auto()  # behind that value
    INSIDE = auto()  # inside the outermost object, not where a member begins
    PASSING = auto()  # behind it, or in a text that has none


class Peeler:
    """Feed it the text in pieces; each call gives what the application may see of it so far.

    ``removed`` are the raw texts of the reserved values that were taken out, in order; ``broken`` says that the text ended
    inside one.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._held: list[str] = []
        self._key = ""
        self._space_behind: list[str] = []
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._first = True
        self._value: list[str] = []
        self._value_depth = 0
        self.removed: list[str] = []
        self.broken = False

    def feed(self, piece: str) -> str:
        """Take the next piece in; what may be seen now, possibly empty."""
        out: list[str] = []
        at = 0
        while at < len(piece):
            at = self._step(piece, at, out)
        return "".join(out)

    def close(self) -> str:
        """The text has ended: what was held back and is no reserved member."""
        self.broken = self._state in (_State.COLON, _State.REMOVED)
        rest = "" if self.broken else "".join(self._held) + self._key
        self._held, self._key = [], ""
        self._state = _State.PASSING
        return rest

    def _step(self, piece: str, at: int, out: list[str]) -> int:
        """Take in at least one character from ``at`` on; the place of the next one."""
        match self._state:
            case _State.PASSING:
                out.append(piece[at:])
                return len(piece)
            case _State.START:
                return self._start(piece, at, out)
            case _State.MEMBER:
                return self._member(piece, at, out)
            case _State.KEY:
                return self._key_goes_on(piece, at, out)
            case _State.COLON:
                return self._colon(piece, at, out)
            case _State.REMOVED:
                return self._skip(piece, at)
            case _State.AFTER_REMOVED:
                return self._after(piece, at, out)
            case _State.INSIDE:
                return self._inside(piece, at, out)

    def _start(self, piece: str, at: int, out: list[str]) -> int:
        char = piece[at]
        out.append(char)
        if char == "{":
            self._depth = 1
            self._state = _State.MEMBER
        elif char not in _SPACE and char != "\ufeff":
            self._state = _State.PASSING
        return at + 1

    def _member(self, piece: str, at: int, out: list[str]) -> int:
        space = _SPACES.match(piece, at)
        if space is not None:
            self._held.append(space.group())
            return space.end()
        if piece[at] == '"':
            self._key = '"'
            self._escaped = False
            self._state = _State.KEY
            return at + 1
        self._release(out, _State.INSIDE)  # the end of the object, or no JSON
        return at

    def _key_goes_on(self, piece: str, at: int, out: list[str]) -> int:
        char = piece[at]
        self._key += char
        if char == '"' and not self._escaped:
            if _says(self._key) == RESERVED:
                self._state = _State.COLON
            else:
                self._release(out, _State.INSIDE)
            return at + 1
        self._escaped = char == "\\" and not self._escaped
        if not _may_become(self._key):
            self._release(out, _State.INSIDE)
            self._in_string = True
        return at + 1

    def _colon(self, piece: str, at: int, out: list[str]) -> int:
        space = _SPACES.match(piece, at)
        if space is not None:
            self._space_behind.append(space.group())
            return space.end()
        if piece[at] == ":":
            self._held, self._key, self._space_behind = [], "", []
            self._begin_value()
        else:
            self._key += "".join(self._space_behind)
            self._space_behind = []
            self._release(out, _State.PASSING)  # no JSON
            out.append(piece[at])
        return at + 1

    def _begin_value(self) -> None:
        self._state = _State.REMOVED
        self._value = []
        self._value_depth = 0
        self._in_string = self._escaped = False

    def _skip(self, piece: str, at: int) -> int:
        """Swallow the reserved value; it ends before the comma or bracket that is not its own."""
        while at < len(piece):
            if self._in_string:
                at = self._string(piece, at, self._value)
                continue
            plain = _PLAIN.match(piece, at)
            if plain is not None:
                self._value.append(plain.group())
                at = plain.end()
                continue
            char = piece[at]
            if char in ",}]" and self._value_depth == 0:
                self.removed.append("".join(self._value).strip())
                self._state = _State.AFTER_REMOVED
                return at
            self._value.append(char)
            at += 1
            if char == '"':
                self._in_string = True
            elif char in "{[":
                self._value_depth += 1
            elif char in "}]":
                self._value_depth -= 1
        return at

    def _after(self, piece: str, at: int, out: list[str]) -> int:
        if self._first and piece[at] == ",":
            self._state = _State.MEMBER  # it took no comma before it, so it takes the one behind it
            return at + 1
        self._state = _State.INSIDE
        return at

    def _inside(self, piece: str, at: int, out: list[str]) -> int:
        if self._in_string:
            return self._string(piece, at, out)
        plain = _PLAIN.match(piece, at)
        if plain is not None:
            out.append(plain.group())
            if self._first and plain.group().strip(_SPACE):
                self._first = False
            return plain.end()
        char = piece[at]
        if char == "," and self._depth == 1:
            self._first = False
            self._held = [","]
            self._state = _State.MEMBER
            return at + 1
        out.append(char)
        if char == '"':
            self._in_string = True
            self._first = False
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            if self._depth == 0:
                self._state = _State.PASSING
        return at + 1

    def _string(self, piece: str, at: int, out: list[str]) -> int:
        if self._escaped:
            out.append(piece[at])
            self._escaped = False
            return at + 1
        plain = _IN_STRING.match(piece, at)
        if plain is not None:
            out.append(plain.group())
            return plain.end()
        char = piece[at]
        out.append(char)
        if char == "\\":
            self._escaped = True
        else:
            self._in_string = False
        return at + 1

    def _release(self, out: list[str], state: _State) -> None:
        """Give out what was held, since it is none of ours."""
        if self._key:
            self._first = False
        out += self._held
        out.append(self._key)
        self._held, self._key = [], ""
        self._state = state
        self._in_string = False


def _says(key: str) -> str | None:
    try:
        said = json.loads(key)
    except ValueError:
        return None
    return said if isinstance(said, str) else None


_UNFINISHED: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


def _may_become(key: str) -> bool:
    """Whether a key that is still arriving (with its opening quote) can still turn out to be the reserved one."""
    if "\\" not in key:
        return RESERVED.startswith(key[1:])
    unfinished = _UNFINISHED.search(key)
    said = _says((key if unfinished is None else key[: unfinished.start()]) + '"')
    return said is not None and RESERVED.startswith(said) and (unfinished is None or said != RESERVED)


def peel_text(text: str) -> tuple[str, list[str]]:
    """A whole text without its reserved member, and the raw values taken out. The same text where there was none."""
    if RESERVED not in text and "\\u" not in text:
        return text, []
    peeler = Peeler()
    seen = peeler.feed(text) + peeler.close()
    return seen, peeler.removed
