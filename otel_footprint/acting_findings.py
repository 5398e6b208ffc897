"""What goes into a request so that the model can declare findings, and what is taken out of its answer again.

Rules
-----
- The window comes first: what a strategy leaves is what is offered and served.
- The model gets its own words back, whatever else happens to the call.
- A model whose answer has to have a form of the application's is not told to put anything into it.
- A result is served as a ticket only where its tool call id names it alone in the window. Which result of that id it is, is
  the planner's to say: a window that lost some cannot be counted.
- A fault of ours leaves the call without findings, never without an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from otel_footprint.core.call import FindingsFacts
from otel_footprint.core.findings.offer import INSTRUCTION, INSTRUCTION_OF_CALLS, reserved_schema
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.findings.serving import is_collapsed, served_list, ticket
from otel_footprint.core.findings.track import Track
from otel_footprint.core.messages import Message
from otel_footprint.providers.findings_anthropic import AnthropicFindings
from otel_footprint.providers.findings_bedrock import BedrockFindings
from otel_footprint.providers.findings_form import EmissionMemory, EventPeeler, FindingsForm, Offering
from otel_footprint.providers.findings_gemini import GeminiFindings
from otel_footprint.providers.findings_openai_chat import OpenAIChatFindings
from otel_footprint.providers.findings_openai_responses import OpenAIResponsesFindings

FORMS: Final[Mapping[str, FindingsForm]] = {
    "openai.chat": OpenAIChatFindings(),
    "openai.responses": OpenAIResponsesFindings(),
    "anthropic.messages": AnthropicFindings(),
    "gemini.generate_content": GeminiFindings(),
    "bedrock.converse": BedrockFindings(),
}


@dataclass(frozen=True, slots=True)
class Given:
    """A request with findings in it: the arguments, and what goes with the call to those who observe it."""

    kwargs: Mapping[str, Any]
    facts: FindingsFacts | None


class CallFindings:
    """The findings of one call on one API."""

    def __init__(self, surface: str, memory: EmissionMemory) -> None:
        self._form: Final = FORMS[surface]
        self._memory: Final = memory
        self._owned: frozenset[str] = frozenset()

    def give(
        self,
        kwargs: Mapping[str, Any],
        options: Findings,
        track: Track | None,
        window: tuple[Message, ...],
        names: tuple[str | None, ...],
    ) -> Given:
        """The arguments to call with. ``names`` are those of the results in the window, None for other messages."""
        own = self._form.put_back(kwargs, self._memory)
        offer = (Track(options) if track is None else track).offer(window, names)
        said = INSTRUCTION_OF_CALLS if self._form.has_schema(kwargs) else INSTRUCTION
        texts, tickets, served = [said], dict[str, str](), dict[str, Message]()
        if options.serve and track is not None:
            listed = served_list(track.ledger, track.refs)
            if listed is not None:
                texts.append(listed)
            tickets, served = _tickets(track, window, names)
        offered = self._form.offer(own, Offering(reserved_schema(offer), tuple(texts), tickets))
        if offered is None:
            return Given(own, None)
        self._owned = offered.owned
        facts = FindingsFacts(owned=offered.owned, texts=tuple(texts), served=served, undecorated=offered.undecorated)
        return Given(offered.kwargs, facts)

    def take_out(self, plain: Any) -> None:
        """Take what the model declared out of a plain response."""
        self._form.take_out(plain, self._memory, self._owned)

    def peeler(self) -> EventPeeler:
        """One that does the same to a stream."""
        return self._form.peeler(self._memory, self._owned)


def _tickets(
    track: Track, window: tuple[Message, ...], names: tuple[str | None, ...]
) -> tuple[dict[str, str], dict[str, Message]]:
    """The tickets by tool call id, and the results they stand for by the ticket's text."""
    results: dict[str, list[tuple[str | None, Message]]] = {}
    for message, name in zip(window, names, strict=True):
        result = message.result
        if result is not None and result.id:
            results.setdefault(result.id, []).append((name, message))
    tickets: dict[str, str] = {}
    served: dict[str, Message] = {}
    current = track.ledger.current
    for id_, found in results.items():
        name, message = found[0]
        row = current.get(name) if name is not None else None
        if row is not None and is_collapsed(row.standing) and len(found) == 1:
            tickets[id_] = text = ticket(row)
            served[text] = message
    return tickets, served
