"""Answers with phone numbers, made up: the recordings hold none.

Spellings are those of real systems (E.164 as stored, national formats as people write them), the digits are of the ranges that
regulators keep free for fiction. A result carries one spelling, the answer states another.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from quality_replay import Answer, example_answer

_US = (
    lambda a, b: f"+1{a}555{b}",
    lambda a, b: f"+1 {a}-555-{b}",
    lambda a, b: f"({a}) 555-{b}",
    lambda a, b: f"{a}-555-{b}",
    lambda a, b: f"{a}.555.{b}",
    lambda a, b: f"+1 ({a}) 555-{b}",
)
_LONDON = (
    lambda a, b: f"+442079460{a}",
    lambda a, b: f"+44 20 7946 0{a}",
    lambda a, b: f"020 7946 0{a}",
    lambda a, b: f"+44 (0)20 7946 0{a}",
)
_PARIS = (
    lambda a, b: f"+3319900{a[:2]}{b[:2]}",
    lambda a, b: f"+33 1 99 00 {a[:2]} {b[:2]}",
    lambda a, b: f"01 99 00 {a[:2]} {b[:2]}",
)
_COUNTRIES: tuple[tuple[Callable[[str, str], str], ...], ...] = (_US, _LONDON, _PARIS)
_SENTENCES = (
    "You can reach {name} at {phone}.",
    "The number on file for {name} is **{phone}**.",
    "- Contact: {name}, phone {phone}\n- Nothing else is on file.",
)


def phone_answers(count: int = 60, *, seed: int = 5) -> list[Answer]:
    """Answers about one contact each, the same for the same seed."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        country = _COUNTRIES[number % len(_COUNTRIES)]
        digits = f"{rng.randrange(201, 989)}", f"01{rng.randrange(10, 99)}"
        carried, stated = (spell(*digits) for spell in rng.sample(country, 2))
        name = rng.choice(("Mia Li", "Noah Brown", "Aarav Santos", "Sofia Rossi"))
        result = json.dumps({"customer": {"name": name, "phone": carried, "since": 2019}})
        made.append(example_answer(f"phone-{number}", result, rng.choice(_SENTENCES).format(name=name, phone=stated)))
    return made
