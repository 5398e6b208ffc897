"""Several calls of one line at once: none may spoil it, and none may lose its own window."""

from __future__ import annotations

from planner_cases import Live, asks, result, run, says, user

from otel_footprint.core.window.sliding_window import SlidingWindow


def started(live: Live, count: int = 6) -> list:
    messages = [user("Read it all.")]
    run(live, messages, count)
    return messages


def test_a_fan_out_leaves_the_line_to_the_first_and_gives_the_others_one_of_their_own() -> None:
    live = Live(SlidingWindow(3))
    messages = started(live)
    lists = [[*messages, user(f"Branch {number}.")] for number in range(3)]
    visits = [live.begin(each) for each in lists]
    planned = [live.commit(visit) for visit in visits]
    assert all(len(each.window) < len(lists[0]) for each in planned), "each has the carried window"
    assert len({id(each.ticket.line) for each in planned}) == 3
    called = [live.answer(visits[place], planned[place], asks((f"b{place}", "tool_0"))) for place in (1, 0, 2)]
    assert len({each.decisions.thread for each in called}) == 3
    for place in (0, 1, 2):
        later = [*lists[place], asks((f"b{place}", "tool_0")), result(f"b{place}", "rows")]
        going = live.call(later, says(f"Done with {place}."))
        assert len(going.window) < len(later)
        assert set(going.kept) <= {
            *(item.index for item in planned[place].items if hasattr(item, "index")),
            *range(len(lists[0]), len(later)),
        }


def test_a_call_that_began_while_another_was_under_way_is_a_line_of_its_own() -> None:
    live = Live(SlidingWindow(3))
    messages = started(live)
    first = live.begin([*messages, user("Branch one.")])
    one = live.commit(first)
    second = live.begin([*messages, user("Branch two.")])
    assert second.apart
    two = live.commit(second)
    assert one.ticket.line is not two.ticket.line
    live.answer(second, two, says("Two is done."))
    called = live.answer(first, one, says("One is done."))
    assert called.planned.ticket.line.done is not None
    after = live.begin([*messages, user("Branch one."), says("One is done."), user("Go on.")])
    assert after.going is not None
    assert after.going.line is one.ticket.line


def test_the_same_call_made_twice_at_once_is_one_line_and_either_answer_goes_on() -> None:
    live = Live(SlidingWindow(3))
    messages = started(live)
    visits = [live.begin(messages)]
    planned = [live.commit(visits[0])]
    visits.append(live.begin(messages))
    planned.append(live.commit(visits[1]))
    assert planned[1].items == planned[0].items
    assert planned[1].record is None, "what left is on the record once"
    live.answer(visits[0], planned[0], says("The first answer to this."))
    second = live.answer(visits[1], planned[1], says("The second answer to this."))
    assert second.decisions.thread == 1
    for text in ("The first answer to this.", "The second answer to this."):
        visit = live.begin([*messages, says(text), user("Go on.")])
        assert visit.going is not None
        assert visit.going.line is planned[0].ticket.line


def test_a_call_that_ends_after_its_line_went_on_keeps_its_own_history() -> None:
    live = Live(SlidingWindow(3))
    messages = started(live)
    slow = live.begin([*messages, user("A slow one.")])
    waiting = live.commit(slow)
    quick = [*messages, user("A quick one.")]
    live.call(quick, says("Quick."))
    live.answer(slow, waiting, says("Slow at last."))
    for said, answer in (("A slow one.", "Slow at last."), ("A quick one.", "Quick.")):
        visit = live.begin([*messages, user(said), says(answer), user("Go on.")])
        assert visit.going is not None
        assert len(visit.window) < len(visit.request.messages)
