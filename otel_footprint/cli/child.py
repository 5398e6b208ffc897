"""What runs inside each Python process of ``otel-footprint run``: OpenTelemetry set up, then everything instrumented.

Rules
-----
- Nothing here may stop or change the application: a fault is one log line, and it runs unobserved.
- Without export settings the process writes OTLP JSON lines as spans end, not in batches, so that nothing is lost to a
  signal or ``os._exit``. The process that was started first writes the run's file; a Python process below another one
  writes ``<name>.<pid>.otlp.jsonl`` beside it. A process that makes no telemetry writes no file.
- With export settings telemetry goes there; what the run's summary needs is kept aside in the run's private folder.
- SIGTERM and SIGHUP keep their meaning: where the application leaves them to the default, everything is flushed (for two
  seconds at most) and the process then dies of it.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final, cast

from otel_footprint.boundary import guard
from otel_footprint.cli.exported import Watch
from otel_footprint.cli.forks import flush, survive_forks

FOLDER: Final = "OTEL_FOOTPRINT_RUN_FOLDER"
"""A private folder of the run, where processes leave word of the files they write."""
OUT: Final = "OTEL_FOOTPRINT_RUN_OUT"
"""The run's file; unset where telemetry is exported elsewhere."""
PARENT: Final = "OTEL_FOOTPRINT_RUN_PARENT"
"""The pid of the nearest Python process above, set by that process for its children."""

_FLUSH_SECONDS: Final = 2.0


def start() -> None:
    """Set this process up from the environment that ``otel-footprint run`` made."""
    with guard("run.child"):
        above = os.environ.get(PARENT)
        os.environ[PARENT] = str(os.getpid())
        out = os.environ.get(OUT)
        watch = None
        if out:
            providers = _record(OutFile(Path(out), Path(os.environ[FOLDER]), below_python=_is_below(above)))
        else:
            watch = Watch(Path(os.environ[FOLDER]))
            atexit.register(
                watch.write
            )  # before the SDK registers its own end, so after it: the last in is the first out
            providers = _export()
        instrument_all(configured=out is not None)
        if watch is not None:
            with guard("run.exports"):
                watch.begin(_tracer_provider())
            _tally(Path(os.environ[FOLDER]), below_python=_is_below(above))
        _flush_on_signals(providers, watch)
        if not out:
            survive_forks(providers)


def _is_below(above: str | None) -> bool:
    """Whether another Python process of the run started this one; an ``exec`` stays the process it was."""
    return above is not None and above != str(os.getpid())


class OutFile:
    """The file of this process, opened when the first line is written and never shared with another process.

    Each line is one ``write`` to a file opened for appending, so threads and exporters do not mix within a line. After
    a fork the child writes a file of its own.
    """

    closed = False

    def __init__(self, main: Path, folder: Path, *, below_python: bool) -> None:
        self._main = main
        self._folder = folder
        self._below_python = below_python
        self._lock = threading.RLock()
        self._pid: int | None = None
        self._descriptor: int | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def write(self, line: str) -> int:
        """Append one line."""
        data = line.encode("utf-8", "backslashreplace")
        with self._lock:
            descriptor = self._open()
            while data:
                data = data[os.write(descriptor, data) :]
        return len(line)

    def flush(self) -> None:
        """Nothing is buffered."""

    @property
    def used(self) -> bool:
        """Whether this process has written anything."""
        return self._descriptor is not None

    def _open(self) -> int:
        if self._descriptor is None:
            path = self._path()
            self._descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666
            )
            self._pid = os.getpid()
            with (self._folder / "files").open("a", encoding="utf-8") as files:
                files.write(f"{path}\n")
        return self._descriptor

    def _path(self) -> Path:
        pid = os.getpid()
        if not self._below_python and self._claim_main(pid):
            return self._main
        path = beside(self._main, pid)
        path.unlink(missing_ok=True)  # left by an earlier run, under a pid that came again
        return path

    def _claim_main(self, pid: int) -> bool:
        claim = self._folder / "main"
        try:
            with claim.open("x", encoding="ascii") as file:
                file.write(str(pid))
        except FileExistsError:
            return claim.read_text(encoding="ascii") == str(pid)
        return True

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._descriptor = None
        self._below_python = True


def beside(main: Path, pid: int) -> Path:
    """``footprint.otlp.jsonl`` and 71 make ``footprint.71.otlp.jsonl``."""
    stem = re.sub(r"(\.otlp)?\.jsonl?$", "", main.name) or main.name
    return main.with_name(f"{stem}.{pid}.otlp.jsonl")


