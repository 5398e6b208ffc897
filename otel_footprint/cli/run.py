"""``otel-footprint run``: any Python agent, unchanged, observed from its start, and a summary at its end.

Rules
-----
- The command keeps its standard streams, its signals and its exit code; one that dies of a signal takes us with it.
- Every Python process in it is set up by a ``sitecustomize`` of ours on PYTHONPATH, however it was started.
- With OTEL_* export settings telemetry goes there; without them it goes into a file here, written anew.
- The summary goes to standard error and holds no text: counts, the worst answer by trace and span id, where the telemetry
  is and whether it got there, as far as that is known, and the command that shows it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from otel_footprint.boundary import guard
from otel_footprint.cli import child
from otel_footprint.cli.exported import Exported, exported
from otel_footprint.config import resolve
from otel_footprint.core.errors import ConfigurationError

DEFAULT_OUT: Final = "footprint.otlp.jsonl"

DESCRIPTION: Final = """\
Run any Python agent, unchanged, and record what it does. Without OTEL_* export settings the trace is written to
footprint.otlp.jsonl in the current folder, and each further Python process writes <name>.<pid>.otlp.jsonl beside it.
"""

_EXPORT_SETTINGS: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
    "OTEL_LOGS_EXPORTER",
    "OTEL_CONFIG_FILE",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("--out", metavar="FILE", help=f"the trace file (default {DEFAULT_OUT})")
    parser.add_argument("--append", action="store_true", help="keep what the file holds instead of writing it anew")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its arguments")


def main(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    command = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not command:
        raise ConfigurationError("no command given; write for example: otel-footprint run python agent.py")
    resolve(environ=os.environ)  # a setting that cannot be used is said now, not by an agent that runs unobserved
    if shutil.which(command[0]) is None:  # before the file of an earlier run is written anew
        print(f"otel-footprint run: {command[0]}: command not found{_hint(command)}", file=sys.stderr)
        return 127
    exports = arguments.out is None and bool(export_settings(os.environ))
    out = None if exports else Path(arguments.out or DEFAULT_OUT).absolute()
    offset = _prepare(out, append=arguments.append) if out is not None else 0
    with tempfile.TemporaryDirectory(prefix="otel-footprint-") as folder:
        code = _run(command, child_environment(os.environ, Path(folder), out))
        with guard("run.summary"):  # the command's exit code is its own, whatever becomes of the summary
            _summarise(out, offset, Path(folder))
    return _end_as(code)


def _hint(command: list[str]) -> str:
    """What was probably meant, for a script without its Python."""
    script = command[0].endswith(".py") and Path(command[0]).is_file()
    return f"; write for example: otel-footprint run python {shlex.join(command)}" if script else ""


def export_settings(environ: Mapping[str, str]) -> list[str]:
    """The variables that are set and say where telemetry goes."""
    return [name for name in _EXPORT_SETTINGS if environ.get(name, "").strip()]


def _prepare(out: Path, *, append: bool) -> int:
    """Make the file, so that one that cannot be written is known now; returns where this run's part begins."""
    try:
        with out.open("ab" if append else "wb") as file:
            return file.tell()
    except OSError as error:
        raise ConfigurationError(f"cannot write {out}: {error.strerror or error}") from None


def child_environment(environ: Mapping[str, str], folder: Path, out: Path | None) -> dict[str, str]:
    """The environment in which every Python process starts observed."""
    site = str(Path(__file__).parent.resolve() / "site")
    path = [entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != site]
    changed = {key: value for key, value in environ.items() if key not in (child.OUT, child.PARENT, child.FOLDER)}
    changed["PYTHONPATH"] = os.pathsep.join([site, *path])
    changed[child.FOLDER] = str(folder)
    if out is not None:
        changed[child.OUT] = str(out)
    return changed


def _run(command: list[str], environment: dict[str, str]) -> int:
    """Run the command to its end, handing signals on; returns its code as :mod:`subprocess` gives it."""
    executable = shutil.which(command[0], path=environment.get("PATH"))
    signals = _signals()
    with _blocked(signals) as before:
        try:
            process = subprocess.Popen(command, executable=executable, env=environment, preexec_fn=_unblock(before))
        except OSError as error:
            print(f"otel-footprint run: {command[0]}: {error.strerror or error}", file=sys.stderr)
            return 126
        return _wait(process, signals)


