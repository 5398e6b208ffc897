"""``otel-footprint doctor``: what would be observed in this environment, where it would go, and what stands in the way.

It does what zero-code instrumentation does at the start of an application, here and now: every instrumentor is loaded,
every SDK that is installed is imported, and what came of it is reported. What takes long is said on standard error, for people.
Exit code 0 when nothing is wrong, else 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any, Final

from otel_footprint.cli import child
from otel_footprint.cli.endpoints import Export, exports, shown_endpoint
from otel_footprint.cli.store_asked import Asked, ask
from otel_footprint.config import PREFIX, Settings, misspelled, resolve
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.genai.configurator import REMEDY, configurators
from otel_footprint.genai.sdks import SDKS, installed

DESCRIPTION: Final = """\
What is installed and instrumented, or why not; which completion hook is active; whether the exporter's endpoint answers;
whether a configured store does; what is captured; and the settings in force. Exit code 0 when nothing is wrong, 1 otherwise.
"""

_HOOK: Final = "OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK"
_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENT_WORDS: Final = ("NO_CONTENT", "SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT")


@dataclass(slots=True)
class Diagnosis:
    """What was found. ``problems`` are one line each, and say what to do."""

    versions: dict[str, str] = field(default_factory=dict)
    sdks: list[dict[str, Any]] = field(default_factory=list)
    instrumentors: list[dict[str, str]] = field(default_factory=list)
    hook: dict[str, Any] = field(default_factory=dict)
    export: list[Export] = field(default_factory=list)
    store: Asked | None = None
    configurators: list[str] = field(default_factory=list)
    capture: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {"ok": not self.problems, **asdict(self)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def main(arguments: argparse.Namespace) -> int:
    """Look at everything and print it."""
    diagnosis = examine(dict(os.environ), (lambda text: None) if arguments.json else _say)
    if arguments.json:
        print(json.dumps(diagnosis.document(), indent=2))
    else:
        _print(diagnosis)
    return 1 if diagnosis.problems else 0


def _say(text: str) -> None:
    print(f"otel-footprint doctor: {text}", file=sys.stderr, flush=True)


def examine(environ: Mapping[str, str], say: Callable[[str], None] = lambda text: None) -> Diagnosis:
    """Look at this process's environment. Turns instrumentation on in this process; ``say`` is told what comes next."""
    diagnosis = Diagnosis()
    say("looking at what is installed and set …")
    diagnosis.versions = _versions()
    diagnosis.instrumentors = _instrumentors()
    settings = _settings(diagnosis, environ)
    diagnosis.problems += [
        f"{name} is no setting; did you mean {meant}?" for name, meant in misspelled(environ).items()
    ]
    _capture(diagnosis, environ)
    say("asking where telemetry goes …")
    diagnosis.export = exports(environ)
    diagnosis.configurators = configurators()
    for export in diagnosis.export:
        if export.answers is False:
            diagnosis.problems.append(
                f"{export.signal} do not arrive: {export.endpoint or export.exporter}: {export.detail}"
            )
    if settings is not None and settings.store is not None:
        say("asking the store …")
        diagnosis.store = store = ask(settings.store, environ[f"{PREFIX}STORE"].strip())
        if store.answers is False:
            diagnosis.problems.append(f"the store {store.address}: {store.detail}; {store.remedy}")
    if settings is not None:
        _start(diagnosis, environ, say)
    return diagnosis


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in (
        "otel-footprint",
        "opentelemetry-api",
        "opentelemetry-sdk",
        "opentelemetry-instrumentation",
        "opentelemetry-util-genai",
        "opentelemetry-exporter-otlp",
    ):
        found[name] = installed(name) or "not installed"
    return found


def _instrumentors() -> list[dict[str, str]]:
    found = []
    for entry_point in metadata.entry_points(group="opentelemetry_instrumentor"):
        distribution = entry_point.dist
        name, version = (distribution.name, distribution.version) if distribution is not None else ("unknown", "")
        found.append({"name": entry_point.name, "distribution": name, "version": version})
    return sorted(found, key=lambda entry: (entry["name"], entry["distribution"]))


def _settings(diagnosis: Diagnosis, environ: Mapping[str, str]) -> Settings | None:
    try:
        settings = resolve(environ=environ)
    except ConfigurationError as error:
        diagnosis.problems.append(str(error))
        return None
    address = environ.get(f"{PREFIX}STORE", "").strip()
    findings = settings.findings
    diagnosis.settings = {
        "providers": "all that are installed" if settings.providers is None else list(settings.providers),
        "posture": settings.evidence.posture,
        "check": settings.evidence.check,
        "window": "none" if settings.window is None else repr(settings.window),
        "keep_last_tool_results": settings.keep_last_tool_results,
        "findings": "off" if findings is None else "on, results set aside are served" if findings.serve else "on",
        "store": "in this process" if settings.store is None else _store_text(settings, address),
        "events": settings.events,
        "capture_values": settings.capture_values,
        "conversation_limit": settings.conversation_limit,
        "hooks": list(settings.hooks or ()),
        "hash_key": "random per process" if settings.hash_key is None else "given",
        "from_environment": sorted(name for name in environ if name.startswith(PREFIX)),
    }
    return settings


def _store_text(settings: Settings, address: str) -> str:
    texts = settings.store is not None and settings.store.keeps_text
    return f"{shown_endpoint(address)} ({'with' if texts else 'without'} texts)"


