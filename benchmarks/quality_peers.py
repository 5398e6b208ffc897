"""The other deterministic checkers, each called as its own documentation says, with everything that stood before the answer.

Rules
-----
- Sources are the results of tools and the words of the person and the application, as strings, one for each message; what
  takes rows or JSON gets the results parsed.
- Defaults everywhere. Where a package has two modes, the one made for runs of agents is taken.
- A checker that is not installed is left out, and said to be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from typing import ClassVar

from quality_checkers import Checker, Flags, located
from quality_replay import Answer, arguments_of


class Corroborate:
    """``check_answer(query, retrieved_chunks, answer)``: numbers, dates and quotations that no chunk holds."""

    name = "corroborate"

    def __init__(self) -> None:
        self.version = metadata.version("corroborate")
        self._check = import_module("corroborate").check_answer

    def check(self, answer: Answer) -> Flags:
        """Its critical findings name the spellings."""
        report = self._check(_question(answer), [*answer.said, *answer.results], answer.text)
        return located(answer.text, [span for finding in report.critical for span in finding.spans])


class OpenGate:
    """``check_grounding(answer, context, question=…)``: numbers that neither the context nor the question holds."""

    name = "opengate-grounding"

    def __init__(self) -> None:
        self.version = metadata.version("opengate-grounding")
        self._check = import_module("opengate_grounding").check_grounding

    def check(self, answer: Answer) -> Flags:
        """Its ungrounded numbers, as spelled."""
        found = self._check(answer.text, [*answer.said, *answer.results], question=_question(answer))
        return located(answer.text, found.ungrounded_numbers)


class FiguredRun:
    """``figured.agents.RunMonitor`` fed as the run went, with ``check_text``: values of the answer that nothing sources."""

    name = "figured, run monitor"

    def __init__(self) -> None:
        self.version = metadata.version("figured")
        agents = import_module("figured.agents")
        self._monitor, self._policy = agents.RunMonitor, agents.AgentPolicy

    def check(self, answer: Answer) -> Flags:
        """Replay what stood before, then hand it the answer."""
        monitor = self._monitor(self._policy.build(check_text=True))
        for message in answer.messages[: answer.index]:
            role, content = message["role"], message.get("content") or ""
            if role == "system":
                monitor.system(content)
            elif role == "user":
                monitor.user(content)
            elif role == "tool":
                monitor.tool_result(message.get("name") or "", content, message.get("tool_call_id"))
            else:
                if content:
                    monitor.assistant(content)
                for call in message.get("tool_calls") or []:
                    function = call["function"]
                    monitor.before_call(function["name"], arguments_of(function["arguments"]), call.get("id"))
        checks = monitor.assistant(answer.text)
        return located(answer.text, [str(one.value) for one in checks if one.status != "sourced"])


class FiguredRows:
    """``figured.trace(answer, results=…)``: numbers that no rows of the results give. The words said are no rows."""

    name = "figured, trace"

    def __init__(self) -> None:
        self.version = metadata.version("figured")
        self._trace = import_module("figured").trace

    def check(self, answer: Answer) -> Flags:
        """Its ungrounded figures have places."""
        rows = [table for result in _parsed(answer) for table in _tables(result)]
        report = self._trace(answer.text, results=rows)
        return Flags(tuple((one.figure.start, one.figure.end) for one in report.results if one.status == "ungrounded"))


class GroundLens:
    """``verify(answer, evidence)`` under the default policy, without a judge: claims whose decision is not PASS."""

    name = "groundlens"
    _CLAIM = re.compile(r"groundlens\.\w+ \w+: (.+?) (?:not in sources|reads as|is |was |from |appears )")

    def __init__(self) -> None:
        self.version = metadata.version("groundlens")
        self._verify = import_module("groundlens").verify

    def check(self, answer: Answer) -> Flags:
        """Its reasons quote the claim."""
        passages = [
            (f"{kind}-{place}", text)
            for kind, texts in (("said", answer.said), ("result", answer.results))
            for place, text in enumerate(texts)
            if text.strip()
        ]
        if not passages:
            return Flags(())
        record = self._verify(answer.text, passages, question=_question(answer) or None)
        reasons = [reason for claim in record.claims if claim.decision != "PASS" for reason in claim.reasons]
        quoted = [match.group(1) for reason in reasons if (match := self._CLAIM.match(reason))]
        found = located(answer.text, quoted)
        # A reason that quotes nothing still flags the answer.
        return found if found.any or record.decision == "PASS" else Flags(((0, 0),))


class FactGuard:
    """``factguard.Checker(data).check(text)``: numbers that the data contradicts or does not hold. The data is the results.

    Columns keyed by row are turned into rows. ``told`` gives it what a box score's columns mean, as its documentation
    advises where names of fields do not match the words of the text; nobody else is told anything.
    """

    _BOX_SCORE: ClassVar[dict[str, list[str]]] = {
        "PTS": ["points", "point"],
        "REB": ["rebounds", "rebound", "boards"],
        "AST": ["assists", "assist", "dimes"],
        "STL": ["steals", "steal"],
        "BLK": ["blocks", "block"],
        "TO": ["turnovers", "turnover"],
        "MIN": ["minutes", "minute"],
        "PF": ["fouls"],
        "TEAM-PTS": ["points"],
        "TEAM-REB": ["rebounds"],
        "TEAM-AST": ["assists"],
        "TEAM-TOV": ["turnovers"],
        "TEAM-WINS": ["wins"],
        "TEAM-LOSSES": ["losses"],
    }
    _PAIRS: ClassVar[dict[str, tuple[str, str]]] = {"fg": ("FGM", "FGA"), "3pt": ("FG3M", "FG3A"), "ft": ("FTM", "FTA")}

    def __init__(self, *, told: bool = False) -> None:
        self.name = "factguard-check, told the fields" if told else "factguard-check"
        self.version = metadata.version("factguard-check")
        self._checker = import_module("factguard").Checker
        self._told = {"aliases": self._BOX_SCORE, "pairs": self._PAIRS} if told else {}

    def check(self, answer: Answer) -> Flags:
        """Its flagged verdicts have places."""
        data = {"results": [_by_row(result) for result in _parsed(answer)], "said": list(answer.said)}
        found = self._checker(data, **self._told).check(answer.text)
        return Flags(tuple((one.start, one.end) for one in found.flagged))


class StreamGuards:
    """``unsupported_amounts``, and the e-mails and phones that are taken out; amounts without the person's words, as advised."""

    name = "llm-stream-guards"

    def __init__(self) -> None:
        self.version = metadata.version("llm-stream-guards")
        self._guards = import_module("llm_stream_guards")

    def check(self, answer: Answer) -> Flags:
        """Amounts as spelled, and what the scrubbers replace."""
        system = [one.get("content") or "" for one in answer.messages[: answer.index] if one["role"] == "system"]
        known = self._guards.numbers_in(*system, *answer.results)
        quoted = list(self._guards.unsupported_amounts(answer.text, known))
        texts = (*answer.said, *answer.results)
        link = self._guards.LinkStream((), emails=self._guards.emails_in(*texts), phones=self._guards.phones_in(*texts))
        link.feed(answer.text)
        link.finish()
        spans = [*located(answer.text, [*quoted, *link.removed_emails]).spans]
        for digits in link.removed_phones:
            spans += [
                match.span() for match in re.finditer(r"[\W_]{0,3}".join(re.escape(one) for one in digits), answer.text)
            ]
        return Flags(tuple(spans))


