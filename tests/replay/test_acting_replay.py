"""100 real conversations as live agents under each window strategy, on two real SDKs.

Every request is one that the provider takes; everything that left is on the record, with characters and counts as a recount
from the wire has them; what the next call observes agrees with what was decided; an answer that states a dropped value is
`evicted`, and leads to the span that dropped it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import openai
import pytest
from acting_agents import APIS, Api, Message, Played, Recorded, conversations, in_process, over_sockets
from acting_checks import Tally, attributes, check_run

import otel_footprint
from otel_footprint.testing.provider import Request, ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink

_PARTS = count(1)


def summarize(prompt: str) -> tuple[str, int, int]:
    """No two summaries are alike, so that a recount can tell them apart."""
    return f"Part {next(_PARTS)}: the person was helped with several requests.", len(prompt) // 4, 9


STRATEGIES: dict[str, Callable[[], Any]] = {
    "sliding-window": lambda: otel_footprint.SlidingWindow(6),
    "token-budget": lambda: otel_footprint.TokenBudget(2_500, keep_recent_turns=4),
    "summarize-oldest": lambda: otel_footprint.SummarizeOldest(2_500, summarize, "small-model", keep_recent_turns=4),
}
"""By name; the policy alone takes about 1,700 tokens, so the budgets are met after a few calls."""
PAIRS: list[tuple[str, Api]] = [(strategy, api) for strategy in STRATEGIES for api in APIS]
ALL = os.environ.get("OTEL_FOOTPRINT_REPLAY") == "all"
"""Every conversation under every pair, which takes minutes; else all under the first pair, and shared out among the others."""
SUMMARIZER = "summarizer"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink
        otel_footprint.uninstrument()


def start(sink: Sink, strategy: str | otel_footprint.WindowStrategy, **settings: Any) -> None:
    otel_footprint.instrument(
        tracer_provider=sink.tracer_provider,
        meter_provider=sink.meter_provider,
        logger_provider=sink.logger_provider,
        window=STRATEGIES[strategy]() if isinstance(strategy, str) else strategy,
        capture_values="all",
        **settings,
    )


def play_all(
    sink: Sink,
    api: Api,
    strategy: str,
    chosen: Iterable[Recorded],
    *,
    fails_every: int = 0,
    restarted: bool = False,
) -> tuple[Tally, list[Message]]:
    """Play these conversations and check each; what they held, and the requests that failed."""
    tally = Tally()
    with in_process(api) as (player, model):
        model.fails_every = fails_every
        for recorded in chosen:
            remembered = len(recorded.script) // 2 if restarted else 0
            model.script = iter(recorded.script[remembered:])
            played = Played(wire=model.wire, revisions=model.revisions)
            model.wire.clear()
            model.revisions.clear()
            # Half of the applications say which conversation it is.
            with otel_footprint.conversation(f"case-{recorded.number}") if recorded.number % 2 else nullcontext():
                player.play(recorded, played, remembered=remembered)
            with about(recorded):
                check_run(api, strategy, played, sink.spans, tally)
                assert sink.open_spans == ()
            sink.clear()
        return tally, model.failed


@contextmanager
def about(recorded: Recorded) -> Iterator[None]:
    """Says which conversation a failed check is about."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"conversation {recorded.number}: {error}") from error


def check_metrics(sink: Sink, strategy: str, tally: Tally) -> None:
    """The counters hold what the runs held, and no fault of ours."""
    assert sum(point.value for point in sink.metrics("agentfootprint.window.evictions")) == tally.left > 0
    visits = {
        point.attributes["outcome"]: point.value
        for point in sink.metrics("agentfootprint.window.visits")
        if point.attributes.get("strategy") == strategy and point.value
    }
    assert visits == {outcome: number for outcome, number in tally.visits.items() if outcome != "none"}
    assert sum(point.value for point in sink.metrics("agentfootprint.errors")) == 0


