"""A replaced method comes back exactly, or is inert under whatever somebody else laid over it."""

from __future__ import annotations

import functools
from typing import Any

from otel_footprint.genai.patching import Patch


class Base:
    def greet(self, name: str) -> str:
        """Greets."""
        return f"hello {name}"


class Child(Base):
    pass


def louder(original: Any, *args: Any, **kwargs: Any) -> str:
    return original(*args, **kwargs).upper()


def test_it_replaces_and_restores():
    before = Base.__dict__["greet"]
    patch = Patch(Base, "greet", louder)
    assert (Base().greet("you"), Base.greet.__doc__, Base.greet.__name__) == ("HELLO YOU", "Greets.", "greet")
    patch.restore()
    patch.restore()
    assert Base.__dict__["greet"] is before


def test_an_inherited_method_is_inherited_again():
    patch = Patch(Child, "greet", louder)
    assert (Child().greet("you"), Base().greet("you")) == ("HELLO YOU", "hello you")
    patch.restore()
    assert "greet" not in Child.__dict__


def test_under_somebody_elses_wrapper_it_is_inert():
    patch = Patch(Base, "greet", louder)
    ours = Base.greet
    bound = Base().greet

    @functools.wraps(ours)
    def theirs(self: Base, name: str) -> str:
        return f"({ours(self, name)})"

    Base.greet = theirs  # type: ignore[method-assign]
    assert Base().greet("you") == "(HELLO YOU)"
    patch.restore()
    assert (Base().greet("you"), bound("you")) == ("(hello you)", "hello you")
    Base.greet = ours.__wrapped__  # type: ignore[attr-defined, method-assign]


def test_two_patches_come_off_in_either_order():
    before = Base.__dict__["greet"]
    for first_off in (0, 1):
        patches = [Patch(Base, "greet", louder), Patch(Base, "greet", louder)]
        patches[first_off].restore()
        assert Base().greet("you") == "HELLO YOU"
        patches[1 - first_off].restore()
        assert Base().greet("you") == "hello you"
        Base.greet = before  # type: ignore[method-assign]