class QuantGuard:
    """``QuantitativeGuard().verify(text, chunks)``: claims contradicted, unsupported or ambiguous, as ``is_valid`` counts them."""

    name = "rag-quantguard"

    def __init__(self) -> None:
        self.version = metadata.version("rag-quantguard")
        module = import_module("quantguard")
        self._guard = module.QuantitativeGuard()
        self._bad = {module.Status.CONTRADICTED, module.Status.AMBIGUOUS, module.Status.UNSUPPORTED}

    def check(self, answer: Answer) -> Flags:
        """Its claims have places. On some ranges it raises; that counts as no flag."""
        try:
            found = self._guard.verify(answer.text, [*answer.said, *answer.results])
        except TypeError:
            return Flags(())
        return Flags(
            tuple((one.claim.span.start, one.claim.span.end) for one in found.results if one.status in self._bad)
        )


PEERS: tuple[tuple[str, Callable[[], Checker]], ...] = (
    ("corroborate", Corroborate),
    ("opengate_grounding", OpenGate),
    ("figured", FiguredRun),
    ("figured", FiguredRows),
    ("groundlens", GroundLens),
    ("factguard", FactGuard),
    ("llm_stream_guards", StreamGuards),
    ("quantguard", QuantGuard),
)


def told_the_fields() -> list[Checker]:
    """Peers that are told what a box score's columns mean, for the gold of rotowire."""
    try:
        return [FactGuard(told=True)]
    except ImportError:
        return []


def installed() -> tuple[list[Checker], list[str]]:
    """The peers that are here, and the modules of those that are not."""
    here: list[Checker] = []
    missing: list[str] = []
    for module, make in PEERS:
        try:
            here.append(make())
        except ImportError:
            missing.append(module)
    return here, list(dict.fromkeys(missing))


def _question(answer: Answer) -> str:
    return next(
        (one.get("content") or "" for one in reversed(answer.messages[: answer.index]) if one["role"] == "user"), ""
    )


def _parsed(answer: Answer) -> Iterator[object]:
    for result in answer.results:
        try:
            yield json.loads(result)
        except ValueError:
            yield result


def _by_row(value: object) -> object:
    """Columns keyed by row turned into rows, which is how a checker of records takes them."""
    if not isinstance(value, dict):
        return value
    columns = {key: one for key, one in value.items() if isinstance(one, dict)}
    if len(columns) > 2 and len({tuple(sorted(map(str, one))) for one in columns.values()}) == 1:
        keys = next(iter(columns.values()))
        return [{name: column[key] for name, column in columns.items()} for key in keys]
    return {key: _by_row(one) for key, one in value.items()}


def _tables(value: object) -> Iterator[list]:
    """Every list of objects, and every object as a row of its own."""
    value = _by_row(value)
    if isinstance(value, dict):
        yield [value]
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                yield from _tables(inner)
    elif isinstance(value, list):
        rows = [one for one in value if isinstance(one, dict)]
        if rows:
            yield rows
        elif any(isinstance(one, (int, float, str)) for one in value):
            yield [one for one in value if isinstance(one, (int, float, str))]
        for inner in value:
            if isinstance(inner, dict):
                yield from (table for one in inner.values() if isinstance(one, (dict, list)) for table in _tables(one))
            elif isinstance(inner, list):
                yield from _tables(inner)
