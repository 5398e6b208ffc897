"""The reserved argument on the wire: optional, bounded, and nothing in it can pose as something else."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.findings.declaring import DeclaredStanding
from otel_footprint.core.findings.ledger import At, Ledger
from otel_footprint.core.findings.offer import OFFERED_LIMIT, Offer, decorate, offer_of, owners, reserved_schema
from otel_footprint.core.findings.peeling import RESERVED, peel_text
from otel_footprint.core.findings.rows import TEXT_LIMIT, Assertion
from otel_footprint.core.findings.serving import HEADING, IDS_LIMIT, LINES_LIMIT, served_list, ticket

AT = At(1, 1)
TOOL = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False}


def test_a_tool_gets_one_optional_property_and_keeps_everything_else():
    before = copy.deepcopy(TOOL)
    decorated = decorate(TOOL, reserved_schema(Offer(("a",))), strict=False)
    assert before == TOOL
    assert decorated["properties"].pop(RESERVED)["required"] == ["basis"]
    assert decorated == TOOL
    assert decorate(None, {}, strict=False)["properties"] == {RESERVED: {}}


@pytest.mark.parametrize(
    ("schema", "strict", "why"),
    [
        (TOOL, True, "strict"),
        ({"type": "object", "properties": {RESERVED: {}}}, False, "owned"),
        ({"type": "string"}, False, "no-object"),
        ({"properties": []}, False, "no-object"),
    ],
)
def test_a_tool_that_cannot_carry_it_is_left_alone_and_says_why(schema, strict, why):
    assert decorate(schema, {}, strict=strict) == why


def test_a_tool_that_owns_the_name_is_known():
    assert owners([("a", TOOL), ("b", {"properties": {RESERVED: {}}}), ("c", None)]) == {"b"}


def test_what_may_be_named_is_what_is_not_closed_newest_first():
    refs = [f"r{number}" for number in range(50)]
    offer = offer_of(refs, {"r49": "noise", "r48": "fact", "r47": "ruled-out"}.get)
    assert offer.ids[:2] == ("r48", "r46")
    assert len(offer.ids) == OFFERED_LIMIT
    assert offer.omitted == 48 - OFFERED_LIMIT
    schema = reserved_schema(offer)
    named = schema["properties"]["previous"]["items"]["properties"]["toolCallId"]
    assert named["enum"] == list(offer.ids)
    assert "16 older" in named["description"]
    assert "previous" not in reserved_schema(Offer(()))["properties"]


def ledger_with(*entries):
    ledger = Ledger()
    for entry in entries:
        ledger.stand(entry, AT, known=True)
    return ledger


def test_the_list_names_facts_limitations_open_ones_and_counts_the_rest():
    ledger = ledger_with(
        DeclaredStanding("a", "fact", line="gold member", assertions=(Assertion("user", "u1", "tier", "gold"),)),
        DeclaredStanding("b", "ruled-out", line="no flight that day"),
        DeclaredStanding("c", "open"),
        DeclaredStanding("d", "noise"),
    )
    assert served_list(ledger, ["a", "b", "c", "d", "e"]).splitlines() == [
        HEADING,
        "Facts:",
        '- [tool:a] declared by the model: gold member / asserts user u1 tier = "gold"',
        "Limitations:",
        "- [tool:b] declared by the model: no flight that day",
        "Open: c",
        "Results that nothing was declared about: 1",
    ]
    assert served_list(Ledger(), ["a"]) is None
    assert json.loads(ticket(ledger.current["d"])) == {"collapsed": True, "standing": "noise", "toolCallId": "d"}


@given(st.text(), st.text(max_size=20), st.text())
def test_no_text_of_the_model_makes_a_line_of_its_own(line, ref, said):
    ledger = ledger_with(
        DeclaredStanding(
            ref or "r", "fact", line=line + "\n\nFacts:\r- [tool:x]", assertions=(Assertion("k", "i", "p", said),)
        )
    )
    lines = served_list(ledger, []).splitlines()
    assert len(lines) == 3
    assert lines[1] == "Facts:"
    assert lines[2].startswith("- [tool:")
    assert len(lines[2]) <= TEXT_LIMIT + 2


def test_the_list_is_bounded():
    many = [DeclaredStanding(f"f{n}", "fact", line="x" * 5000) for n in range(500)]
    many += [DeclaredStanding(f"o{n}", "open") for n in range(500)]
    text = served_list(ledger_with(*many), [])
    assert len(text) < (LINES_LIMIT + 2) * (TEXT_LIMIT + 10) + IDS_LIMIT * 10 + 200
    assert f"({500 - LINES_LIMIT} more are left out)" in text
    assert f"and {500 - IDS_LIMIT} more" in text


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=5), max_size=4), st.integers(0, 4))
def test_peeling_what_was_decorated_gives_the_arguments_of_the_tool(arguments, at):
    arguments.pop(RESERVED, None)
    items = list(arguments.items())
    with_it = dict([*items[:at], (RESERVED, {"basis": "direct"}), *items[at:]])
    seen, removed = peel_text(json.dumps(with_it))
    assert json.loads(seen) == arguments
    assert len(removed) == 1
