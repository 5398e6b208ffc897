"""Where the standard variables send telemetry, and whether somebody answers there.

Rules
-----
- Only OTLP endpoints can be asked; any other exporter is named and left alone.
- OTLP over HTTP gets an empty export request, as an exporter sends it, with the configured headers; over gRPC the port is
  opened and closed. Two seconds at most, and nothing of the application is sent.
- Credentials never show: user names, passwords, queries and headers are left out of every text.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final
from urllib.parse import unquote, urlsplit

SIGNALS: Final = ("traces", "metrics", "logs")
_TIMEOUT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Export:
    """One signal's way out. ``answers`` is None where nobody was asked; ``detail`` says why or what came back."""

    signal: str
    exporter: str
    endpoint: str | None
    answers: bool | None
    detail: str


def exports(environ: Mapping[str, str]) -> list[Export]:
    """Each signal's exporters, as ``otel-footprint run`` and ``opentelemetry-instrument`` would use them."""
    return [export for signal in SIGNALS for export in _exports(signal, environ)]


def _exports(signal: str, environ: Mapping[str, str]) -> list[Export]:
    variable = f"OTEL_{signal.upper()}_EXPORTER"
    given = environ.get(variable, "").strip()
    if not given and _setting(environ, signal, "ENDPOINT") is None:
        return [Export(signal, "none", None, None, "no export setting; otel-footprint run writes a file")]
    if given.lower() == "none":
        return [Export(signal, "none", None, None, f"{variable}=none")]
    return [_export(signal, name.strip(), environ) for name in (given or "otlp").split(",")]


def _export(signal: str, exporter: str, environ: Mapping[str, str]) -> Export:
    known = {"otlp", *(entry_point.name for entry_point in entry_points(group=f"opentelemetry_{signal}_exporter"))}
    if exporter not in known:
        return Export(signal, exporter, None, False, "no exporter of that name is installed")
    if exporter not in _PROTOCOL_OF:
        return Export(signal, exporter, None, None, "not an OTLP endpoint; not asked")
    protocol = _PROTOCOL_OF[exporter] or _setting(environ, signal, "PROTOCOL") or "grpc"
    if protocol not in ("grpc", "http/protobuf", "http/json"):
        return Export(
            signal, "otlp", None, False, f"the protocol {protocol!r} is none of grpc, http/protobuf, http/json"
        )
    if protocol == "grpc":
        return _ask_grpc(signal, _setting(environ, signal, "ENDPOINT") or "http://localhost:4317")
    return _ask_http(signal, protocol, _http_url(signal, environ), _headers(environ, signal))


_PROTOCOL_OF: Final[dict[str, str | None]] = {
    "otlp": None,
    "otlp_proto_grpc": "grpc",
    "otlp_proto_http": "http/protobuf",
    "otlp_json_http": "http/json",
}


def _setting(environ: Mapping[str, str], signal: str, what: str) -> str | None:
    for name in (f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}", f"OTEL_EXPORTER_OTLP_{what}"):
        value = environ.get(name, "").strip()
        if value:
            return value
    return None


def _http_url(signal: str, environ: Mapping[str, str]) -> str:
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT", "").strip()
    base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip() or "http://localhost:4318"
    return own or f"{base.rstrip('/')}/v1/{signal}"


def _headers(environ: Mapping[str, str], signal: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in (_setting(environ, signal, "HEADERS") or "").split(","))
    return {unquote(key.strip()).lower(): unquote(value.strip()) for key, equals, value in pairs if equals}


def _ask_grpc(signal: str, endpoint: str) -> Export:
    shown = shown_endpoint(endpoint)
    try:
        split = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
        port = split.port or (443 if split.scheme == "https" else 4317)
        with socket.create_connection((split.hostname or "localhost", port), timeout=_TIMEOUT_SECONDS):
            return Export(signal, "otlp (grpc)", shown, True, "the port is open")
    except (OSError, ValueError) as error:
        return Export(signal, "otlp (grpc)", shown, False, _reason(error))


def _ask_http(signal: str, protocol: str, url: str, headers: Mapping[str, str]) -> Export:
    import httpx

    exporter, shown = f"otlp ({protocol})", shown_endpoint(url)
    json = protocol == "http/json"
    sent = {**headers, "content-type": "application/json" if json else "application/x-protobuf"}
    try:
        response = httpx.post(url, headers=sent, content=b"{}" if json else b"", timeout=_TIMEOUT_SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return Export(signal, exporter, shown, False, _reason(error))
    if response.is_success:
        return Export(signal, exporter, shown, True, f"it accepts (HTTP {response.status_code})")
    hint = {401: ": not authorised", 403: ": not allowed", 404: ": nothing at this path"}.get(response.status_code, "")
    return Export(signal, exporter, shown, False, f"it refuses with HTTP {response.status_code}{hint}")


def shown_endpoint(endpoint: str) -> str:
    """The endpoint without user, password, query and fragment."""
    try:
        split = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
    except ValueError:
        return "the endpoint (which is no URL)"
    host = split.netloc.rpartition("@")[2]
    return f"{split.scheme}://{host}{split.path}" if split.scheme else f"{host}{split.path}"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno and error.errno > 0:  # below are those of looking a name up
        return os.strerror(error.errno).lower()
    text = re.sub(r"^\[Errno -?\d+\] ", "", " ".join(str(error).split())).lower()
    return text if text and len(text) < 120 else type(error).__name__
