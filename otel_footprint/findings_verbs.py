"""What an application says of findings and of its last answer: the verbs of ``conversation()`` for them.

Rules
-----
- Arguments that cannot be used raise ``ConfigurationError`` naming the value and the fix, whether findings are on or not.
- Where findings are off, and before the conversation's first call, there is nothing to say it of: that is warned of once for
  each verb, and changes nothing. An application must not break where somebody turns findings off.
- What is said goes to the thread that was called last; a standing to the one that knows the result.
- What is filed is told to the handle with how far the last answer stands now.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from otel_footprint import boundary, runtime
from otel_footprint.core.assessment.verdict_rows import AskedRow, StoppedEarlyRow, ValidatedRow
from otel_footprint.core.assessment.witness import StepsAction, StepsUnfinishedRow, steps_unfinished_row
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.findings.declaring import ASSERTIONS_LIMIT, DeclaredStanding, read_standing
from otel_footprint.core.findings.rows import TEXT_LIMIT
from otel_footprint.core.findings.standing import STANDINGS
from otel_footprint.findings_view import FindingsTally, FindingsView

if TYPE_CHECKING:
    from otel_footprint.config import Settings
    from otel_footprint.core.assessment.fold import AnswerAssessment
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.findings.rows import Row
    from otel_footprint.core.findings.standing import Standing
    from otel_footprint.core.findings.track import Track
    from otel_footprint.running import Runtime

_logger = logging.getLogger("otel_footprint")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_STEPS_LIMIT: Final = 256
_said: Final[set[str]] = set()


@dataclass(frozen=True, slots=True)
class Filed:
    """What a verb filed in a thread, and how far its last answer stood before and stands now; None where it has none."""

    thread: int
    rows: tuple[Row, ...]
    before: AnswerAssessment | None
    after: AnswerAssessment | None


class FindingsVerbs(ABC):
    """The part of a conversation's handle that is about findings. ``named``: the application gave the id."""

    def __init__(self, id: str, *, named: bool) -> None:
        self.id: Final = id
        self.named: Final = named
        self._tally = FindingsTally()

    @abstractmethod
    def findings_in(self, settings: Settings) -> Findings | None:
        """The findings in force."""

    @abstractmethod
    def filed(self, filed: Filed) -> None:
        """Take note of what a verb filed."""

    @property
    def findings(self) -> FindingsView:
        """What was declared about results, and what follows from it; empty where findings are off."""
        running = runtime.current()
        if running is not None:
            with boundary.guard("findings.view"), running.following(self.id) as tracks:
                return FindingsView.of(tracks[0][1] if tracks else None, self._tally)
        return FindingsView.of(None, self._tally)

    @property
    def assessment(self) -> AnswerAssessment | None:
        """How far the last answer stands, by all that is known now; None before the first, and where findings are off."""
        running = runtime.current()
        if running is not None:
            with boundary.guard("findings.assessment"), running.following(self.id) as tracks:
                return _assessed(tracks)
        return None

    def declare(
        self,
        tool_call_id: str,
        standing: Standing,
        line: str | None = None,
        *,
        assertions: Iterable[Mapping[str, Any]] = (),
        sought: str | None = None,
        settles: str | None = None,
    ) -> None:
        """Say what a result is, without the model's help. The last word on a result counts, whoever says it.

        Args:
            tool_call_id: the id of its call; ``<id>#<n>`` for the n-th result with a repeated id. A call whose result has not
                been sent yet may be named; an id that nothing has is filed as it is and stands for nothing.
            standing: ``fact``, ``open``, ``noise`` or ``ruled-out``.
            line: why, in one line. Texts past 240 characters are cut.
            assertions: the values it gives, each ``{"subject": {"kind": …, "id": …}, "predicate": …, "value": …}``.
            sought: what it was asked for.
            settles: what it settles.
        """
        given = {
            "toolCallId": tool_call_id,
            "standing": standing,
            "line": line,
            "sought": sought,
            "settles": settles,
            "assertions": _list_of(assertions, "declare(assertions=…)"),
        }
        declared = _declared(given)

        def file(track: Track) -> tuple[Row, ...]:
            return track.declare(declared, track.at)

        self._say("declare", file, lambda track: track.knows(tool_call_id) or track.awaits(tool_call_id))

    def validated(self, ok: bool, *, check: str, digest: str | None = None) -> None:
        """Say that a check of your own ran on the answer.

        Args:
            ok: whether it passed.
            check: its name, at most 240 characters.
            digest: the SHA-256 of the exact bytes of the answer that was checked (UTF-8), in hex. Only with it a check that
                passed makes an answer ``known``; without it, it is a check that ran.
        """
        if not isinstance(ok, bool):
            raise ConfigurationError(f"validated({ok!r}): give True or False")
        _word(check, "validated(check=…)")
        if digest is not None and not (isinstance(digest, str) and _DIGEST.fullmatch(digest.lower())):
            raise ConfigurationError(
                f"validated(digest={_shown(digest)}): give hashlib.sha256(answer.encode()).hexdigest() of the answer's text"
            )
        spelled = None if digest is None else digest.lower()

        def file(track: Track) -> tuple[Row, ...]:
            at = track.said_at
            row = ValidatedRow(turn=at.turn, iteration=at.iteration, ok=ok, check=check, digest=spelled)
            return track.say(row)

        self._say("validated", file)

    def asked(self) -> None:
        """Say that the turn ended waiting for a person: its answer is a question."""

        def file(track: Track) -> tuple[Row, ...]:
            at = track.said_at
            return track.say(AskedRow(turn=at.turn, iteration=at.iteration))

        self._say("asked", file)

    def stopped_early(self, reason: str) -> None:
        """Say that a limit of the application's ended the turn. ``reason`` is its word for it, at most 240 characters."""
        _word(reason, "stopped_early(…)")

        def file(track: Track) -> tuple[Row, ...]:
            at = track.said_at
            return track.say(StoppedEarlyRow(turn=at.turn, iteration=at.iteration, reason=reason))

        self._say("stopped_early", file)

    def steps(self, skill: str, remaining: Iterable[tuple[int, str]], total: int, action: StepsAction) -> None:
        """Say that the answer came before the declared steps of a procedure were done. Once for an answer; nothing where
        nothing remains.

        Args:
            skill: the procedure's name.
            remaining: the steps that were not reached, each its position from 0 and its tool.
            total: how many steps the procedure has.
            action: ``accepted`` (the answer was taken as it is) or ``cut-short`` (a limit forced it).
        """
        _word(skill, "steps(skill=…)")
        left = _steps(remaining, total)
        if action not in get_args(StepsAction):
            raise ConfigurationError(f"steps(action={action!r}): give 'accepted' or 'cut-short'")

        def file(track: Track) -> tuple[Row, ...]:
            at = track.said_at
            row = steps_unfinished_row(
                turn=at.turn, iteration=at.iteration, skill_id=skill, remaining=left, total=total, action=action
            )
            known = any(
                isinstance(one, StepsUnfinishedRow) and one.iteration == at.iteration
                for one in track.ledger.of_turn(at.turn)
            )
            return () if known else track.say(row)

        if left:
            self._say("steps", file)

    def _say(
        self,
        verb: str,
        file: Callable[[Track], tuple[Row, ...]],
        knows: Callable[[Track], bool] = lambda track: True,
    ) -> None:
        running = runtime.current()
        if running is None or self.findings_in(running.settings) is None:
            _warn(
                f"{verb}:off",
                f"conversation().{verb}() says nothing where findings are off; call instrument(findings=True)"
                + (" first" if running is None else ""),
            )
            return
        filed = None
        with boundary.guard(f"findings.{verb}"):
            filed = self._file(running, file, knows)
        if filed is None:
            _warn(
                f"{verb}:early", f"conversation().{verb}() came before the first call, of which it could say something"
            )
        elif filed.rows:
            self.filed(filed)
            if running.sharing is not None and self.named:
                shared = running.sharing.call(self.id)
                shared.completed()
                shared.save_later()

    def _file(
        self, running: Runtime, file: Callable[[Track], tuple[Row, ...]], knows: Callable[[Track], bool]
    ) -> Filed | None:
        with running.following(self.id) as tracks:
            if not tracks:
                return None
            number, track = next((one for one in tracks if knows(one[1])), tracks[0])
            before = track.reassessed()
            rows = file(track)
            return Filed(number, rows, before, track.reassessed())


