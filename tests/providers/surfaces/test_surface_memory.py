"""What a surface has read before is found again on every API: always what a surface that remembers nothing would read."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from surface_agent import SURFACES
from surface_histories import Model, Person, Step, Use, append, new

from otel_footprint.providers.surface import Reading

steps = st.lists(
    st.builds(Person, st.sampled_from(["Hi", "And now?"]), st.integers(0, 9))
    | st.builds(Model, st.sampled_from(["Here.", "Looking."]), st.just(()), st.booleans(), st.integers(0, 9))
    | st.builds(
        lambda ids, rows, form: Model("", tuple(Use(f"c{n}", "find", {"n": [n]}, rows) for n in ids), False, form),
        st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
        st.sampled_from(["one row", "two rows"]),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=12,
)


def shown(reading: Reading | None) -> Any:
    assert reading is not None
    return [
        (native.message.role, native.message.parts, native.message.key, native.positions, native.at)
        for native in reading.natives
    ]


def leaves(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in place that stands in a dictionary, ids and types apart."""
    if isinstance(value, dict):
        for key, held in value.items():
            if isinstance(held, str) and key in ("text", "content", "found", "output"):
                value[key] = change(held)
            else:
                leaves(held, change)
    elif isinstance(value, list):
        for held in value:
            leaves(held, change)
    elif hasattr(value, "__dict__"):
        for name, held in vars(value).items():
            if isinstance(held, str) and name == "text":
                setattr(value, name, change(held))
            else:
                leaves(held, change)


@pytest.mark.parametrize("api", SURFACES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversation=steps, edits=st.lists(st.tuples(st.integers(0, 40), st.sampled_from("cdr")), max_size=4))
def test_any_list_is_read_as_if_for_the_first_time(
    api: str, conversation: list[Step], edits: list[tuple[int, str]]
) -> None:
    remembering = type(SURFACES[api])()
    app = new(api)
    for place, step in enumerate(conversation):
        append(app, step)
        for at, kind in edits[place : place + 1]:
            item = at % len(app.history)
            if kind == "c":
                leaves(app.history[item], lambda text: text + "!")
            elif kind == "d":
                app.history.insert(item, copy.deepcopy(app.history[item]))
            else:
                app.history[item] = copy.deepcopy(app.history[item])
        assert shown(remembering.read(app.kwargs)) == shown(type(SURFACES[api])().read(app.kwargs))


@pytest.mark.parametrize("api", SURFACES)
def test_what_was_read_does_not_change_with_the_list(api: str) -> None:
    surface = type(SURFACES[api])()
    app = new(api)
    append(app, Person("Find it."))
    append(app, Model("", (Use("c1", "find", {"n": 1}, "one row"),)))
    before = copy.deepcopy(shown(surface.read(app.kwargs)))
    kept = copy.deepcopy(app.kwargs)
    leaves(app.history, lambda text: "[taken out]")
    for call in ("input", "args", "arguments"):
        _clear(app.history, call)
    assert shown(surface.read(app.kwargs)) != before
    assert shown(surface.read(kept)) == before
    first, again = surface.read(kept), surface.read(kept)
    assert first is not None
    assert again is not None
    assert all(one is other for one, other in zip(first.messages, again.messages, strict=True))


def _clear(value: Any, name: str) -> None:
    if isinstance(value, dict):
        if isinstance(value.get(name), dict):
            value[name].clear()
        for held in value.values():
            _clear(held, name)
    elif isinstance(value, list):
        for held in value:
            _clear(held, name)


def test_a_response_of_gemini_has_the_id_of_the_call_in_front_of_it() -> None:
    surface = type(SURFACES["gemini.generate_content"])()
    response = {"role": "user", "parts": [{"function_response": {"name": "find", "response": {"output": "a row"}}}]}
    found = []
    for parts in ([{"function_call": {"name": "find"}}], [{"text": "Yes."}, {"function_call": {"name": "find"}}]):
        reading = surface.read({"contents": [{"parts": [{"text": "Hi"}]}, {"role": "model", "parts": parts}, response]})
        assert reading is not None
        found.append(reading.messages[-1].result)
    assert [result and result.id for result in found] == ["find_0", "find_1"]
