"""One call that is acted on: its window is planned, its answer judged, and where the posture says so it is asked again.

Rules
-----
- The way is that of :mod:`otel_footprint.providers.surface`: plan, call, revision, finish. The hook runs inside the call and
  leaves in the token what was decided about the answer.
- A strategy runs without a lock. Whatever it raises but ``WindowUnmeasurableError`` leaves the window as it was.
- One revision a turn. An answer that was to be revised and could not be stands: it is counted as the answer after all, and
  under ``rails`` refused.
- A fault of ours hands out what the provider answered.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from otel_footprint import acting_driving, boundary
from otel_footprint.acting_findings import CallFindings, Given
from otel_footprint.acting_token import CHILD, Token, with_mark
from otel_footprint.core.errors import UnsupportedValuesError, WindowUnmeasurableError
from otel_footprint.core.findings.change import with_drafts
from otel_footprint.core.revision import correction, flagged_values, standing_action
from otel_footprint.core.window.strategy import WindowResult
from otel_footprint.providers.acting_calls import attached
from otel_footprint.telemetry.window_facts import VisitFacts

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from otel_footprint.acting import Director, Options
    from otel_footprint.core.call import Call, CallRef
    from otel_footprint.core.decisions import Decisions
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.planner import Planned, Visit
    from otel_footprint.providers.findings_form import EventPeeler
    from otel_footprint.providers.surface import Delivery, Reading, Surface
    from otel_footprint.telemetry.instruments import RevisionOutcome
    from otel_footprint.telemetry.window_span import WindowVisit

_LEFT: Final = "the window is left as it is, and further ones are only counted"
_HANDED_OUT: Final = "the answer is handed out as it is, and further ones are only counted"
_UNSEEN: Final = (
    "the official instrumentation did not tell of this call, so its answer was not judged and is handed out; further ones "
    "are only counted"
)
_OURS: Final = "otel_footprint."


class _Asked:
    """A strategy that is asked (None: it is not to be), with what it may look at, and what came of asking it."""

    __slots__ = ("answered", "input", "result", "strategy", "unmeasurable")

    def __init__(self, visit: Visit | None) -> None:
        self.input = None if visit is None else visit.input
        self.strategy = None if visit is None or visit.input is None else visit.strategy
        self.answered = False
        self.result: WindowResult | None = None
        self.unmeasurable: WindowUnmeasurableError | None = None

    def take(self, result: object) -> None:
        """What ``plan`` gave back."""
        if result is not None and not isinstance(result, WindowResult):
            raise TypeError(f"plan() gave back {type(result).__name__}; give a WindowResult or None")
        self.result, self.answered = result, True


class ActingCall:
    """One call of a model, from the plan to what is handed out. ``reading`` None: it is only kept apart from an outer one."""

    def __init__(
        self,
        director: Director,
        surface: Surface,
        kwargs: Mapping[str, Any],
        reading: Reading | None,
        delivery: Delivery,
        options: Options,
        context: Context,
    ) -> None:
        self._director: Final = director
        self._running: Final = director.running
        self._surface: Final = surface
        self._asked: Final = kwargs
        self._reading: Final = reading
        self.delivery: Final = delivery
        self.options: Final = options
        self._base: Final = context
        self.kwargs: Mapping[str, Any] = kwargs
        self.context: Context = context
        posture = options.evidence.posture
        self._acts: Final = posture != "assist" and reading is not None
        self.hold: Final = self._acts and delivery.streamed and delivery.holdable and options.evidence.hold_streams
        self._unheld: Final = self._acts and delivery.streamed and not self.hold
        self._planned: Planned | None = None
        self._token: Token | None = None
        self._findings: CallFindings | None = None
        self._revises: ActingCall | None = None
        self._revision_error: BaseException | None = None
        if options.shared is not None and reading is None:
            self._token = Token(None, self._completed)
            self.context = with_mark(self._token, context)

    # the plan

    def plan(self) -> None:
        """Decide about the window. May raise ``WindowUnmeasurableError``."""
        if self.options.shared is not None:
            self.options.shared.load()
        with self._visiting() as asked:
            strategy, seen = asked.strategy, asked.input
            if strategy is not None and seen is not None:
                result = strategy.plan(seen)
                if inspect.isawaitable(result):
                    ours = type(strategy).__module__.startswith(_OURS)
                    result = acting_driving.run(result, by_hand=ours)
                asked.take(result)

    async def aplan(self) -> None:
        """The same under an asynchronous client."""
        if self.options.shared is not None:
            await self.options.shared.aload()
        with self._visiting() as asked:
            strategy, seen = asked.strategy, asked.input
            if strategy is not None and seen is not None:
                blocks = getattr(strategy, "billing", None) is not None
                asked.take(await acting_driving.arun(lambda: strategy.plan(seen), blocks=blocks))

    @contextmanager
    def _visiting(self) -> Iterator[_Asked]:
        """The visit while the strategy is asked: what it raises stays in the block, what came of it is used at its end."""
        if self._planned is not None or self._reading is None:  # a revision, and a call that is only kept apart
            yield _Asked(None)
            return
        with self._window() as window:
            visit = self._visit(window)
            asked = _Asked(visit)
            with boundary.guard("acting.strategy", _LEFT):
                try:
                    yield asked
                except WindowUnmeasurableError as error:
                    asked.unmeasurable = error
            self._settle(visit, asked, window)

    def _window(self) -> AbstractContextManager[WindowVisit | None]:
        strategy = self.options.strategy
        if strategy is None:
            return nullcontext()
        return self._running.emitter.window_visit(strategy.name, self._base, time.time_ns())

    def _visit(self, window: WindowVisit | None) -> Visit | None:
        assert self._reading is not None
        with boundary.guard("acting.visit", _LEFT):
            request = self._director.request(self, self._reading)
            findings = self.options.findings
            with self._running.exclusively():
                return self._director.planner.begin(
                    request,
                    strategy=self.options.strategy,
                    keep_last_tool_results=self.options.keep_last_tool_results,
                    keep_ledger_facts=findings.keep_ledger_facts if findings is not None else 0,
                    standings=self._director.standings if findings is not None else None,
                    as_child=self._as_child(window),
                    cancelled=acting_driving.cancelling() if self.delivery.asynchronous else lambda: False,
                )
        return None

    def _as_child(self, window: WindowVisit | None) -> Any:
        """Runs a billed call of the strategy's as a child of the window's span, with nothing of ours acting on it."""
        asynchronous = self.delivery.asynchronous
        ours = type(self.options.strategy).__module__.startswith(_OURS)

        def as_child(function: Any, *args: Any) -> Any:
            context = with_mark(CHILD, window.context() if window is not None else self._base)
            if asynchronous and ours and not inspect.iscoroutinefunction(function):
                return acting_driving.elsewhere(context, function, *args)
            with attached(context):
                result = function(*args)
            if not inspect.isawaitable(result):
                return result
            inside = acting_driving.inside(context, result)
            return inside if asynchronous else acting_driving.Finished(inside)

        return as_child

    def _settle(self, visit: Visit | None, asked: _Asked, window: WindowVisit | None) -> None:
        if asked.unmeasurable is not None:
            raise asked.unmeasurable
        if visit is None:
            return
        with boundary.guard("acting.commit", _LEFT):
            with self._running.exclusively():
                planned = self._director.planner.commit(
                    visit, asked.result, failed=visit.input is not None and not asked.answered
                )
            ref = self._write_down(visit, asked, planned, window)
            if planned.decided:
                with self._running.exclusively():
                    self._director.planner.written(planned, ref)
            self._use(planned)

    def _write_down(self, visit: Visit, asked: _Asked, planned: Planned, window: WindowVisit | None) -> CallRef | None:
        """Write down what the strategy decided; where it stands, if anywhere."""
        if planned.record is None or window is None:
            return None
        handle, hint = self.options.handle, planned.hint
        before = visit.input.history if visit.input is not None else visit.request.messages
        ref = window.finish(
            VisitFacts(
                record=planned.record,
                result=planned.result,
                messages_before=len(before),
                messages_after=planned.messages_after,
                conversation=hint[0] if hint is not None else handle.id if handle is not None else None,
                thread=hint[1] if hint is not None else None,
                turn=planned.turn,
            )
        )
        for warning in (
            planned.broken and f"the window it gave back is not used: {planned.broken}",
            planned.result is not None and planned.result.warning,
        ):
            if warning:
                self._director.warn(planned.run_id, planned.record.strategy, warning)
        if handle is not None:
            handle.windowed(planned.record)
        return ref

    def _use(self, planned: Planned) -> None:
        """Send this window, and have the hook know of it."""
        assert self._reading is not None
        self._planned = planned
        kwargs = self._asked
        if not self._reading.is_whole(planned.items):
            kwargs = self._surface.write(kwargs, self._reading, planned.items)
        posture = self.options.evidence.posture
        revisable = self._acts and not self._unheld and planned.revision_available and not planned.is_revision
        planner = self._director.planner
        facts = planned.facts(
            posture="assist" if self._unheld else posture, revisable=revisable, stream_unheld=self._unheld
        )

        def settled(call: Call, decisions: Decisions) -> None:
            planner.complete(planned, call, decisions)
            self._completed(call, decisions)

        if self.options.findings is not None and not self.delivery.by_itself:  # else nothing could be taken out again
            with boundary.guard("findings.offer", _LEFT):
                given = self._give(kwargs, self.options.findings, planned)
                kwargs, facts = given.kwargs, replace(facts, findings=given.facts)
        self.kwargs = kwargs
        self._token = Token(facts, settled)
        self.context = with_mark(self._token, self._base)

    def _completed(self, call: Call, decisions: Decisions) -> None:
        """The call has completed. Of a stream nobody tells later that it has ended."""
        shared = self.options.shared
        if shared is not None:
            shared.completed()
            if self.delivery.streamed and not self.hold:
                shared.save_later()

    def _give(self, kwargs: Mapping[str, Any], options: Findings, planned: Planned) -> Given:
        """Offer the model to declare findings. What is taken out again is by the same form."""
        findings = CallFindings(self._surface.name, self._director.memory)
        with self._running.exclusively():
            track = None if planned.hint is None else self._running.track_of(planned.hint)
            given = findings.give(kwargs, options, track, planned.window, planned.result_names)
        self._findings = findings
        return given

    # the answer

    @property
    def peels(self) -> bool:
        """Whether the model may have declared something in its answer."""
        return self._findings is not None

    def peeler(self) -> EventPeeler | None:
        """Takes it out of a stream."""
        return None if self._findings is None else self._findings.peeler()

    def take_out(self, plain: Any) -> None:
        """Takes it out of a plain response."""
        if self._findings is not None:
            self._findings.take_out(plain)

    def revision(self, response: Any | None) -> ActingCall | None:
        """The call to make instead of handing this response out; None to hand it out."""
        with boundary.guard("acting.revision", _HANDED_OUT):
            return self._revise(response)
        return None

    def _revise(self, response: Any | None) -> ActingCall | None:
        if not self._acts or self._unheld or self._token is None or self._planned is None or self._revises is not None:
            return None
        emission = self._token.emission
        if emission is None:
            with boundary.guard("acting.unseen", _UNSEEN):
                raise RuntimeError("the completion hook did not run")
            return None
        drafts = [one for one in emission.decisions.judgements if one.action == "recheck"]
        if not drafts or response is None or self._reading is None:
            return None
        draft = self._surface.draft(self.kwargs, response, drafts[0].choice)
        if draft is None:
            return None
        said = correction(flagged_values(drafts[:1]))
        with self._running.exclusively():
            planned = self._director.planner.revise(self._planned, draft.message, draft.native, said)
        again = ActingCall(
            self._director, self._surface, self._asked, self._reading, self.delivery, self.options, self._base
        )
        again._revises = self
        with boundary.guard("acting.revision", _HANDED_OUT):
            again._use(planned)
            return again
        again._let_go()
        return None

    def failed(self, error: BaseException) -> None:
        """The call ended with this exception of the SDK. Of a revision: the answer before it is handed out."""
        before = self._revises
        if before is not None and isinstance(error, Exception):
            before._revision_error = error
        with boundary.guard("acting.failed"):
            self._let_go()

    def _let_go(self) -> None:
        """The call is over. Where nothing was observed of it, its history must not wait for it."""
        if self._planned is not None and (self._token is None or self._token.is_open):
            with self._running.exclusively():
                self._director.planner.abandon(self._planned)

    def store(self) -> None:
        """Put what came of the call where other workers find it."""
        if self.options.shared is not None:
            self.options.shared.save()

    async def astore(self) -> None:
        """The same under an asynchronous client."""
        if self.options.shared is not None:
            await self.options.shared.asave()

    def finish(self, handed: Any) -> None:
        """``handed`` is what the application is given. May raise ``UnsupportedValuesError``."""
        refused: tuple[str, ...] = ()
        with boundary.guard("acting.finish", _HANDED_OUT):
            refused = self._finish()
        if refused:
            raise UnsupportedValuesError(refused, handed) from self._revision_error

    def _finish(self) -> tuple[str, ...]:
        """The values for which the answer is refused."""
        emission = self._token.emission if self._token is not None else None
        if emission is None or self._unheld:
            self._let_go()
            return ()
        decisions, posture = emission.decisions, self.options.evidence.posture
        if any(judgement.action == "recheck" for judgement in decisions.judgements):
            decisions = self._stand(decisions)
            self._count("failed")
        elif self._revises is not None:
            self._count(_outcome(decisions))
        return flagged_values(decisions.judgements, "refused") if posture == "rails" else ()

    def _stand(self, decisions: Decisions) -> Decisions:
        """The answer was to be revised and goes out after all."""
        assert self._token is not None
        assert self._token.emission is not None
        emission, action = self._token.emission, standing_action(self.options.evidence.posture)
        stand = tuple(
            replace(judgement, action=action) for judgement in decisions.judgements if judgement.action == "recheck"
        )
        others = tuple(judgement for judgement in decisions.judgements if judgement.action != "recheck")
        found = self._running.file_drafts(emission, stand, self.options.evidence)
        whole = replace(
            decisions,
            judgements=tuple(sorted((*stand, *others), key=lambda one: one.choice)),
            findings=with_drafts(decisions.findings, found),
        )
        standing = replace(decisions, judgements=stand, findings=found)
        self._running.emitter.answer_stands(replace(emission, decisions=standing))
        self._running.stands(emission, whole, self.options.handle)
        return whole

    def _count(self, outcome: RevisionOutcome) -> None:
        self._running.emitter.revised(self.options.evidence.posture, outcome, self._base)


def _outcome(decisions: Decisions) -> RevisionOutcome:
    actions = {judgement.action for judgement in decisions.judgements}
    if "refused" in actions:
        return "refused"
    if "flagged" in actions:
        return "flagged"
    if decisions.judgements:
        return "grounded"
    return "tool_calls" if decisions.calls else "failed"