def _capture(diagnosis: Diagnosis, environ: Mapping[str, str]) -> None:
    given = environ.get(_CONTENT, "").strip()
    content = given.upper() or "NO_CONTENT"
    if content not in _CONTENT_WORDS:
        diagnosis.problems.append(f"{_CONTENT}={given!r} is refused; write one of {', '.join(_CONTENT_WORDS)}")
        content = "NO_CONTENT"
    diagnosis.capture = {
        "message_content": content,
        "values": str(diagnosis.settings.get("capture_values", "none")),
        "events": str(diagnosis.settings.get("events", "span")),
        "sampler": environ.get("OTEL_TRACES_SAMPLER", "").strip() or "parentbased_always_on",
    }
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        diagnosis.problems.append("OTEL_SDK_DISABLED=true: nothing is recorded or exported")


class _Listener(logging.Handler):
    """Keeps the warnings of OpenTelemetry and of ours while everything is turned on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = " ".join(record.getMessage().split())
        if line not in self.lines:
            self.lines.append(line)


def _start(diagnosis: Diagnosis, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Turn everything on, import every SDK, and note what came of it."""
    from otel_footprint import runtime
    from otel_footprint.genai.instrumentation import states

    listener = _Listener()
    loggers = [logging.getLogger(name) for name in ("opentelemetry", "otel_footprint")]
    for logger in loggers:
        logger.addHandler(listener)
        logger.propagate = False
    try:
        say("turning everything on …")
        child.instrument_all(configured=True)
        running = runtime.current()
        for sdk in SDKS:
            if installed(sdk.distribution):
                say(f"importing {sdk.module} …")
                _import(sdk.module, diagnosis)
        found = states()
    finally:
        for logger in loggers:
            logger.removeHandler(listener)
            logger.propagate = True
    diagnosis.log = listener.lines
    diagnosis.sdks = [asdict(state) for state in found]
    diagnosis.hook = {
        "active": "footprint" if running is not None else None,
        "selected_before": environ.get(_HOOK, "").strip() or None,
        "selected": os.environ.get(_HOOK, "").strip() or None,
        "beside": list(resolve(environ=os.environ).hooks or ()),
    }
    known = {entry_point.name for entry_point in metadata.entry_points(group="opentelemetry_genai_completion_hook")}
    for name in diagnosis.hook["beside"]:
        if name not in known:
            diagnosis.problems.append(f"no completion hook named {name!r} is installed; ours runs without it")
    if running is None:
        disabled = environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").strip()
        because = f" (OTEL_PYTHON_DISABLED_INSTRUMENTATIONS={disabled})" if disabled else ""
        diagnosis.problems.append(
            f"our instrumentor did not start{because}: zero-code instrumentation observes nothing"
        )
        return
    if not any(state.version for state in found):
        names = ", ".join(state.distribution for state in found)
        diagnosis.problems.append(f"no SDK that we observe is installed in {sys.executable} ({names})")
    for state in found:
        if state.version is not None and not state.on and state.why != "not selected":
            diagnosis.problems.append(f"{state.name} is not observed: {state.why}")


def _import(module: str, diagnosis: Diagnosis) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        diagnosis.problems.append(f"{module} cannot be imported: {error}")


def _print(diagnosis: Diagnosis) -> None:
    from rich.text import Text

    from otel_footprint.cli.console import stdout_console

    console = stdout_console()

    def title(text: str) -> None:
        console.print(Text(text, style="bold"))

    def row(name: str, text: str, style: str = "") -> None:
        if text:
            line = Text(f"  {name:<30} ")
            line.append(text, style=style)
            console.print(line)

    title("installed")
    for name, version in diagnosis.versions.items():
        row(name, version, "red" if version == "not installed" else "")
    title("SDKs" if diagnosis.sdks else "SDKs: not looked at, the settings cannot be used")
    for sdk in diagnosis.sdks:
        row(sdk["name"], _sdk_text(sdk), "green" if sdk["on"] else "dim" if sdk["version"] is None else "yellow")
    title("instrumentors that load by themselves")
    for entry in diagnosis.instrumentors:
        row(entry["name"], f"{entry['distribution']} {entry['version']}")
    title("completion hook")
    row("active", str(diagnosis.hook.get("active") or "none"))
    row("beside it", ", ".join(diagnosis.hook.get("beside", ())))
    title("export")
    for export in diagnosis.export:
        style = {True: "green", False: "red", None: "dim"}[export.answers]
        where = f"{export.exporter} {export.endpoint}: " if export.endpoint else f"{export.exporter}: "
        row(export.signal, where + export.detail, style)
    missing = f"exports nothing, as no package that configures it is installed: {REMEDY}"
    row(
        "opentelemetry-instrument",
        f"configured by {', '.join(named)}" if (named := diagnosis.configurators) else missing,
    )
    if diagnosis.store is not None:
        title("store")
        style = {True: "green", False: "red", None: "dim"}[diagnosis.store.answers]
        row(diagnosis.store.address, diagnosis.store.detail, style)
    title("captured")
    for name, text in diagnosis.capture.items():
        row(name.replace("_", " "), text)
    title("settings in force" if diagnosis.settings else "settings: they cannot be used")
    for name, value in diagnosis.settings.items():
        row(name, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
    if diagnosis.log:
        title("said while everything was turned on")
        for line in diagnosis.log:
            console.print(Text(f"  {line}", style="dim"))
    if not diagnosis.problems:
        console.print(Text("No problem found.", style="green"))
    for problem in diagnosis.problems:
        console.print(Text(f"problem: {problem}", style="bold red"))


def _sdk_text(sdk: Mapping[str, Any]) -> str:
    if sdk["version"] is None:
        return "not installed"
    text = f"{sdk['distribution']} {sdk['version']}: "
    if sdk["on"]:
        text += f"observed through {sdk['instrumentation']}"
    else:
        text += f"not observed: {sdk['why']}"
    return f"{text} ({sdk['note']})" if sdk.get("note") else text