def _signals() -> frozenset[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCHLD")
    return frozenset(getattr(signal, name) for name in names if hasattr(signal, name))


_Mask: TypeAlias = "set[int | signal.Signals]"

if sys.platform == "linux":

    def _unblock(before: _Mask) -> Callable[[], object] | None:
        """In the child, before it becomes the command: the signal mask it would have had without us."""
        return lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @contextlib.contextmanager
    def _blocked(signals: frozenset[signal.Signals]) -> Iterator[_Mask]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        try:
            yield before
        finally:
            while signal.sigtimedwait(signals, 0) is not None:
                pass  # a Ctrl-C that the command has had: it is not for us
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _wait(process: subprocess.Popen[bytes], signals: frozenset[signal.Signals]) -> int:
        """Wait for the end. A signal that somebody sent to us goes on; the terminal's own reach the command anyway."""
        while True:
            code = process.poll()
            if code is not None:
                return code
            info = signal.sigtimedwait(signals, 1.0)  # where SIGCHLD is ignored, the end is not announced
            if info is not None and info.si_signo != signal.SIGCHLD and info.si_code <= 0:  # not from the kernel
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(info.si_signo)

else:

    def _unblock(before: _Mask) -> Callable[[], object] | None:
        """Nothing was blocked."""
        return None

    @contextlib.contextmanager
    def _blocked(signals: frozenset[signal.Signals]) -> Iterator[_Mask]:
        yield set()

    def _wait(process: subprocess.Popen[bytes], signals: frozenset[signal.Signals]) -> int:
        """Wait for the end, handing on what is no key of the terminal."""
        for number in signals - {signal.SIGINT, getattr(signal, "SIGCHLD", signal.SIGINT)}:
            signal.signal(number, lambda received, frame: process.send_signal(received))
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def _summarise(out: Path | None, offset: int, folder: Path) -> None:
    from otel_footprint.report.otlp import read_files
    from otel_footprint.report.summary import RunSummary

    written = [path for path in _files(folder) if path.exists()]
    if out is None:
        summary = RunSummary.of(read_files(written))
        where = [_sent(exported(folder))]
    else:
        paths = [path for path in (out, *(path for path in written if path != out)) if path.exists()]
        files = [path for path in paths if path.is_file()]  # a device may have no end
        summary = RunSummary.of(read_files(files, start=offset if out in files else 0))
        where = [f"written to {', '.join(map(str, paths))}" if paths else f"{out} is gone"]
        if summary.trace_id is not None and (holding := _holding(files, summary.trace_id)) is not None:
            where.append(f"to look at it: otel-footprint trace {summary.trace_id} --file {_shown(holding)}")
    for line in summary.lines(*where):
        print(line, file=sys.stderr)


def _sent(spans: Exported | None) -> str:
    """What became of what was exported. Without a count of the SDK's, only where it was to go."""
    settings = ", ".join(export_settings(os.environ))
    if spans is None:
        return f"exported as {settings} says"
    if not spans.lost:
        return f"exported as {settings} says: {spans.sent} span{'' if spans.sent == 1 else 's'}"
    lost = f"all {spans.lost}" if spans.lost == spans.ended else f"{spans.lost} of {spans.ended}"
    return (
        f"NOT exported as {settings} says: {lost} spans failed or were dropped; what the exporter said is above, and "
        "otel-footprint doctor asks the endpoint"
    )


def _holding(files: Sequence[Path], trace_id: str) -> Path | None:
    """The first file in which a trace is."""
    for path in files:
        with path.open(encoding="utf-8", errors="replace") as lines:
            if any(trace_id in line for line in lines):
                return path
    return None


def _shown(path: Path) -> str:
    """A path as it is typed in the folder where the run was started."""
    folder = Path.cwd()
    return shlex.quote(str(path.relative_to(folder) if path.is_relative_to(folder) else path))


def _files(folder: Path) -> list[Path]:
    try:
        lines = (folder / "files").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [Path(line) for line in dict.fromkeys(lines)]


def _end_as(code: int) -> int:
    """End as the command did: its exit code, or its signal."""
    if code >= 0 or os.name != "posix":
        return code
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # its core dump, if any, is there already
    with contextlib.suppress(OSError, ValueError):
        signal.signal(-code, signal.SIG_DFL)  # not for SIGKILL, which has no other
    os.kill(os.getpid(), -code)
    return 128 - code
