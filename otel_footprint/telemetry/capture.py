"""What may leave the process: the capture levels, and the hash that stands in for a message.

Rules
-----
- ``none``: names, closed words, counts, ids and hashes. ``flagged``: also the text of flagged values, and of arguments'
  values that nothing accounts for. ``all``: the text of every value of an answer or argument, and what the model says in
  findings. The text of messages, arguments and results at no level, nor the operands of a derivation.
- A message, and a text of a finding, is named by a keyed hash: a plain one of "yes" or of a card number could be looked up.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import Final, Literal, TypeAlias

from otel_footprint.core.evidence.verdicts import ArgumentValue, Value

CaptureLevel: TypeAlias = Literal["none", "flagged", "all"]

_MAX_KEY_BYTES: Final = 64


class Capture:
    """One capture level, and one key for the hashes.

    ``hash_key`` None or empty is a key of 32 random bytes: the hashes then compare within this process only.
    """

    __slots__ = ("_key", "_level")

    def __init__(self, level: CaptureLevel, hash_key: bytes | None) -> None:
        self._level = level
        key = hash_key or secrets.token_bytes(32)
        self._key = key if len(key) <= _MAX_KEY_BYTES else blake2b(key).digest()

    def shows(self, value: Value | ArgumentValue) -> bool:
        """Whether the text of this value may leave."""
        bad = value.flagged if isinstance(value, Value) else value.unaccounted
        return self._level == "all" or (self._level == "flagged" and bad)

    @property
    def shows_findings(self) -> bool:
        """Whether what the model says in findings may leave."""
        return self._level == "all"

    def text_hash(self, text: str) -> str:
        """32 hexadecimal digits that name a text of the model."""
        return self.content_hash(text.encode("utf-8", "surrogatepass"))

    def content_hash(self, message_key: bytes) -> str:
        """32 hexadecimal digits that name the message whose ``Message.key`` this is."""
        return blake2b(message_key, digest_size=16, key=self._key).hexdigest()
