"""Findings through the store of conversations: declared in calls, filed in the thread, and nothing of ours in the history."""

from otel_footprint.core.call import Call, CallRef, FindingsFacts, Output, PlannedFacts
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.messages import Message, Text, ToolCall, ToolResult

FINDINGS = Findings()
SYSTEM = Message("system", (Text("You help."),))
PERSON = Message("user", (Text("What is the total of my order?"),))
RESULT = Message("tool", (ToolResult("c1", "get_order", {"order": "W1", "total": 1234}),))


def asks(findings=None, *, id_="c1"):
    arguments = {"id": "W1"}
    if findings is not None:
        arguments["_findings"] = findings
    return Message("assistant", (ToolCall(id_, "get_order", arguments),))


def answers(text="The total is 1234."):
    return Message("assistant", (Text(text),))


class Agent:
    """Drives the store as the hook would."""

    def __init__(self):
        self.store = Conversations(evidence=Evidence(), limits=Limits(), new_id=lambda: "inferred")
        self.count = 0

    def call(self, messages, output, *, planned=None, system=(SYSTEM,), findings=FINDINGS):
        self.count += 1
        call = Call(
            messages=tuple(messages),
            system=system,
            outputs=(Output(output),),
            now=float(self.count),
            ref=CallRef(1, self.count),
            tools=("get_order",),
            conversation_id="order",
            conversation_source="explicit",
            planned=planned,
        )
        if findings is None:
            return self.store.observe(call)
        call, declared = self.store.stripped(call)
        return self.store.observe(call, findings=findings, declared=declared)


DECLARED = {"basis": "direct", "previous": [{"toolCallId": "c1", "standing": "noise"}]}


def test_a_declaration_makes_an_answer_contingent():
    agent = Agent()
    first = agent.call([PERSON], asks({"basis": "exploratory"}))
    assert [row.kind for row in first.findings.rows] == ["basis"]
    assert first.calls[0].values[0].text == "W1"
    second = agent.call([PERSON, asks(), RESULT], asks(DECLARED, id_="c2"))
    assert second.window.decision == "append"
    assert [row.kind for row in second.findings.rows] == ["basis", "standing", "contingent"]
    again = Message("tool", (ToolResult("c2", "get_order", {"order": "W1"}),))
    third = agent.call([PERSON, asks(), RESULT, asks(DECLARED, id_="c2"), again], answers())
    assert third.window.decision == "append"
    assert [row.kind for row in third.findings.rows] == ["contingent", "grounded"]
    assert third.findings.assessments[0].standing == "not-sure"
    assert third.judgements[0].verdict == "grounded"


def test_our_texts_and_tickets_are_no_part_of_the_history():
    agent = Agent()
    ticket = '{"collapsed": true}'
    ours = FindingsFacts(texts=("ours", "list"), served={ticket: RESULT})
    agent.call([PERSON], asks())
    agent.call([PERSON, asks(), RESULT], asks(DECLARED, id_="c2"))
    collapsed = Message("tool", (ToolResult("c1", "get_order", ticket),))
    other = Message("tool", (ToolResult("c2", "get_order", "none"),))
    for system in (
        (SYSTEM, Message("system", (Text("ours"),)), Message("system", (Text("list"),))),
        (Message("system", (Text("You help."), Text("ours"), Text("list"))),),
        (Message("system", (Text("You help.\n\nours\n\nlist"),)),),
    ):
        window = [PERSON, asks(), collapsed, asks(id_="c2"), other]
        found = agent.call(window, answers(), planned=PlannedFacts(findings=ours), system=system)
        assert found.window.decision == "append"
        assert found.thread == 1
        assert found.window.rewrites == ()
        assert found.judgements[0].verdict == "grounded"


def test_without_findings_nothing_is_stripped_or_followed():
    agent = Agent()
    found = agent.call([PERSON], asks({"basis": "direct"}), findings=None)
    assert found.findings is None
    assert agent.store.newest_track("order") is None


def test_a_fork_inherits_what_was_declared_in_what_it_shares():
    other = Message("user", (Text("And the date?"),))
    again = Message("tool", (ToolResult("c2", "get_order", {"order": "W1"}),))
    later = {"basis": "direct", "previous": [{"toolCallId": "c2", "standing": "fact"}]}
    agent = Agent()
    agent.call([PERSON], asks())
    window = [PERSON, asks(), RESULT]
    agent.call(window, asks(DECLARED, id_="c2"))
    agent.call([*window, asks(id_="c2"), again], asks(later, id_="c3"))
    fork = agent.call([*window, asks(id_="c2"), again, answers("?"), other], answers("1234"))
    number, track = agent.store.newest_track("order")
    assert number == fork.thread == 2
    assert (track.standing_of("c1"), track.standing_of("c2")) == ("noise", None)
    agent.call([*window, answers("!"), Message("user", (Text("And the name?"),))], answers("1234"))
    number, track = agent.store.newest_track("order")
    assert (number, track.standing_of("c1")) == (3, None)