def _assessed(tracks: Iterable[tuple[int, Track]]) -> AnswerAssessment | None:
    return next((found for _, track in tracks if (found := track.reassessed()) is not None), None)


def _declared(given: dict[str, Any]) -> DeclaredStanding:
    """The declaration as the model's are read; what would be dropped there is refused here."""
    id_, standing = given["toolCallId"], given["standing"]
    if not isinstance(id_, str) or not 0 < len(id_) <= TEXT_LIMIT:
        raise ConfigurationError(f"declare({_shown(id_)}): give the id of a tool call, 1 to {TEXT_LIMIT} characters")
    if standing not in STANDINGS:
        raise ConfigurationError(f"declare(standing={_shown(standing)}): give one of {', '.join(STANDINGS)}")
    for name in ("line", "sought", "settles"):
        if given[name] is not None and not isinstance(given[name], str):
            raise ConfigurationError(f"declare({name}={_shown(given[name])}): give a string")
    found, malformed = read_standing(given)
    if found is None or malformed:
        if standing == "noise":
            raise ConfigurationError("declare(standing='noise', assertions=…): noise has no assertions; leave them out")
        raise ConfigurationError(
            f"declare(assertions={_shown(given['assertions'])}): give at most {ASSERTIONS_LIMIT}, each "
            "{'subject': {'kind': 'order', 'id': 'W1'}, 'predicate': 'total', 'value': 12.5}, names up to "
            f"{TEXT_LIMIT} characters, the value a string, a finite number, a bool or None"
        )
    return found


def _steps(remaining: Iterable[tuple[int, str]], total: int) -> list[tuple[int, str]]:
    if isinstance(total, bool) or not isinstance(total, int) or not 0 <= total <= _STEPS_LIMIT:
        raise ConfigurationError(f"steps(total={_shown(total)}): give a whole number from 0 to {_STEPS_LIMIT}")
    left = _list_of(remaining, "steps(remaining=…)")
    for step in left:
        if not _is_step(step, total):
            raise ConfigurationError(
                f"steps(remaining=…) holds {_shown(step)}: give pairs of a position from 0 to {max(0, total - 1)} and the "
                "name of its tool, such as (2, 'refund')"
            )
    return [(index, tool) for index, tool in left]


def _is_step(step: object, total: int) -> bool:
    if not isinstance(step, (tuple, list)) or len(step) != 2:
        return False
    index, tool = step
    whole = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < total
    return whole and isinstance(tool, str) and 0 < len(tool) <= TEXT_LIMIT


def _word(value: object, place: str) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= TEXT_LIMIT:
        raise ConfigurationError(f"{place} is {_shown(value)}: give a string of 1 to {TEXT_LIMIT} characters")


def _list_of(value: object, place: str) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ConfigurationError(f"{place} is {_shown(value)}: give a list")
    return list(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _warn(key: str, warning: str) -> None:
    if key not in _said:
        _said.add(key)
        _logger.warning("%s", warning)