@pytest.mark.parametrize(("strategy", "api"), PAIRS)
def test_a_hundred_conversations(shared_data: Path, sink: Sink, strategy: str, api: Api) -> None:
    whole = ALL or (strategy, api) == PAIRS[0]
    place = PAIRS.index((strategy, api))
    chosen = [c for c in conversations(shared_data) if whole or c.number % len(PAIRS) == place]
    start(sink, strategy)

    tally, _ = play_all(sink, api, strategy, chosen)

    check_metrics(sink, strategy, tally)
    assert tally.evicted_values > 0
    assert tally.codes_known_to_have_left > 0 or not whole


@pytest.mark.parametrize(("strategy", "api"), [PAIRS[0], PAIRS[-1]])
def test_calls_that_fail_and_are_made_again_evict_once(shared_data: Path, sink: Sink, strategy: str, api: Api) -> None:
    start(sink, strategy)

    tally, failed = play_all(sink, api, strategy, conversations(shared_data)[::10], fails_every=3)

    assert len(failed) > 30
    check_metrics(sink, strategy, tally)


@pytest.mark.parametrize(("strategy", "api"), [PAIRS[0], PAIRS[-1]])
def test_answers_that_are_sent_back_while_the_window_moves(
    shared_data: Path, sink: Sink, strategy: str, api: Api
) -> None:
    start(sink, strategy, evidence=otel_footprint.Evidence(posture="guard"))

    tally, _ = play_all(sink, api, strategy, conversations(shared_data)[::2])

    check_metrics(sink, strategy, tally)
    revised = {p.attributes["outcome"]: p.value for p in sink.metrics("agentfootprint.evidence.revisions") if p.value}
    assert sum(revised.values()) == tally.revisions > 0
    assert set(revised) == {"grounded", "flagged", "tool_calls"}


@pytest.mark.parametrize(("strategy", "api"), [PAIRS[0], PAIRS[-1]])
def test_an_application_that_starts_in_the_middle(shared_data: Path, sink: Sink, strategy: str, api: Api) -> None:
    start(sink, strategy)

    tally, _ = play_all(sink, api, strategy, conversations(shared_data)[::5], restarted=True)

    check_metrics(sink, strategy, tally)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("streamed", [False, True])
def test_over_sockets_with_a_summariser_that_is_a_child(
    shared_data: Path, sink: Sink, api: Api, streamed: bool
) -> None:
    script: Iterator[Step] = iter(())

    def answer(request: Request) -> Step:
        return Text(f"Part {next(_PARTS)}.") if request.json["model"] == SUMMARIZER else next(script)

    with ScriptedProvider(answer) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        strategy = otel_footprint.SummarizeOldest(2_500, client, SUMMARIZER, keep_recent_turns=4)
        start(sink, strategy)
        player, tally = over_sockets(api, provider, streamed=streamed), Tally()
        children = 0
        for recorded in conversations(shared_data)[3::25]:
            script, played, known = iter(with_ids(api, recorded)), Played(), len(provider.requests)
            player.play(recorded, played)
            bodies = [request.json for request in provider.requests[known:]]
            played.wire = [body for body in bodies if body["model"] != SUMMARIZER]
            with about(recorded):
                check_run(api, strategy.name, played, sink.spans, tally)
            visits = {s.get_span_context().span_id: s for s in sink.spans if s.name.startswith("agentfootprint.window")}
            own = [s for s in sink.chat_spans if (s.attributes or {})["gen_ai.request.model"] == SUMMARIZER]
            assert len(own) == len(bodies) - len(played.wire)
            for child in own:
                assert child.parent.span_id in visits  # and it is not itself windowed
                assert not any(span.parent == child.get_span_context() for span in sink.spans)
                assert attributes(visits[child.parent.span_id])["window.summarizer_model"] == SUMMARIZER
            children += len(own)
            sink.clear()
    check_metrics(sink, strategy.name, tally)
    assert children > 0


def with_ids(api: Api, recorded: Recorded) -> list[Step]:
    """The script, its calls with ids of their own where the API takes no id twice."""
    if api == "openai.chat":
        return recorded.script
    numbers = count(1)
    return [
        ToolCalls([ToolUse(c.name, c.arguments, f"toolu_{next(numbers)}") for c in step.calls], text=step.text)
        if isinstance(step, ToolCalls)
        else step
        for step in recorded.script
    ]
