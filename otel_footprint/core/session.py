"""One conversation: its threads, and what each call does to the thread it belongs to.

Rules
-----
- A call without output changes nothing: it is planned, reported as not settled, and compared again next time. (Of a
  thread's first call it is remembered which messages were tried, so that trying again finds the thread.)
- Every output that is an answer is judged, each choice by itself, by the evidence of its thread; of an output with tool
  calls the arguments are, before the calls are part of that evidence.
- A sibling's results count as evidence in a thread whose window holds that sibling's final output. (A window that holds
  the result's own text has it as a result or as words of the application: no rule is needed for that.)
- At most ``THREADS_LIMIT`` threads; the one that was asked longest ago goes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_footprint.core.call import Call, Output, PlannedFacts
from otel_footprint.core.decisions import Decisions, Match
from otel_footprint.core.evidence.answers import answer_texts
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import CallJudgement, Judgement, Posture, Reason
from otel_footprint.core.feeding import feed, unreadable
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.findings.ledger import At
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.findings.stripping import Emission
from otel_footprint.core.findings.track import Track
from otel_footprint.core.messages import Message, ServerToolResult, ToolCall, ToolResult, content_text
from otel_footprint.core.revision import action_of
from otel_footprint.core.thread import OUTPUTS_LIMIT, Slot, Thread
from otel_footprint.core.thread_index import ThreadIndex
from otel_footprint.core.threads import Found, Question, Rule
from otel_footprint.core.window.apply import Counts, apply, count, inherit, output_slot, results_in, shared_with
from otel_footprint.core.window.change import change_of, plan_again, plan_next, plan_start

if TYPE_CHECKING:
    from otel_footprint.core.state.opening import Opening

THREADS_LIMIT: Final = 256
_SIBLINGS_LIMIT: Final = 32
_QUOTABLE: Final = 16
"""Characters from which a sibling's final output counts as quoted where it is a part of a longer text."""
_SEARCHED: Final = 200_000
"""Characters up to which a message is searched for such a quote: a report that is passed on is no longer."""


