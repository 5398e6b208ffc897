"""Settings are refused where they are made, with the value and the fix in the message."""

from __future__ import annotations

import re
from typing import Any

import pytest

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.options import Evidence, Shape


@pytest.mark.parametrize(
    "pattern",
    [
        r"[A-Z]{3}-\d+",
        r"[a-z0-9]+(?:-[a-z0-9]+)*",
        r"(?:[A-Z0-9]+-)+\d{4}",
        r"\d+(,\d{3})*",
        r"(?:SKU|ART)-[0-9a-f]{8}",
        r"\w+@\w+\.\w+",
        re.compile(r"[A-Z]+-[A-Z]+-[A-Z]+"),
    ],
)
def test_a_shape_that_cannot_run_away_is_taken(pattern: str | re.Pattern[str]) -> None:
    assert Shape("part", pattern).compiled.fullmatch("") is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+",
        r"(a|a)*b",
        r"(ab|ac|abc)*",
        r"([a-z]+)*\d",
        r"(?:\w+,?)+x",
        r"(\d+\.?)+$",
        r"\w+\w+\w+x",
        r"(a)\1",
        r"((a*)*)*",
        r"(?:a{1,60}){1,60}b",
    ],
)
def test_a_shape_that_can_run_away_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="backtrack"):
        Shape("part", pattern)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Shape("", "a"), "name"),
        (lambda: Shape("part", "("), "compile"),
        (lambda: Shape("part", "a*"), "empty token"),
        (lambda: Shape("part", re.compile("a", re.MULTILINE)), "MULTILINE"),
        (lambda: Shape("part", "(?m)a"), "stateful"),
        (lambda: Shape("part", re.compile(b"a")), "bytes"),
        (lambda: Shape("number", "a"), "one of ours"),
        (lambda: Evidence(posture="strict"), "'assist', 'guard', 'rails'"),
        (lambda: Evidence(check="never"), "'tools', 'always'"),
        (lambda: Evidence(min_digits=0), "from 1 to 15"),
        (lambda: Evidence(min_digits=True), "from 1 to 15"),
        (lambda: Evidence(corpus_bytes=10), "at least 1000"),
        (lambda: Evidence(strict="yes"), "True or False"),
        (lambda: Evidence(shapes=Shape("part", "a")), "not a list"),
        (lambda: Evidence(shapes=("part",)), "Shape(name, pattern)"),
        (lambda: Evidence(shapes=(Shape("part", "a"), Shape("part", "b"))), "twice"),
        (lambda: Evidence(exempt="AB-1"), "not a list"),
        (lambda: Evidence(exempt=("",)), "compiled pattern"),
        (lambda: Evidence(answer_tools=(1,)), "names of tools"),
    ],
)
def test_a_wrong_setting_names_the_fix(made: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        made()


def test_settings_are_values() -> None:
    assert Evidence(shapes=[Shape("part", "a")]) == Evidence(shapes=(Shape("part", "a"),))  # type: ignore[arg-type]
    assert hash(Evidence()) == hash(Evidence())
