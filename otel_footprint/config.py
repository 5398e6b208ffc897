"""Settings: the arguments of ``instrument()``, and the only reader of the environment.

Rules
-----
- Every setting has an argument and an environment variable ``OTEL_FOOTPRINT_<NAME>``; the argument wins.
- A value that cannot be used raises :class:`ConfigurationError` naming the setting, the value and what to write instead.
- An empty variable is an unset one. One that only looks like ours is said, and changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, get_args

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.window.strategy import WindowStrategy
from otel_footprint.installing import checked_pins, checked_strategy, pins_of, strategy_of
from otel_footprint.store import Store, store_of

PREFIX: Final = "OTEL_FOOTPRINT_"

Events: TypeAlias = Literal["span", "log", "both"]
CaptureValues: TypeAlias = Literal["none", "flagged", "all"]

PROVIDERS: Final = ("openai", "anthropic", "google-genai", "bedrock", "langchain")
"""The names that ``providers`` takes."""

_VARIABLES: Final = (
    "INSTRUMENT",
    "CHECK",
    "POSTURE",
    "WINDOW",
    "KEEP_LAST_TOOL_RESULTS",
    "FINDINGS",
    "STORE",
    "EVENTS",
    "CAPTURE_VALUES",
    "CONVERSATION_LIMIT",
    "HASH_KEY",
    "HOOKS",
)
_ARGUMENTS: Final = {"PROVIDERS": "INSTRUMENT", "EVIDENCE": "CHECK"}  # where variable and argument differ in name

_MAX_CONVERSATIONS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is in force. ``providers`` None means every SDK that is installed and that nobody else instruments.

    ``window`` None leaves every window as it is; ``keep_last_tool_results`` is how many latest results of tools a strategy
    may not remove, 0 for none. ``findings`` None leaves tools and answers as they are.
    ``store`` is where named conversations are kept so that other workers go on with them; None: they live in this process.
    ``conversation_limit`` bounds how many live conversations are held; the oldest goes first, and that is counted.
    ``hooks`` names other completion hooks to run beside ours; None means those that are configured.
    ``hash_key`` keys the content hashes; None makes one that is random per process.
    """

    providers: tuple[str, ...] | None = None
    evidence: Evidence = field(default_factory=Evidence)
    window: WindowStrategy | None = None
    keep_last_tool_results: int = 2
    findings: Findings | None = None
    store: Store | None = None
    events: Events = "span"
    capture_values: CaptureValues = "none"
    conversation_limit: int = 1000
    hooks: tuple[str, ...] | None = None
    hash_key: bytes | None = None

    @property
    def acts(self) -> bool:
        """Whether requests may be changed or asked again."""
        return self.window is not None or self.evidence.posture != "assist" or self.findings is not None

    def difference(self, other: Settings) -> str | None:
        """The first setting that differs, by name; None when all are the same."""
        return next((f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)), None)