class Session:
    """The state of one conversation. Not thread-safe; no clock: times come with the calls.

    ``opening`` is there where it was restored and lacks something; ``lost``, where nothing is known of what was before.
    """

    def __init__(self, conversation: str, *, inferred: bool, evidence: Evidence) -> None:
        self.id: Final = conversation
        self.inferred: Final = inferred
        self.evidence = evidence
        self.findings: Findings | None = None
        self.index: Final = ThreadIndex(by_trace=False)
        self.numbered: Final[dict[int, Thread]] = {}
        self.touched: float = 0.0
        self.size: int = 0
        self._created = 0
        self._tools_seen = False
        self._handed_in: list[tuple[str, str]] = []
        self._handed_in_chars = 0
        self._said: dict[str, None] = {}
        self._said_chars = 0
        self.opening: Opening | None = None
        self.lost: bool = False

    def judge_by(self, evidence: Evidence) -> None:
        """Judge every answer from now on by these settings."""
        if evidence is not self.evidence:
            self.evidence = evidence
            for thread in self.index:
                thread.corpus.options = evidence

    def follow(self, findings: Findings) -> None:
        """Follow the findings of every thread from now on."""
        if findings is not self.findings:
            self.findings = findings
            for thread in self.index:
                if thread.track is None:
                    thread.track = Track(findings)
                thread.track.options = findings

    def hand_in(self, text: str, name: str) -> None:
        """Evidence that no tool returned; for every thread, also those to come."""
        if self.opening is not None:
            self.opening.said(text, name)
        for thread in self.index:
            thread.corpus.hand_in(text, name)
        if self._handed_in_chars + len(text) <= self.evidence.corpus_bytes:
            self._handed_in.append((text, name))
            self._handed_in_chars += len(text)

    def say(self, text: str) -> None:
        """Words of a person or the application that are in no message."""
        if self.opening is not None:
            self.opening.said(text)
        for thread in self.index:
            thread.corpus.say(text)
        if text not in self._said and self._said_chars + len(text) <= self.evidence.corpus_bytes:
            self._said[text] = None
            self._said_chars += len(text)

    def hear(self, other: Session) -> None:
        """What was said and handed in to the other one is said and handed in here too."""
        for text in other._said:
            self.say(text)
        for text, name in other._handed_in:
            if (text, name) not in self._handed_in:
                self.hand_in(text, name)

    def observe(
        self,
        call: Call,
        window: tuple[Message, ...],
        *,
        found: Found | None,
        match: Match,
        question: Question,
        unseen: bool = False,
        declared: Sequence[tuple[Emission, ...]] = (),
    ) -> tuple[Decisions, Thread]:
        """One call of this conversation. ``found`` is the thread it belongs to, None for a new one.

        ``window`` is what the model read, also where the call sent only a part of it; ``unseen`` says that the provider
        holds more of it than we know. ``declared`` is what the model declared in each output.
        """
        thread = self._thread_for(found, question)
        if not thread.calls:
            plan = plan_start(call, window)
        elif found is not None and found.rule is Rule.AGAIN:
            plan = plan_again(thread, call, window)
        else:
            plan = plan_next(thread, call, window)
        settled = bool(call.outputs)
        change = change_of(thread, call, plan, settled=settled)
        parent = thread.parent
        shared = shared_with(parent, window) if parent is not None else {}
        held = call.previous_response_id is not None or call.server_thread is not None
        counts = count(thread, plan, shared, None if held else call.planned)
        self._tools_seen = self._tools_seen or bool(call.tools)
        judgements: tuple[Judgement, ...] = ()
        calls: tuple[CallJudgement, ...] = ()
        findings: FindingsChange | None = None
        if settled:
            if parent is not None:
                inherit(thread, parent, shared, call)
            apply(
                thread,
                call,
                plan,
                shared,
                counts,
                plain=question.messages,
                arrived=lambda slot: self._arrived(thread, slot),
            )
            thread.chars = change.chars_after
            thread.unseen = unseen
            judgements, calls, counts = self._answer(thread, call, counts, again=plan.again)
            thread.results_this_turn = counts.results
            findings = _found(thread, call, counts, judgements, calls, declared)
            thread.last = call.ref
            thread.completed_at = call.now
        elif not thread.calls:
            thread.attempted = question.messages
        if settled or not thread.calls:
            thread.trace = question.trace
            thread.agent = call.agent
            thread.tools = question.tools
            thread.instruction = question.instruction
        decisions = Decisions(
            conversation=self.id,
            inferred=self.inferred,
            match=match,
            thread=thread.number,
            forked_from=thread.forked_from,
            turn=counts.turn,
            iteration=counts.iteration,
            window=change,
            tool_results_this_turn=counts.results,
            judgements=judgements,
            calls=calls,
            findings=findings,
        )
        return decisions, thread

    def forget(self, thread: Thread) -> None:
        """Let a thread go."""
        self.index.drop(thread)
        self.numbered.pop(thread.number, None)
        for other in self.index:
            other.reports.pop(thread, None)

    def crowded(self) -> Thread | None:
        """The thread that has to go so that the number of threads stays bounded."""
        return next(iter(self.index)) if len(self.index) > THREADS_LIMIT else None

    def size_bytes(self) -> int:
        """About how many bytes the conversation keeps alive."""
        words = 2 * (self._handed_in_chars + self._said_chars)
        return 2_000 + words + sum([thread.size for thread in self.index])

    def _thread_for(self, found: Found | None, question: Question) -> Thread:
        if found is not None and found.rule is not Rule.FORK:
            return found.thread
        self._created += 1
        lost = self.opening is not None and bool(self.opening.words)
        thread = Thread(self, self._created, Corpus(self.evidence, lost=lost), question.instruction)
        thread.first_system = question.instruction
        self.numbered[thread.number] = thread
        if found is not None:
            thread.parent = found.thread
            thread.forked_from = found.thread.number
        if self.findings is not None:
            thread.track = Track(self.findings)
        for text, name in self._handed_in:
            thread.corpus.hand_in(text, name)
        for text in self._said:
            thread.corpus.say(text)
        return thread

    def _answer(
        self, thread: Thread, call: Call, counts: Counts, *, again: bool
    ) -> tuple[tuple[Judgement, ...], tuple[CallJudgement, ...], Counts]:
        """Take the outputs in; judge those that are answers, and the arguments of the calls in the others."""
        slots: list[Slot] = []
        judgements: list[Judgement] = []
        emitted: list[CallJudgement] = []
        calls_before = thread.corpus.calls_made
        results = counts.results
        for output in call.outputs:
            slot = output_slot(output.message, call, thread.calls, counts.turn)
            slots.append(slot)
            if any(isinstance(part, ServerToolResult) for part in output.message.parts):
                # What a server-side tool returned in this very call is evidence for the text that follows it.
                feed(thread, slot, served=call.ref, errors=call.error_result_ids)
                results += results_in(output.message)
            judgement = self._judge(thread, call, output, counts.turn)
            if judgement is not None and call.planned is not None:
                judgement = _acted_on(judgement, call.planned)
            if judgement is not None:
                judgements.append(judgement)
            else:
                emitted += self._judge_calls(thread, output, counts.turn, calls_before)
        thread.outputs = [*(thread.outputs if again else ()), *slots][-OUTPUTS_LIMIT:]
        thread.final = _final(call.outputs[0].message)
        return tuple(judgements), tuple(emitted), Counts(counts.turn, counts.iteration, results)

    def _judge(self, thread: Thread, call: Call, output: Output, turn: int) -> Judgement | None:
        text = answer_texts(output.message, thread.corpus.options)
        if text is None:
            return None
        return thread.corpus.judge(
            text,
            choice=output.choice,
            turn=turn,
            tools_offered=self._tools_seen,
            blind=_blind(thread, output),
            siblings=self._reporting_to(thread),
        )

    def _judge_calls(self, thread: Thread, output: Output, turn: int, calls_before: int) -> list[CallJudgement]:
        """Judge the arguments of an output's tool calls; ``calls_before`` counts the calls that were made before it."""
        return [
            thread.corpus.judge_call(
                one,
                choice=output.choice,
                turn=turn,
                calls_before=calls_before,
                blind=_blind(thread, output),
                siblings=self._reporting_to(thread),
            )
            for one in output.message.tool_calls
        ]

    def _reporting_to(self, thread: Thread) -> list[Corpus]:
        """The evidence of siblings whose final output is in this thread's window."""
        return [
            sibling.corpus
            for sibling, slots in thread.reports.items()
            if sibling in self.index and any(slot.alive for slot in slots)
        ]

    def _arrived(self, thread: Thread, slot: Slot) -> None:
        """Note of a new message whether it speaks of tools, and whether it quotes a sibling's final output."""
        message = slot.message
        if not self._tools_seen and any(isinstance(part, (ToolCall, ToolResult)) for part in message.parts):
            self._tools_seen = True
        if message.role not in ("user", "tool") or len(self.index) + (thread not in self.index) < 2:
            return
        text = message.text if message.result is None else content_text(message.result.content)
        for sibling in self.index.newest(_SIBLINGS_LIMIT):
            if sibling is not thread and _quotes(text, sibling.final):
                slots = thread.reports.setdefault(sibling, [])
                slots[:] = [*(old for old in slots if old.alive), slot]


