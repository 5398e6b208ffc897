"""The ledger: the last standing counts, conflicts are filed once, a value is contingent only when every carrier is set aside."""

from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.evidence.verdicts import Carrier, Value
from otel_footprint.core.findings.declaring import Declared, DeclaredStanding
from otel_footprint.core.findings.ledger import ROWS_LIMIT, At, Ledger, comparable
from otel_footprint.core.findings.rows import Assertion, BasisRow, ConflictRow, StandingRow, UnsettledRow
from otel_footprint.core.findings.standing import SET_ASIDE, STANDINGS

AT = At(1, 1)


def say(ledger, ref, standing, value=None, *, known=True, gaps=0):
    assertions = () if value is None else (Assertion("order", "W1", "total", value),)
    return ledger.stand(DeclaredStanding(ref, standing, assertions=assertions), AT, known=known, gaps=gaps)


def value(*refs, turn=1, cut=False):
    carriers = tuple(Carrier(ref, ref, "tool", turn) for ref in refs)
    return Value("1234", ((0, 4),), "number", "read", False, carriers, cut, turn)


def test_a_declaration_files_its_basis_and_its_standings():
    ledger = Ledger()
    rows = ledger.declare(
        Declared("direct", previous=(DeclaredStanding("a", "fact"), DeclaredStanding("b", "noise"))),
        AT,
        known=lambda ref: ref == "a",
        gaps=lambda ref: 0,
        ref="c",
        tool="search",
    )
    assert [type(row) for row in rows] == [BasisRow, StandingRow, StandingRow]
    assert [row.unknown_id for row in rows[1:]] == [False, True]
    assert ledger.rows == rows


def test_two_facts_that_disagree_are_a_conflict_once():
    ledger = Ledger()
    assert not any(isinstance(row, ConflictRow) for row in say(ledger, "a", "fact", "1,200.50"))
    assert not any(isinstance(row, ConflictRow) for row in say(ledger, "b", "fact", 1200.5))
    conflict = say(ledger, "c", "fact", 1200.6)[-1]
    assert isinstance(conflict, ConflictRow)
    assert conflict.witnesses == ("a", "b", "c")
    say(ledger, "c", "noise")
    assert len(say(ledger, "c", "fact", 7)) == 1


def test_only_current_known_facts_assert():
    ledger = Ledger()
    say(ledger, "a", "fact", 1)
    say(ledger, "a", "open", 1)
    say(ledger, "x", "fact", 3, known=False)
    assert [type(row) for row in say(ledger, "b", "fact", 2)] == [StandingRow]


def test_a_name_nobody_knows_has_no_standing_and_sets_nothing_aside():
    ledger = Ledger()
    say(ledger, "x", "noise", known=False)
    assert ledger.rows[0].unknown_id
    assert ledger.standing_of("x") is None
    assert ledger.current == {}
    assert ledger.contingent([value("x")], AT, moment="answer") == ()


def test_a_result_ruled_out_on_the_word_of_an_absence_is_unsettled():
    ledger = Ledger()
    assert [type(row) for row in say(ledger, "a", "ruled-out", gaps=2)] == [StandingRow, UnsettledRow]
    assert [type(row) for row in say(ledger, "b", "ruled-out")] == [StandingRow]
    assert [type(row) for row in say(ledger, "c", "fact", gaps=2)] == [StandingRow]


def test_a_value_is_contingent_when_every_carrier_of_this_turn_is_set_aside():
    ledger = Ledger()
    say(ledger, "a", "noise")
    say(ledger, "b", "open")
    say(ledger, "f", "fact")
    values = [
        value("a", "b"),
        value("a", "f"),
        value("a", "unjudged"),
        value("a", cut=True),
        value("a", turn=0),
        value(),
    ]
    rows = ledger.contingent(values, AT, moment="answer")
    assert [(row.value_index, row.carriers) for row in rows] == [(0, ("a", "b"))]


def test_rows_are_bounded_and_current_standings_stay():
    ledger = Ledger()
    say(ledger, "kept", "fact", 1)
    for number in range(ROWS_LIMIT + 100):
        ledger.declare(
            Declared("direct"), AT, known=lambda ref: True, gaps=lambda ref: 0, ref=f"c{number}", tool="search"
        )
    assert len(ledger.rows) <= ROWS_LIMIT
    assert ledger.forgotten > 0
    assert ledger.standing_of("kept") == "fact"


def test_values_compare_as_the_evidence_check_compares():
    assert comparable("1,200.50") == comparable(1200.5) == comparable("1200.5")
    assert comparable(" Gold  Member ") == comparable("gold member")
    assert comparable(True) != comparable("True")
    assert comparable(1201) != comparable(1200)


STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(STANDINGS), st.sampled_from([None, 1, 2])), max_size=20
)


@given(STEPS)
def test_the_fold_takes_the_last_row_and_a_conflict_is_filed_once(steps):
    ledger = Ledger()
    for ref, standing, said in steps:
        say(ledger, ref, standing, said if standing != "noise" else None)
    last = {ref: standing for ref, standing, _ in steps}
    assert {ref: row.standing for ref, row in ledger.current.items()} == last
    assert sum(isinstance(row, ConflictRow) for row in ledger.rows) <= 1
    again = Ledger(ledger.rows)
    assert again.current == ledger.current
    assert again.rows == ledger.rows
    assert [type(row) for row in say(again, "d", "fact", 3)] == [type(row) for row in say(ledger, "d", "fact", 3)]


@given(STEPS, st.lists(st.sampled_from("abcd"), max_size=4))
def test_contingent_only_when_every_carrier_is_set_aside(steps, carriers):
    ledger = Ledger()
    for ref, standing, said in steps:
        say(ledger, ref, standing, said if standing != "noise" else None)
    rows = ledger.contingent([value(*carriers)], AT, moment="answer")
    assert bool(rows) == (bool(carriers) and all(ledger.standing_of(ref) in SET_ASIDE for ref in carriers))
