"""``otel-footprint trace``: one trace, from Jaeger, Tempo or a file, as the tree that the demo prints.

Rules
-----
- Read only: one GET of one trace; nothing else is asked and nothing is sent.
- Credentials (``--header``, or in the URL) never show.
- A trace that is not there, a server that does not answer and an answer that cannot be read are one line each, exit code 2.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from otel_footprint.cli.console import stdout_console
from otel_footprint.cli.endpoints import shown_endpoint
from otel_footprint.core.errors import ConfigurationError, UnreadableInputError
from otel_footprint.offline import otlp
from otel_footprint.offline.otlp import Span
from otel_footprint.report.otlp import read_files
from otel_footprint.report.tree import render

DESCRIPTION: Final = """\
Fetch one trace and print it as the demo prints its own: what each call's window kept, the verdict on each answer, and
where its values came from.
"""
_TIMEOUT_SECONDS: Final = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("trace_id", metavar="TRACE_ID", help="32 hexadecimal digits (leading zeros may be left out)")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--jaeger", metavar="URL", help="Jaeger's query service, such as http://127.0.0.1:16686")
    source.add_argument("--tempo", metavar="URL", help="Tempo's API, such as http://127.0.0.1:3200")
    source.add_argument("--file", metavar="F", type=Path, help="OTLP JSON, as run and the collector write it")
    parser.add_argument(
        "--header", metavar="NAME=VALUE", action="append", default=[], help="sent along; may be repeated"
    )
    parser.add_argument(
        "--all-values", action="store_true", help="a line for each value, not for the notable ones only"
    )


def main(arguments: argparse.Namespace) -> int:
    """Print the trace. Exit code 0, or 2 where it is not to be had."""
    trace_id = _identity(arguments.trace_id)
    if arguments.file is not None:
        spans, where = _from_file(arguments.file), str(arguments.file)
    elif arguments.jaeger is not None:
        spans, where = _fetch(arguments.jaeger, f"/api/v3/traces/{trace_id}", arguments.header), "Jaeger"
    else:
        spans, where = _fetch(arguments.tempo, f"/api/traces/{trace_id}", arguments.header), "Tempo"
    found = list({span.span_id: span for span in spans if span.trace_id.zfill(32) == trace_id}.values())
    if not found:
        print(f"otel-footprint trace: no trace {trace_id} in {where}", file=sys.stderr)
        return 2
    render(found, stdout_console(), all_values=arguments.all_values)
    return 0


def _identity(text: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{1,32}", text) or not text.strip("0"):
        raise ConfigurationError(f"{text!r} is no trace id: it takes up to 32 hexadecimal digits, not all zero")
    return text.lower().zfill(32)


def _from_file(path: Path) -> list[Span]:
    trace = read_files([path])
    for problem in trace.problems:
        print(f"otel-footprint trace: {problem}", file=sys.stderr)
    return list(trace.spans)


def _fetch(base: str, path: str, headers: Sequence[str]) -> list[Span]:
    """The spans that a server gives; none where it has no such trace."""
    import httpx

    if urlsplit(base).scheme not in ("http", "https"):
        raise ConfigurationError(f"{shown_endpoint(base)} is no http:// or https:// URL")
    shown = shown_endpoint(base)
    try:
        response = httpx.get(
            base.rstrip("/") + path,
            headers={"accept": "application/json", **_headers(headers)},
            timeout=_TIMEOUT_SECONDS,
            follow_redirects=True,
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ConfigurationError(f"{shown} does not answer: {type(error).__name__}") from None
    if response.status_code == 404:
        return []
    if not response.is_success:
        raise ConfigurationError(f"{shown} answers with HTTP {response.status_code}")
    try:
        return list(otlp.read(_export(json.loads(response.content))).spans)
    except (ValueError, RecursionError) as error:
        reason = error.reason if isinstance(error, UnreadableInputError) else "it is not JSON"
        raise ConfigurationError(f"the answer of {shown} cannot be read: {reason}") from None


def _headers(given: Sequence[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in given]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise ConfigurationError("a header is written NAME=VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _export(payload: object) -> object:
    """The export request of OTLP inside what a server wraps around it."""
    if isinstance(payload, Mapping):
        for wrapper in ("result", "trace"):  # Jaeger's; Tempo's second API
            inner = payload.get(wrapper)
            if isinstance(inner, Mapping):
                payload = inner
        if "batches" in payload:  # Tempo's first
            return {"resourceSpans": payload["batches"]}
    return payload
