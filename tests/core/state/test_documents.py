"""A document is read as a whole or refused by name; what it says without text; bounds."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_cases import Worker, asks, result, says, user

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.messages import Message, Text
from otel_footprint.core.state.document import from_document, to_document
from otel_footprint.core.window.sliding_window import SlidingWindow

SECRET = "ZQ-5918442"
SYSTEM = [Message("system", (Text(f"You never tell {SECRET}-S."),))]


def told() -> tuple[Worker, list[Message]]:
    """A conversation with all that a document can hold: results that left, a fork, handed-in evidence, an old response."""
    worker = Worker(SlidingWindow(2), findings=Findings(code_tools=["run"]))
    worker.store.hand_in("a", f"Manual {SECRET}-H", "manual", now=1.0)
    worker.store.say("a", f"Please, {SECRET}-Q", now=1.0)
    history: list[Message] = [user(f"Read {SECRET}-U.")]
    for number in range(6):
        call = asks((f"c{number}", "get", {"of": f"{SECRET}-A{number}"}), text=f"I read {SECRET}-T.")
        worker.call(history, call, number=number, system=SYSTEM, response_id=f"r{number}")
        history += [call, result(f"c{number}", {"total": 84.5 + number, "id": f"{SECRET}-R{number}"})]
    answer = says("The two come to 174.00.")
    worker.call(history, answer, number=6, system=SYSTEM)
    script = asks(("c6", "run", {"code": f"print('{SECRET}-C')"}))
    worker.call([history[0], user("Another way.")], script, number=7, system=SYSTEM, acting=False)
    worker.call([user("Elsewhere.")], number=8, system=[user("x")], acting=False)
    return worker, [*history, answer]


WORKER, HISTORY = told()
WHOLE = WORKER.document(text=True)
BARE = WORKER.document(text=False)


@pytest.mark.parametrize("document", [WHOLE, BARE], ids=["text", "bare"])
def test_what_is_read_is_written_again_as_it_was(document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(to_document(from_document(document)))) == document


def test_without_text_no_text_is_in_it() -> None:
    assert SECRET in json.dumps(WHOLE)
    text = json.dumps(BARE)
    assert SECRET not in text
    assert "84.5" not in text
    assert "174" not in text
    assert "You never" not in text
    assert "Another way" not in text


def test_a_conversation_without_text_can_be_saved_and_restored_again() -> None:
    there = Worker(SlidingWindow(2), findings=Findings())
    there.restore(BARE)
    assert there.document(text=True) == {**BARE, "text": True}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def changed(document: dict[str, Any], path: tuple[Any, ...], change: Any) -> dict[str, Any]:
    made = copy.deepcopy(document)
    holder: Any = made
    for step in path[:-1]:
        holder = holder[step]
    if change is DELETE:
        del holder[path[-1]]
    else:
        holder[path[-1]] = change
    return made


DELETE: Any = object()
PLACES = {id(document): places(document) for document in (WHOLE, BARE)}
ANYTHING = st.one_of(
    st.just(DELETE),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=5,
    ),
    st.sampled_from(["", "0" * 32, [], {}, 2**63, -1, 1e308, ["a", 1], {"digest": "00", "chars": 1}, "\x00", "\ud800"]),
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([WHOLE, BARE]), st.data())
def test_a_malformed_document_is_refused_and_nothing_else_goes_wrong(
    document: dict[str, Any], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(PLACES[id(document)]))
    broken = changed(document, path, data.draw(ANYTHING))
    worker = Worker(SlidingWindow(2), findings=Findings())
    before = worker.document(text=True)
    try:
        worker.restore(broken)
    except ConfigurationError:
        assert worker.document(text=True) == before
        return
    assert from_document(worker.document(text=True)) is not None
    worker.call([*HISTORY, user("Go on.")], says("Yes, 84.50."), number=9, system=SYSTEM)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda x: st.lists(x) | st.dictionaries(st.text(max_size=8), x),
    )
)
def test_what_is_no_document_at_all_is_refused(value: Any) -> None:
    with pytest.raises(ConfigurationError):
        from_document(value)


THREAD = ("session", "threads", 0)
LONE = {"session": None, "calls": 3}
ASKED = [user("How much?"), asks(("c50", "get", {})), result("c50", {"total": 12.5, "id": "W-12"})]


@pytest.mark.parametrize("document", [WHOLE, BARE], ids=["text", "bare"])
def test_every_field_that_is_not_ours_is_refused_wherever_it_stands(document: dict[str, Any]) -> None:
    """But in what a tool was given or gave back, and beside what says nothing."""
    for path in [(), *PLACES[id(document)]]:
        holder: Any = document
        for step in path:
            holder = holder[step]
        if isinstance(holder, dict) and "arguments" not in path and path[-1:] != ("content",):
            with pytest.raises(ConfigurationError, match="surprise"):
                from_document(changed(document, (*path, "surprise"), 1))


def test_a_document_that_says_it_has_no_texts_has_none() -> None:
    with pytest.raises(ConfigurationError, match=r"parts has no place in it; .* only where text is true"):
        from_document({**WHOLE, "text": False})


@pytest.mark.parametrize("name", ["id", "named", "text", "calls", "window", "session", "version", "format"])
def test_nothing_of_its_own_may_be_missing_but_an_id(name: str) -> None:
    document = {key: value for key, value in WHOLE.items() if key != name}
    if name == "id":
        assert from_document(document).id is None
        return
    with pytest.raises(ConfigurationError, match=f"conversation.restore=….: .*{name}"):
        from_document(document)


def test_its_calls_are_those_of_its_threads() -> None:
    with pytest.raises(
        ConfigurationError, match="calls is not the 15 calls of the threads of its session but the number 8"
    ):
        from_document({**WHOLE, "calls": 8})


def test_a_conversation_of_which_nothing_is_known_any_more_is_one_whose_history_was_not_seen() -> None:
    there = Worker(findings=Findings())
    there.restore({**WHOLE, **LONE})
    assert there.document(text=True)["session"]["lost"] is True
    decided = there.call(ASKED, says("It was 4711.50."), number=20)
    assert decided.judgements[0].verdict == "inconclusive"
    assert "unseen_history" in decided.judgements[0].reasons
    again = Worker(findings=Findings())
    again.restore(there.document(text=True))
    decided = again.call([*ASKED, says("It was 4711.50."), user("And the other?")], says("It was 99.25."), number=21)
    assert "unseen_history" in decided.judgements[0].reasons


def test_a_conversation_without_calls_goes_on_as_one_that_begins() -> None:
    there = Worker()
    there.restore({**WHOLE, "session": None, "calls": 0, "window": {**WHOLE["window"], "lines": []}})
    assert there.call(ASKED, says("It was 4711.50."), number=20).judgements[0].verdict == "ungrounded"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("version",), 2, "version 2 is not known, only 1"),
        (("session",), [], "session is not an object but a list"),
        (("session", "created"), -1, r"session.created is not a whole number of at least 0 but the number -1"),
        (("session", "threads"), {}, "session.threads is not a list but an object"),
        ((*THREAD, "number"), 2, "a number each of their own"),
        ((*THREAD, "turn"), "3", r"threads\[0\].turn is not a whole number of at least 0 but a string"),
        ((*THREAD, "messages", 0, "message", "role"), "boss", r"message.role is not one of .* but 'boss'"),
        ((*THREAD, "messages", 0, "message", "parts", 0, "type"), "song", "a kind of part that this version knows"),
        ((*THREAD, "messages", 0, "born"), "now", r"messages\[0\].born is not a call"),
        ((*THREAD, "evidence", "results", 0, "outcome"), "odd", "outcome is not one of"),
        ((*THREAD, "evidence", "results", 0, "content"), 7, "content is not a string"),
        ((*THREAD, "evidence", "memory", "computed"), [["money", "x", "sum"]], "a decimal number"),
        ((*THREAD, "evidence", "memory", "computed"), [["bananas", "1", "sum"]], "is not one of"),
        ((*THREAD, "findings", "rows"), [{"kind": "prophecy"}], "unknown kind 'prophecy'"),
        ((*THREAD, "findings", "rows"), [{"kind": "basis", "turn": 1}], "lacks the field"),
        ((*THREAD, "findings", "rows"), [7], r"findings.rows\[0\] is a number"),
        ((*THREAD, "outputs"), None, "outputs is not a list"),
        ((*THREAD, "responses"), [["r", 999, {"role": "user", "parts": []}, False]], "a number of messages of the window"),
        ((*THREAD, "reports"), [[1, [999]]], "places in the window"),
        (("window", "lines", 0, "thread"), 0, "thread is not a whole number of at least 1"),
        (("id",), "", "id is not a string of 1 to 256 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        from_document(changed(WHOLE, path, value))


def test_a_stub_can_be_no_message_that_we_send() -> None:
    summary = {"role": "user", "key": "00" * 16, "chars": 3, "authored": "summary"}
    line = {**BARE["window"]["lines"][0], "items": [{"put": summary, "born_at": None, "born": None, "born_call": 0}]}
    with pytest.raises(ConfigurationError, match="put is not a user message"):
        from_document({**BARE, "window": {**BARE["window"], "lines": [line]}})


def test_numbers_that_no_clock_gives_are_refused() -> None:
    for value in (float("nan"), float("inf"), 1e300):
        with pytest.raises(ConfigurationError, match="completed_at is not a number"):
            from_document(changed(WHOLE, (*THREAD, "completed_at"), value))
