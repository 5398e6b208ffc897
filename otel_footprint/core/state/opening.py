"""Opening a conversation that was restored without its texts: what a call shows is recognised and taken in again.

Rules
-----
- A message is recognised by its key, any other text by its digest: words, results, arguments, system instructions. What is
  recognised takes the place that was kept for it, with its birth, its turn and its name; nothing is counted twice.
- A text is looked at once: a window that was sent before costs a look at the keys of its messages.
- What does not come by again stays away; a thread that lacks something says so (``unseen_history``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_footprint.core.call import Call
from otel_footprint.core.evidence.reader import without_looked_for
from otel_footprint.core.evidence.saving import digests, open_texts
from otel_footprint.core.messages import (
    Message,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
    canonical_json,
    content_text,
)
from otel_footprint.core.state.values import SavedSession
from otel_footprint.core.stubs import Digest, Stub, digest_in, digest_of
from otel_footprint.core.thread import Thread, without_system

if TYPE_CHECKING:
    from otel_footprint.core.session import Session

_LOOKED_AT: Final = 100_000
"""Keys of messages that are remembered as looked at."""


@dataclass(frozen=True, slots=True)
class SealedWords:
    """Words that are in no message, or evidence that was handed in under a name."""

    digest: Digest
    name: str | None = None


@dataclass
class Opening:
    """What a restored conversation lacks. ``words`` are those of the conversation itself, for threads to come."""

    session: Session
    words: tuple[SealedWords, ...] = ()
    looked_at: set[bytes] = field(default_factory=set)

    @property
    def done(self) -> bool:
        """Whether nothing is lacking that could come by again."""
        return not self.words and not any(map(_lacks, self.session.index))

    def show(self, call: Call, instruction: str) -> None:
        """A call is about to be taken in: recognise what it shows. ``instruction`` is its system text, digits made alike."""
        messages = [*call.system, *call.messages]
        if call.planned is not None:
            messages += call.planned.unseen
        new = [message for message in messages if message.key not in self.looked_at]
        if len(self.looked_at) < _LOOKED_AT:
            self.looked_at.update(message.key for message in new)
        threads = list(self.session.index)
        if new:
            known = {message.key: message for message in new}
            self._tell(text for message in new for text in texts_of(message))
            for thread in threads:
                _recognise(thread, known)
        for thread in threads:
            if _is(thread.instruction, instruction):
                thread.instruction = instruction
            beginning = digest_in(thread.first_system)
            if beginning is not None and _is(thread.first_system, instruction[: beginning.chars]):
                thread.first_system = instruction[: beginning.chars]

    def said(self, text: str, name: str | None = None) -> None:
        """Words are said, or evidence is handed in under a name, anew."""
        self._tell((text,))
        digest = Digest(digest_of(text), len(text))
        self.words = tuple(one for one in self.words if one.name != name or one.digest != digest)

    def _tell(self, texts: Iterable[str]) -> None:
        known = {digest_of(text): text for text in texts if text}
        for thread in self.session.index:
            open_texts(thread.corpus, known)
            final = digest_in(thread.final)
            if final is not None and final.digest in known:
                thread.final = known[final.digest]


def _lacks(thread: Thread) -> bool:
    stubs = (*thread.sent, *thread.system, *(thread.attempted or ()), *(slot.message for slot in thread.outputs))
    marks = (thread.instruction, thread.first_system, thread.final)
    return (
        any(digest_in(text) is not None for text in marks)
        or any(isinstance(message, Stub) for message in stubs)
        or bool(digests(thread.corpus))
    )


def sealed_words(saved: SavedSession) -> tuple[SealedWords, ...]:
    """The words and handed-in texts of a conversation that are known by their digest only."""
    named = [SealedWords(content, name) for name, content in saved.handed_in if isinstance(content, Digest)]
    return (*named, *(SealedWords(content) for content in saved.said if isinstance(content, Digest)))


def texts_of(message: Message) -> Iterator[str]:
    """Every text of a message that evidence may hold, as evidence holds it."""
    text = message.text
    if text:
        yield text
        yield text.strip()
        if message.role == "system":
            yield "\n".join(text.splitlines())
    for part in message.parts:
        match part:
            case ToolCall(arguments=arguments) | ServerToolCall(arguments=arguments):
                yield (
                    arguments if isinstance(arguments, str) else "" if arguments is None else canonical_json(arguments)
                )
            case ToolResult(content=content) | ServerToolResult(content=content):
                body = content_text(content)
                yield body
                yield body.strip()
                yield without_looked_for(body)
            case Text():
                pass
            case _:
                pass


def _recognise(thread: Thread, known: Mapping[bytes, Message]) -> None:
    """Put messages in the place of their stubs."""

    def real(message: Message) -> Message:
        return known.get(message.key, message) if isinstance(message, Stub) else message

    for slot in (*thread.slots, *thread.outputs):
        slot.message = real(slot.message)
    thread.system = tuple(map(real, thread.system))
    if thread.attempted is not None:
        thread.attempted = tuple(map(real, thread.attempted))
    thread.sent = tuple(slot.message for slot in thread.slots)
    thread.plain = without_system(thread.sent)


def _is(mark: str, text: str) -> bool:
    """Whether a mark stands for this text."""
    digest = digest_in(mark)
    return digest is not None and digest == Digest(digest_of(text), len(text))