class _MetricFile:
    """The file as the metric exporter sees it: metrics that count nothing do not make a file."""

    closed = False

    def __init__(self, out: OutFile) -> None:
        self._out = out

    def write(self, line: str) -> int:
        return self._out.write(line) if self._out.used or counts_something(line) else len(line)

    def flush(self) -> None:
        """Nothing is buffered."""


_COUNTED: Final = re.compile(r'"(?:asInt|count)":"?[1-9]|"asDouble":(?!0(?:\.0)?[,}])')


def counts_something(line: str) -> bool:
    """Whether an exported line of metrics holds a number other than zero."""
    return _COUNTED.search(line) is not None


def _record(out: OutFile) -> tuple[Any, ...]:
    """Providers that write to the file, set as OpenTelemetry's global ones."""
    from opentelemetry import _logs, metrics, trace

    from otel_footprint.cli.recording import record_into

    recording = record_into(cast("IO[str]", out), metrics=cast("IO[str]", _MetricFile(out)))
    trace.set_tracer_provider(recording.tracer_provider)
    metrics.set_meter_provider(recording.meter_provider)
    _logs.set_logger_provider(recording.logger_provider)
    return recording.tracer_provider, recording.meter_provider, recording.logger_provider


_ENDPOINTS: Final = {
    "OTEL_TRACES_EXPORTER": "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_METRICS_EXPORTER": "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_LOGS_EXPORTER": "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
}


def _export() -> tuple[Any, ...]:
    """The SDK as the standard variables say; a distribution of OpenTelemetry that is installed does it instead."""
    from importlib.metadata import entry_points

    from opentelemetry import _logs, metrics, trace

    if not entry_points(group="opentelemetry_configurator"):
        from opentelemetry.sdk import _configuration

        everywhere = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        for exporter, endpoint in _ENDPOINTS.items():
            if everywhere or os.environ.get(endpoint):
                os.environ.setdefault(exporter, "otlp")
        configurator: Any = _configuration._OTelSDKConfigurator  # what every distribution configures with
        try:
            configurator().configure()
        except (RuntimeError, ValueError) as error:  # an exporter or a sampler that is not there
            logging.getLogger("otel_footprint").error("telemetry is not exported: %s", " ".join(str(error).split()))
    return trace.get_tracer_provider(), metrics.get_meter_provider(), _logs.get_logger_provider()


def _tally(folder: Path, *, below_python: bool) -> None:
    """Keep aside what the summary needs, where the provider takes a processor of ours."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    from otel_footprint.cli.tally import TallyExporter

    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        stream = OutFile(folder / "tally.otlp.jsonl", folder, below_python=below_python)
        provider.add_span_processor(SimpleSpanProcessor(TallyExporter(cast("IO[str]", stream))))


def instrument_all(*, configured: bool) -> None:
    """What ``opentelemetry-instrument`` does, without a configurator where the providers are set already.

    The official instrumentations that our instrumentor turns on are left to it: it accepts newer SDKs than their own
    pins do, which would be logged as conflicts.
    """
    from opentelemetry.instrumentation.auto_instrumentation import initialize

    changes = {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": _disabled()}
    if configured:
        changes["OTEL_PYTHON_CONFIGURATOR"] = "otel_footprint_run"
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        initialize()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _disabled() -> str:
    """The instrumentors not to load: what the person disabled, and those that ours turns on itself."""
    from importlib.metadata import entry_points

    from otel_footprint.genai.sdks import SDKS

    disabled = [name for name in os.environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",") if name.strip()]
    official = {sdk.instrumentation for sdk in SDKS}
    ours: dict[str, bool] = {}
    for entry_point in entry_points(group="opentelemetry_instrumentor"):
        distribution = entry_point.dist.name if entry_point.dist is not None else ""
        ours[entry_point.name] = ours.get(entry_point.name, True) and distribution in official
    return ",".join([*disabled, *(name for name, alone in ours.items() if alone)])


def _tracer_provider() -> Any:
    from opentelemetry import trace

    return trace.get_tracer_provider()


def _flush_on_signals(providers: tuple[Any, ...], watch: Watch | None) -> None:
    if threading.current_thread() is not threading.main_thread():
        return

    started = os.getpid()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if os.getpid() == started:  # a forked worker is not made to wait: the SDK's locks may be dead in it
            # In threads with a limit: the main thread was interrupted anywhere, perhaps while it held such a lock.
            flush(providers, _FLUSH_SECONDS)
            if watch is not None:
                watch.write()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for name in ("SIGTERM", "SIGHUP"):  # SIGINT ends Python in its own way
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, on_signal)