def resolve(
    *,
    providers: Iterable[str] | None = None,
    evidence: Evidence | None = None,
    window: WindowStrategy | None = None,
    keep_last_tool_results: int | bool | None = None,
    findings: Findings | bool | None = None,
    store: Store | str | None = None,
    events: str | None = None,
    capture_values: str | None = None,
    conversation_limit: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from the arguments, then the environment, then the defaults.

    Raises:
        ConfigurationError: a value that cannot be used, from either source.
    """
    env = _Environment(os.environ if environ is None else environ)
    names = env.names("INSTRUMENT") if providers is None else _names_of(providers, "providers")
    return Settings(
        providers=_provider_names(names, "providers" if providers is not None else f"{PREFIX}INSTRUMENT"),
        evidence=_evidence(evidence, env),
        window=_window(window, env),
        keep_last_tool_results=_pins(keep_last_tool_results, env),
        findings=_findings(findings, env),
        store=_store(store, env),
        events=_one_of(Events, events, "events", env),
        capture_values=_one_of(CaptureValues, capture_values, "capture_values", env),
        conversation_limit=_limit(conversation_limit, env),
        hooks=env.names("HOOKS"),
        hash_key=_hash_key(env),
    )


def unread(evidence: Evidence | None, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Variables of ours that are set and say nothing, since ``instrument(evidence=…)`` says it."""
    if evidence is None:
        return ()
    env = _Environment(os.environ if environ is None else environ)
    said = {"POSTURE": evidence.posture, "CHECK": evidence.check}
    return tuple(PREFIX + name for name, word in said.items() if (env.get(name) or word).lower() != word)


def misspelled(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables that are none of ours but look like one, with the one that is probably meant."""
    env = os.environ if environ is None else environ
    strangers = sorted(name[len(PREFIX) :] for name in env if name.startswith(PREFIX))
    found: dict[str, str] = {}
    for name in strangers:
        if name in _VARIABLES or name.startswith("RUN_"):  # those with RUN_ are between run and its processes
            continue
        meant = _ARGUMENTS.get(name) or next(iter(get_close_matches(name, _VARIABLES, n=1, cutoff=0.7)), None)
        if meant is not None:
            found[PREFIX + name] = PREFIX + meant
    return found


class _Environment:
    """Reads our variables; an empty one is an unset one."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def get(self, name: str) -> str | None:
        return self._values.get(PREFIX + name, "").strip() or None

    def names(self, name: str) -> tuple[str, ...] | None:
        raw = self.get(name)
        return None if raw is None else tuple(part.strip() for part in raw.split(",") if part.strip())


def _names_of(providers: Iterable[str], setting: str) -> tuple[str, ...]:
    if isinstance(providers, str):
        raise ConfigurationError(f"{setting}={providers!r}: give a list of names, such as [{providers!r}]")
    return tuple(providers)


def _provider_names(names: tuple[str, ...] | None, setting: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    aliases = {"google": "google-genai", "google_genai": "google-genai", "gemini": "google-genai", "boto3": "bedrock"}
    resolved = tuple(aliases.get(name.lower(), name.lower()) for name in map(str, names))
    for given, name in zip(names, resolved, strict=True):
        if name not in PROVIDERS:
            raise ConfigurationError(f"{setting}: {given!r} is not known; use one or more of {', '.join(PROVIDERS)}")
    return tuple(dict.fromkeys(resolved))


def _evidence(given: Evidence | None, env: _Environment) -> Evidence:
    if given is None:
        changes: dict[str, Any] = {}
        if (posture := env.get("POSTURE")) is not None:
            changes["posture"] = posture.lower()
        if (check := env.get("CHECK")) is not None:
            changes["check"] = check.lower()
        try:
            given = replace(Evidence(), **changes)
        except ConfigurationError as error:
            raise ConfigurationError(f"{PREFIX}POSTURE / {PREFIX}CHECK: {error}") from None
    return checked_evidence(given, "evidence")


def checked_evidence(evidence: object, setting: str) -> Evidence:
    """``evidence`` where it is one. Raises :class:`ConfigurationError` that quotes ``setting`` otherwise."""
    if not isinstance(evidence, Evidence):
        raise ConfigurationError(f"{setting}={evidence!r}: give an otel_footprint.Evidence(...)")
    return evidence


def _window(given: object, env: _Environment) -> WindowStrategy | None:
    if given is not None:
        return checked_strategy(given, "window")
    word = env.get("WINDOW")
    return None if word is None else strategy_of(word, f"{PREFIX}WINDOW")


def _pins(given: object, env: _Environment) -> int:
    if given is not None:
        return checked_pins(given, "keep_last_tool_results")
    word = env.get("KEEP_LAST_TOOL_RESULTS")
    if word is None:
        return Settings().keep_last_tool_results
    return pins_of(word, f"{PREFIX}KEEP_LAST_TOOL_RESULTS")


def _store(given: object, env: _Environment) -> Store | None:
    if given is not None:
        return store_of(given, "store")
    address = env.get("STORE")
    return None if address is None else store_of(address, f"{PREFIX}STORE")


def _findings(given: Findings | bool | None, env: _Environment) -> Findings | None:
    if given is not None:
        return findings_of(given, f"findings={given!r}")
    raw = env.get("FINDINGS")
    word = None if raw is None else raw.lower()
    if word not in (None, "0", "1", "true", "false", "serve"):
        raise ConfigurationError(f"{PREFIX}FINDINGS={raw!r}: write 1, 0 or serve")
    return None if word in (None, "0", "false") else Findings(serve=word == "serve")


def findings_of(given: object, setting: str) -> Findings | None:
    """The findings that a setting asks for. Raises :class:`ConfigurationError` that quotes ``setting``."""
    if isinstance(given, bool):
        return Findings() if given else None
    if not isinstance(given, Findings):
        raise ConfigurationError(f"{setting}: give True, False, or an otel_footprint.Findings(...)")
    return given


def _one_of(choices: Any, given: str | None, setting: str, env: _Environment) -> Any:
    allowed = get_args(choices)
    source, value = setting, given
    if given is None:
        source = PREFIX + setting.upper()
        raw = env.get(setting.upper())
        value = raw.lower() if raw is not None else allowed[0]
    if value not in allowed:
        raise ConfigurationError(f"{source}={value!r} is not one of {', '.join(allowed)}")
    return value


def _limit(given: int | None, env: _Environment) -> int:
    source, value = "conversation_limit", given
    if given is None:
        source = f"{PREFIX}CONVERSATION_LIMIT"
        raw = env.get("CONVERSATION_LIMIT")
        if raw is None:
            return Settings().conversation_limit
        if not (raw.isdecimal() and raw.isascii() and len(raw) <= 12):
            raise ConfigurationError(f"{source}={raw!r}: give a whole number from 1 to {_MAX_CONVERSATIONS:,}")
        value = int(raw)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_CONVERSATIONS:
        raise ConfigurationError(f"{source}={value!r}: give a whole number from 1 to {_MAX_CONVERSATIONS:,}")
    return value


def _hash_key(env: _Environment) -> bytes | None:
    raw = env.get("HASH_KEY")
    if raw is None:
        return None
    key = raw.encode()
    if not 16 <= len(key) <= 64:
        raise ConfigurationError(f"{PREFIX}HASH_KEY has {len(key)} bytes; give 16 to 64 (its value is not shown here)")
    return key
