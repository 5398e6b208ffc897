"""A recorded trace of calls that were acted on: our own words are nobody's, and what a strategy dropped is the strategy's."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_cases import ANSWER, ASKED, CALLED, READ, judged, span, text

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.revision import correction
from otel_footprint.core.window.notice import NOTICE_PREFIX, drop_notice
from otel_footprint.core.window.ours import who_wrote
from otel_footprint.core.window.summary import summary_message
from otel_footprint.telemetry import names

NOTICE = drop_notice(
    left=2, iteration=1, strategy="sliding-window", request_kept=True, tools=("get_order",), named=True
)
SUMMARY = summary_message("A summary.", model="small", stands_for=2, retain="conversation")
CORRECTION = correction(("XY-99999",))


@pytest.mark.parametrize("message", [NOTICE, SUMMARY, CORRECTION], ids=lambda message: message.authored)
def test_our_words_are_known_without_a_mark(message: Message) -> None:
    bare = Message("user", message.parts)

    assert who_wrote(bare) == message.authored
    assert who_wrote(Message("assistant", message.parts)) is None


@pytest.mark.parametrize("opening", [NOTICE_PREFIX, "[otel-footprint summary]", CORRECTION.text.splitlines()[0]])
def test_who_quotes_an_opening_said_what_they_said(opening: str) -> None:
    assert who_wrote(Message("user", (Text(f"{opening} what does this mean?"),))) is None


def call(number: int, inputs: list[Any], output: Any, **more: Any) -> dict[str, Any]:
    messages = {"gen_ai.input.messages": inputs, "gen_ai.output.messages": [output], "gen_ai.conversation.id": "c"}
    return span(number, {**messages, **more})


def said(message: Message) -> dict[str, Any]:
    return text("user", message.text)


def statuses(answer: Any) -> dict[str, str]:
    return {value["value"]: value["status"] for value in answer["values"]}


@pytest.mark.parametrize("ours", [True, False], ids=["with our attributes", "without"])
def test_a_correction_exempts_nothing(ours: bool) -> None:
    revision = {names.EVIDENCE_REVISION: True} if ours else {}
    draft = {names.EVIDENCE_ACTION: "recheck", names.EVIDENCE_VERDICT: "ungrounded"} if ours else {}
    again = text("assistant", "Still, it is XY-99999.")
    (found,) = judged(
        call(1, [ASKED], CALLED),
        call(2, [ASKED, CALLED, READ], ANSWER, **draft),
        call(3, [ASKED, CALLED, READ, ANSWER, said(CORRECTION)], again, **revision),
    )

    answers = found.document["answers"]
    assert len(answers) == (1 if ours else 2)  # the draft was sent back, and is no answer
    assert statuses(answers[-1]) == {"XY-99999": "unsupported"}
    assert answers[-1]["verdict"] == "ungrounded"


def test_what_a_strategy_dropped_is_the_strategys() -> None:
    thanks = text("user", "Thanks. Say it again?")
    (found,) = judged(
        call(1, [ASKED], CALLED),
        call(2, [ASKED, CALLED, READ], text("assistant", "Here you are.")),
        call(
            3,
            [said(NOTICE), text("assistant", "Here you are."), thanks],
            text("assistant", "It is AB-48213."),
            **{names.WINDOW_DECIDED_BY: "sliding-window", names.WINDOW_DECISION: "evict"},
        ),
    )

    answer = found.document["answers"][-1]
    assert statuses(answer) == {"AB-48213": "evicted"}
    assert answer["values"][0]["evicted_by"] == {
        "decision": "evict",
        "decided_by": "sliding-window",
        "tool_call_id": "c1",
        "tool": "get_order",
    }