def _found(
    thread: Thread,
    call: Call,
    counts: Counts,
    judgements: Sequence[Judgement],
    calls: Sequence[CallJudgement],
    declared: Sequence[tuple[Emission, ...]],
) -> FindingsChange | None:
    """What the call adds to the findings of its thread."""
    if thread.track is None:
        return None
    texts = {output.choice: answer_texts(output.message, thread.corpus.options) or "" for output in call.outputs}
    emissions = declared or [()] * len(call.outputs)
    planned = call.planned
    offered = None if planned is None else planned.findings
    return thread.track.completed(
        [(output.message, emitted) for output, emitted in zip(call.outputs, emissions, strict=True)],
        [(judgement, texts.get(judgement.choice, "")) for judgement in judgements],
        calls,
        At(counts.turn, counts.iteration),
        refs=[_refs_of(thread, output.message) for output in call.outputs],
        after_revision=planned is not None and planned.is_revision,
        undecorated=() if offered is None else offered.undecorated,
    )


def _refs_of(thread: Thread, message: Message) -> list[str]:
    """The names that the results of an output's calls will have in the history."""
    calls = message.tool_calls
    if not calls:
        return []
    names = thread.names.fork()
    names.new_message()
    return [names.call(call.id, call.name) for call in calls]


def _acted_on(judgement: Judgement, planned: PlannedFacts) -> Judgement:
    """The judgement with what the posture does about it. A stream that was not held back cannot be unsaid."""
    posture: Posture = "assist" if planned.stream_unheld else planned.posture
    action = action_of(judgement, posture, revisable=planned.revisable)
    return replace(judgement, posture=posture, action=action)


def _blind(thread: Thread, output: Output) -> frozenset[Reason]:
    """Why the thread's window and this output could not be wholly seen."""
    reasons: set[Reason] = set()
    if thread.unreadable > 0 or thread.system_unreadable or unreadable(output.message):
        reasons.add("opaque_content")
    if thread.unseen or thread.session.lost:
        reasons.add("unseen_history")
    if output.partial:
        reasons.add("partial_output")
    return frozenset(reasons)


def _final(message: Message) -> str:
    """The text by which another thread may quote this output: empty for a message with calls."""
    return "" if message.tool_calls else message.text.strip()


def _quotes(text: str, final: str) -> bool:
    """Whether a message quotes a final output: plainly, or inside a JSON string."""
    if not final:
        return False
    if len(final) < _QUOTABLE or len(text) > _SEARCHED:
        return text.strip() == final
    return final in text or (
        "\\" in text and (json.dumps(final, ensure_ascii=False)[1:-1] in text or json.dumps(final)[1:-1] in text)
    )
