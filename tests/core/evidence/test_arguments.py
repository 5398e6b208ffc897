"""The values that tool calls pass on: each rule with an example, and its mirror: a changed digit is found out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence.argument_leaves import MAX_LEAVES, path_text, use_of
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence, Shape
from otel_footprint.core.evidence.verdicts import CallJudgement, Reason
from otel_footprint.core.messages import Json, ToolCall, ToolResult

ORDER: Json = {"id": "#W2378156", "email": "mia.li@example.com", "total": 305.5, "placed": "2024-05-20"}


class Agent:
    """A conversation that is filled step by step."""

    def __init__(self, **options: Any) -> None:
        self.corpus = Corpus(Evidence(**options))
        self.calls = 0
        self.turn = 0

    def said(self, text: str) -> Agent:
        self.turn += 1
        self.corpus.say(text)
        return self

    def read(self, content: Json, tool: str = "lookup", arguments: Json = None, *, error: bool = False) -> Agent:
        self.calls += 1
        ref = f"c{self.calls}"
        self.corpus.call(ToolCall(ref, tool, arguments), ref=ref, turn=self.turn)
        self.corpus.result(
            ToolResult(ref, tool, content, is_error=error), ref=ref, tool=tool, turn=self.turn, served=None
        )
        return self

    def calls_with(self, arguments: Json, blind: frozenset[Reason] = frozenset()) -> CallJudgement:
        return self.corpus.judge_call(ToolCall("next", "act", arguments), turn=self.turn, blind=blind)


def statuses(judgement: CallJudgement) -> dict[str, str]:
    return {value.text: value.status for value in judgement.values}


def test_read_and_its_mirror() -> None:
    agent = Agent().said("refund my last order").read(ORDER)
    good = agent.calls_with({"order_id": "#W2378156", "to": "mia.li@example.com", "amount": 305.5})
    assert statuses(good) == {"#W2378156": "read", "mia.li@example.com": "read", "305.5": "read"}
    assert [value.carriers[0].tool for value in good.values] == ["lookup"] * 3
    assert not any(value.unaccounted for value in good.values)

    bad = agent.calls_with({"order_id": "#W2378165", "to": "mia.li@example.org", "amount": 306.5})
    assert statuses(bad) == {"#W2378165": "unsupported", "mia.li@example.org": "unsupported", "306.5": "unsupported"}
    assert all(value.unaccounted for value in bad.values)


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ({"date": "20 May 2024"}, {"date": "21 May 2024"}),
        ({"amount": "$305.50"}, {"amount": "$305.60"}),
        ({"note": "Order W2378156 comes to $305.50."}, {"note": "Order W2378157 comes to $305.60."}),
    ],
)
def test_respelled_and_its_mirror(arguments: Json, changed: Json) -> None:
    agent = Agent().read(ORDER)
    assert set(statuses(agent.calls_with(arguments)).values()) <= {"read", "respelled"}
    assert set(statuses(agent.calls_with(changed)).values()) == {"unsupported"}


def test_paths_name_every_place() -> None:
    judged = Agent().calls_with({"flights": [{"no": "HAT1"}, {"no": "HAT2"}], "first": {"no": "HAT1"}})
    assert [(value.text, value.paths) for value in judged.values] == [
        ("HAT1", ("flights[0].no", "first.no")),
        ("HAT2", ("flights[1].no",)),
    ]
    assert path_text(()) == ""


def test_text_arguments_are_read_as_prose() -> None:
    judged = Agent().read(ORDER).calls_with("refund W2378156 and W2378157")
    assert statuses(judged) == {"W2378156": "read", "W2378157": "unsupported"}
    assert judged.values[0].paths == ("",)


@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 5000, "page": 2024, "offset": "1000", "max_results": 2500, "top_k": 4096, "timeout_seconds": 3000},
        {"total_baggages": 3, "num_passengers": 1200, "radius_km": 5, "temperature": 0.75, "seed": 123456},
        {"dry_run": True, "nothing": None, "cabin": "economy", "q": "two words", "empty": "", "list": []},
        {"model": "gpt-4o-2024-08-06", "encoding": "utf-8", "size": "1024x1024", "format": "mp4"},
        {"code": "for i in range(10000):\n    print(i + 2024)", "script": "sleep 3600; exit 12345"},
        {"amount": 0, "user": "mia", "address1": "3 Elm Street"},
        {},
        None,
        "",
        [],
    ],
)
def test_what_is_no_data(arguments: Json) -> None:
    assert Agent().calls_with(arguments).values == ()


@pytest.mark.parametrize(
    ("field", "use"),
    [
        ("order_id", "identifier"),
        ("orderId", "identifier"),
        ("item_ids", "identifier"),
        ("zip", "identifier"),
        ("flight_number", "identifier"),
        ("number_of_guests", "setting"),
        ("max_results", "setting"),
        ("max_price", "plain"),
        ("total_amount", "plain"),
        ("discount_code", "identifier"),
        ("source_code", "code"),
        ("cabin", "choice"),
        ("amount", "plain"),
        (None, "plain"),
    ],
)
def test_what_a_field_is_for(field: str | None, use: str) -> None:
    assert use_of(field) == use


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ({"amount": 5}, ["5"]),
        ({"max_price": 40}, ["40"]),
        ({"user_id": "mia_li"}, ["mia_li"]),
        ({"record_id": 42}, ["42"]),
        ({"reservation_id": "HXDUBJ"}, ["HXDUBJ"]),
        ({"phone": "+1 555 010 9999"}, ["+1 555 010 9999"]),
        ({"start": "14:30"}, ["14:30"]),
        ({"cc": ["a@b.io", "c+d@e.io"]}, ["a@b.io", "c+d@e.io"]),
        ({"page_url": "https://example.com/docs."}, ["https://example.com/docs"]),
        ({"cells": {"1234567": 1}}, ["1234567"]),
        ({"query": "SELECT * FROM orders WHERE id = 'W2378156' LIMIT 10"}, ["W2378156"]),
    ],
)
def test_what_is_data(arguments: Json, texts: list[str]) -> None:
    assert [value.text for value in Agent().calls_with(arguments).values] == texts


@pytest.mark.parametrize("text", ["['3799046073', '9647292434']", '["3799046073", "9647292434"]'])
def test_printed_lists_inside_of_arguments_are_read(text: str) -> None:
    agent = Agent().read({"items": ["3799046073"]})
    judged = agent.calls_with({"item_ids": text})
    assert statuses(judged) == {"3799046073": "read", "9647292434": "unsupported"}
    assert judged.values[1].paths == ("item_ids[1]",)


def test_a_call_never_grounds_itself_nor_the_calls_beside_it() -> None:
    agent = Agent().said("book it")
    one: Json = {"order_id": "W1111111"}
    other: Json = {"ref": "W1111111"}
    before = agent.corpus.calls_made
    assert statuses(agent.calls_with(one)) == {"W1111111": "unsupported"}
    agent.corpus.call(ToolCall("a", "act", one), ref="a", turn=1)
    later = agent.corpus.judge_call(ToolCall("b", "act", other), turn=1, calls_before=before)
    assert statuses(later) == {"W1111111": "unsupported"}


@pytest.mark.parametrize(
    ("content", "error", "strict", "status"),
    [
        ({"found": "yes"}, False, False, "echoed"),
        ({"found": "yes"}, False, True, "argument_only"),
        ([], False, False, "argument_only"),
        ("no such order", True, False, "argument_only"),
    ],
)
def test_values_of_earlier_calls(content: Json, error: bool, strict: bool, status: str) -> None:
    agent = Agent(strict=strict).read(content, arguments={"order_id": "W1111111"}, error=error)
    assert statuses(agent.calls_with({"order_id": "W1111111"})) == {"W1111111": status}
    assert statuses(agent.calls_with({"order_id": "W1111112"})) == {"W1111112": "unsupported"}


def test_evicted_names_what_left() -> None:
    agent = Agent().read(ORDER)
    agent.corpus.leave(["c1"], decision="evict", decided_by="application", dropped=None)
    (value,) = agent.calls_with({"order_id": "#W2378156"}).values
    assert value.status == "evicted"
    assert value.unaccounted
    assert value.evicted_by is not None
    assert (value.evicted_by.tool, value.evicted_by.decision) == ("lookup", "evict")


def test_an_identifier_is_never_put_together_of_parts() -> None:
    agent = Agent().said("Use my card ending in 7334").read({"methods": ["gift_card_5634230", "paypal_7334112"]})
    made_up = agent.calls_with({"payment_id": "credit_card_7334", "other_id": "credit_card_5634230"})
    assert set(statuses(made_up).values()) == {"unsupported"}
    assert statuses(agent.calls_with({"payment_id": "gift_card_5634230"})) == {"gift_card_5634230": "read"}


@pytest.mark.parametrize(
    ("said", "given", "changed"),
    [
        ("The order ID is 9502126.", "#W9502126", "#W9502127"),
        ("My code is HXD-UB7, thanks", "HXDUB7", "HXDUB8"),
        ("it is h x d u b 7", "HXDUB7", "HXDUC7"),
    ],
)
def test_an_identifier_as_a_person_spells_it(said: str, given: str, changed: str) -> None:
    agent = Agent().said(said)
    assert statuses(agent.calls_with({"order_id": given})) == {given: "said"}
    assert statuses(agent.calls_with({"order_id": changed})) == {changed: "unsupported"}


@pytest.mark.parametrize(
    ("said", "given", "changed", "name"),
    [
        ("Move it to the next day", "2024-05-21", "2024-05-22", "date plus days"),
        ("push it back by one day, please", "2024-05-21", "2024-05-28", "date plus days"),
        ("three weeks later", "2024-06-10", "2024-06-11", "date plus days"),
        ("a week after 2024-05-29", "05/06/2024", "05/07/2024", "date plus days"),
        ("a week after 2024-04-29", "05/06/2024", "05/07/2024", "date plus days"),
        ("Search May 20 to May 25.", "2024-05-23", "2024-05-26", "date in range"),
        ("2024-05-28 through 2024-06-02", "2024-05-31", "2024-06-05", "date in range"),
    ],
)
def test_dates_asked_for_in_other_words(said: str, given: str, changed: str, name: str) -> None:
    agent = Agent().read(ORDER).said(said)
    (value,) = agent.calls_with({"date": given}).values
    assert value.status == "computed"
    assert value.derivation is not None
    assert value.derivation.name == name
    assert statuses(agent.calls_with({"date": changed})) == {changed: "unsupported"}


def test_a_weekday_counts_from_a_date_that_was_said() -> None:
    agent = Agent().said("Today is 2024-05-15.").said("Find something next Friday")
    assert statuses(agent.calls_with({"date": "2024-05-24"})) == {"2024-05-24": "computed"}
    assert statuses(agent.calls_with({"date": "2024-05-25"})) == {"2024-05-25": "unsupported"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"start": "2026-03-03T14:00:00", "end": "2026-03-03T15:00:00"}, ["computed", "computed"]),
        ({"start": "2026-03-03T14:00:00Z", "end": "2026-03-03T15:00:00Z"}, ["computed", "computed"]),
        ({"start": "2026-03-03T16:00:00", "end": "2026-03-03T18:30:00"}, ["unsupported", "unsupported"]),
        ({"start": "2026-03-05T14:00:00", "end": "2026-03-03T14:10:00"}, ["unsupported", "unsupported"]),
        ({"date": "2026-03-03", "from": "14:00", "to": "15:00"}, ["computed", "said", "computed"]),
        ({"date": "2026-03-03", "from": "14:00", "to": "15:10"}, ["computed", "said", "unsupported"]),
        ({"since": "2026-03-03T00:00:00", "until": "2026-03-03T23:59:59"}, ["computed", "computed"]),
        ({"at": "2026-03-02T14:00:00"}, ["said"]),
    ],
)
def test_a_moment_is_a_date_and_a_time(arguments: Json, found: list[str]) -> None:
    agent = Agent().said("Today is 2026-03-02.").said("Book tomorrow at 2 pm, for an hour")
    assert [value.status for value in agent.calls_with(arguments).values] == found


def test_what_is_left_to_pay() -> None:
    agent = Agent().read({"card": {"balance": 100}}).read("Error: total price is 305, but paid 255", error=True)
    split: Json = [{"id": "a_card", "amount": 100}, {"id": "b_card", "amount": 205}]
    rest = next(value for value in agent.calls_with({"payments": split}).values if value.text == "205")
    assert rest.status == "computed"
    assert rest.derivation is not None
    assert rest.derivation.inputs == ("305", "100")
    wrong: Json = [{"id": "a_card", "amount": 100}, {"id": "b_card", "amount": 206}]
    assert statuses(agent.calls_with({"payments": wrong}))["206"] == "unsupported"


def test_a_price_for_everyone_in_a_list() -> None:
    agent = Agent().read([{"flight_number": "HAT271", "price": 174}, {"flight_number": "HAT139", "price": 114}])
    people: Json = [{"name": "Mia"}, {"name": "Kevin"}]
    call: dict[str, Json] = {"flight_number": "HAT271", "passengers": people}
    assert statuses(agent.calls_with({**call, "amount": 348}))["348"] == "computed"
    assert statuses(agent.calls_with({**call, "amount": 349}))["349"] == "unsupported"
    assert statuses(agent.calls_with({**call, "amount": 228}))["228"] == "unsupported", "another flight's price"


def test_addresses_put_together_of_what_was_read() -> None:
    agent = Agent().said("Use https://api.example.com/v1/").read(ORDER)
    good, bad = "https://api.example.com/v1/orders/W2378156", "https://api.example.com/v1/orders/W2378157"
    assert statuses(agent.calls_with({"url": good})) == {good: "respelled"}
    assert statuses(agent.calls_with({"url": bad})) == {bad: "unsupported"}
    assert statuses(agent.calls_with({"url": "https://api.example.org/v1/"})) == {
        "https://api.example.org/v1/": "unsupported"
    }


def test_placeholders_were_passed_on_so_they_count() -> None:
    assert statuses(Agent().calls_with({"order_id": "W0000000"})) == {"W0000000": "unsupported"}
    assert Agent().calls_with({"thought": "store it in var_6 with total_bags:1"}).values == ()


def test_a_window_that_was_not_wholly_seen_accuses_nobody() -> None:
    judged = Agent().calls_with({"order_id": "W1111111"}, blind=frozenset({"opaque_content"}))
    assert statuses(judged) == {"W1111111": "unsupported"}
    assert judged.reasons == ("opaque_content",)
    assert not judged.values[0].unaccounted


def test_declared_shapes_and_exemptions() -> None:
    agent = Agent(shapes=(Shape("team", "team-[a-z]+"),), exempt=("W0000001",))
    judged = agent.calls_with({"owner": "team-blue", "order_id": "W0000001"})
    assert [(value.text, value.shape, value.status) for value in judged.values] == [
        ("team-blue", "team", "unsupported"),
        ("W0000001", "identifier", "said"),
    ]


def test_bounds_hold_on_hostile_arguments() -> None:
    deep: Json = "W1111111"
    for _ in range(2_000):
        deep = [deep]
    assert len(Agent().calls_with(deep).values) <= 1
    wide: Json = {"ids": [f"W{number:07d}" for number in range(10_000)]}
    assert len(Agent().calls_with(wide).values) <= MAX_LEAVES
    for text in ("[" * 60_000 + "]" * 60_000, "@" * 50_000, "a@" * 20_000, "https://" * 10_000, "a.b@" + "c." * 20_000):
        Agent().said("x").calls_with({"text": text})


_FIELDS = st.sampled_from(["order_id", "amount", "date", "to", "limit", "note", "items", "url"])
_LEAVES: st.SearchStrategy[Any] = (
    st.integers(-10_000, 10_000)
    | st.booleans()
    | st.none()
    | st.sampled_from(
        ["#W2378156", "2024-05-20", "2024-05-21", "mia.li@example.com", "$305.50", "https://e.com/W2378156", "12:30"]
    )
    | st.text(max_size=12)
)
_ARGUMENTS = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_FIELDS, inner, max_size=4), max_leaves=8
)
_ANSWERS = st.sampled_from(
    [
        "Order #W2378156 comes to $305.50, placed May 20, 2024.",
        "Twice that is $611, and W2378157 is next.",
        "The rest is $205.50; see https://e.com/W2378156.",
        "Nothing to say.",
    ]
)


@settings(max_examples=150, deadline=None)
@given(calls=st.lists(_ARGUMENTS, max_size=4), answers=st.lists(_ANSWERS, min_size=1, max_size=3))
def test_judging_arguments_never_changes_an_answers_verdict(calls: list[Any], answers: list[str]) -> None:
    def judged(*, arguments: bool) -> list[Any]:
        agent = Agent().said("Please check 2024-05-21, one day later").read(ORDER).read({"price": 100, "id": "X-1"})
        agent.corpus.leave(["c2"], decision="evict", decided_by="application", dropped=None)
        found = []
        for answer in answers:
            for call in calls if arguments else ():
                agent.calls_with(call)
            found.append(agent.corpus.judge(answer, turn=1, tools_offered=True))
            for call in calls:
                agent.read("ok", arguments=call)
        return found

    assert judged(arguments=True) == judged(arguments=False)


@settings(max_examples=150, deadline=None)
@given(arguments=_ARGUMENTS, again=st.integers(1, 3))
def test_the_same_call_is_judged_the_same_however_often(arguments: Any, again: int) -> None:
    agent = Agent().said("Please check 2024-05-21").read(ORDER)
    first = agent.calls_with(arguments)
    assert all(agent.calls_with(arguments) == first for _ in range(again))
    assert not any(value.unaccounted and value.status in ("said", "read", "respelled") for value in first.values)


@settings(max_examples=100, deadline=None)
@given(st.integers(10**6, 10**7 - 1), st.integers(0, 6), st.integers(1, 9))
def test_a_changed_digit_of_an_identifier_that_was_read_is_found_out(number: int, place: int, by: int) -> None:
    digits = str(number)
    changed = digits[:place] + str((int(digits[place]) + by) % 10) + digits[place + 1 :]
    agent = Agent().read(json.dumps({"order": f"W{digits}"}))
    assert statuses(agent.calls_with({"order_id": f"W{digits}"})) == {f"W{digits}": "read"}
    assert statuses(agent.calls_with({"order_id": f"W{changed}"})) == {f"W{changed}": "unsupported"}
