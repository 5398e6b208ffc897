"""A line of the store, what is asked of it, and which lines a call may go on with at all; the rules are those of ``lines``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from typing import Final, TypeAlias

from otel_footprint.core.messages import Message
from otel_footprint.core.window.line import Keys, State
from otel_footprint.core.window.observe import alike

_STRONG_OUTPUT: Final = 32
_FORMER: Final = 8
Opening: TypeAlias = tuple[int, bytes]
"""How many characters a system instruction had, and their digest."""


class How(Enum):
    """How a list goes on with a line."""

    AGAIN = "again"
    APPEND = "append"
    REWRITTEN = "rewritten"
    FORKED = "forked"


@dataclass(eq=False)
class Line:
    """One planned history. ``done`` is its last completed call, ``tried`` one under way or, with ``failed``, one that was not.

    ``version`` grows with every call that is committed; ``hint`` is the conversation and the thread it was found to be.
    ``former`` are instructions that it went under, ``opening`` is the one it started with, None where that is not known.
    """

    conversation: str | None
    instruction: str
    agent: str | None
    tools: frozenset[str]
    done: State | None = None
    tried: State | None = None
    failed: bool = False
    version: int = 0
    hint: tuple[str, int] | None = None
    trace: int | None = None
    touched: float = 0.0
    order: int = 0
    size: int = 0
    former: tuple[str, ...] = ()
    opening: Opening | None = None

    def asked(self, asked: Asked) -> None:
        """A call goes on with it: it is under that call's instruction, agent and tools now."""
        if self.opening is None and not self.version and self.done is None:
            self.opening = opening_of(asked.envelope, len(asked.envelope))
        if self.instruction != asked.instruction:
            former = [each for each in self.former if each not in (self.instruction, asked.instruction)]
            self.former = (*former, self.instruction)[-_FORMER:]
        self.instruction, self.agent, self.tools, self.trace = asked.instruction, asked.agent, asked.tools, asked.trace

    def apart(self) -> Line:
        """A line of its own for a call of this history that this line does not go on with."""
        return Line(
            self.conversation, self.instruction, self.agent, self.tools, former=self.former, opening=self.opening
        )

    @property
    def running(self) -> bool:
        """Whether a call of it is under way."""
        return self.tried is not None and not self.failed


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked up: a call's list, and what ties it to a line. ``held``: the list is only what is new.

    ``envelope`` is the text of which ``instruction`` is the digest.
    """

    messages: Sequence[Message]
    keys: Keys
    conversation: str | None
    instruction: str
    agent: str | None
    tools: frozenset[str]
    trace: int | None
    held: bool = False
    envelope: str = ""

    def admits(self, line: Line) -> bool:
        """Whether the line is a candidate."""
        return line.conversation == self.conversation and (
            line.instruction == self.instruction
            or self.instruction in line.former
            or (bool(self.agent) and bool(self.tools) and line.agent == self.agent and line.tools == self.tools)
        )

    def admits_grown(self, line: Line) -> bool:
        """Whether this instruction begins as the line's did when it started."""
        opening = line.opening
        return (
            line.conversation == self.conversation
            and opening is not None
            and 0 < opening[0] < len(self.envelope)
            and opening_of(self.envelope, opening[0]) == opening
        )

    def admits_shared(self, line: Line, shared: Sequence[Message]) -> bool:
        """Whether the line is a candidate under another instruction, since both lists begin with ``shared``."""
        return (
            self.conversation is not None
            and line.conversation == self.conversation
            and line.agent == self.agent
            and line.tools == self.tools
            and not line.running
            and any(message.role == "assistant" for message in shared)
        )

    def near(self, line: Line) -> bool:
        """Whether the id or the trace ties the call to the line, whatever it holds."""
        return self.conversation is not None or self.same_trace(line)

    def same_trace(self, line: Line) -> bool:
        """Whether the line's last call was in this call's trace."""
        return self.trace is not None and line.trace == self.trace


def opening_of(text: str, chars: int) -> Opening:
    """The first characters of this system instruction, as a line keeps them."""
    return chars, blake2b(text[:chars].encode("utf-8", "surrogatepass"), digest_size=16).digest()


def admitted(asked: Asked, line: Line, output: Message) -> bool:
    """Whether the line is a candidate where the list holds this output of it."""
    return asked.admits(line) or ((asked.near(line) or strong(output)) and asked.admits_grown(line))


def answered(asked: Asked, line: Line, done: State, message: Message) -> bool:
    """Whether the message is the output of the line's last call, as it was or alike."""
    if any(output.key == message.key for output in done.outputs):
        return True
    return (asked.near(line) or strong(message)) and any(alike(output, message) for output in done.outputs)


def rank(asked: Asked, line: Line) -> tuple[bool, bool, bool]:
    """Which of the lines that hold the same list is meant."""
    return asked.admits(line), asked.same_trace(line), not line.running


def strong(message: Message) -> bool:
    """Whether this output is so much of its own that holding it says something."""
    return bool(message.tool_calls) or len(message.text.strip()) >= _STRONG_OUTPUT
