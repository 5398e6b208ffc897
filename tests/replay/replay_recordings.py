"""Reads recorded provider traffic: what was asked, and the bytes that came back.

Two recorders wrote the files: vcrpy (``interactions``; some bodies already parsed) and Ruby's VCR (``http_interactions``).
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from otel_footprint.testing.script import Raw

SURFACES = {
    "chat/completions": "openai_chat",
    "/responses": "openai_responses",
    "/messages": "anthropic",
    "enerateContent": "gemini",
    "/converse": "bedrock",
    "/converse-stream": "bedrock",
    "/invoke-with-response-stream": "bedrock",
    "/v2/chat": "cohere",
}
NOT_REPLAYED = {
    "cohere": "the cohere SDK has no official OpenTelemetry instrumentation, and no other SDK speaks its API"
}
"""Mistral and Ollama have none either, but their recordings are of the chat completions API, which the openai SDK speaks."""


@dataclass(frozen=True)
class RecordedCall:
    """One request and its response. ``path`` has the query and starts at the host."""

    surface: str
    path: str
    body: dict[str, Any]
    response: Raw

    @property
    def streams(self) -> bool:
        return "stream" in self.path or "treamGenerate" in self.path or bool(self.body.get("stream"))

    @property
    def model(self) -> str:
        """The model in the path, for the APIs that have it there."""
        parts = unquote(urlsplit(self.path).path).split("/")
        return (
            parts[parts.index("model" if "model" in parts else "models") + 1]
            .partition(":generate")[0]
            .partition(":stream")[0]
        )


@dataclass(frozen=True)
class Recording:
    """The calls of one recorded test of another project."""

    file: str
    provider: str
    calls: tuple[RecordedCall, ...]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Ruby writes ``!binary`` where YAML says ``!!binary``."""


_Loader.add_constructor("!binary", lambda loader, node: base64.b64decode(loader.construct_scalar(node)))


@cache
def recordings(folder: Path) -> dict[str, Recording]:
    """All recordings of a folder, by a name short enough for a test's id."""
    found = {}
    for path in sorted((folder / "raw").iterdir()):
        provider, mode, repo, key, *_ = path.name.split("__")
        found[f"{provider}-{mode}-{repo}-{key}"] = Recording(path.name, provider, _calls(path))
    return found


def _calls(path: Path) -> tuple[RecordedCall, ...]:
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    calls = []
    for interaction in document.get("interactions") or document["http_interactions"]:
        request, response = interaction["request"], interaction["response"]
        surface = next((name for end, name in SURFACES.items() if urlsplit(request["uri"]).path.endswith(end)), None)
        if surface is None:  # a token endpoint, or another project's own telemetry
            continue
        calls.append(
            RecordedCall(
                surface=surface,
                path=_path(request["uri"]),
                body=_request_body(request),
                response=_response(response),
            )
        )
    return tuple(calls)


def _path(uri: str) -> str:
    uri = re.sub(r"^<[A-Z_]+>", "http://host/v1", uri)
    parts = urlsplit(re.sub(r"<([A-Z_]+)>", r"\1", uri))
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _request_body(request: dict[str, Any]) -> dict[str, Any]:
    if "parsed_body" in request:
        return request["parsed_body"]
    body = request["body"]
    return json.loads(body["string"] if isinstance(body, dict) else body)


def _response(response: dict[str, Any]) -> Raw:
    headers = {name.lower(): values for name, values in response["headers"].items()}
    if "parsed_body" in response:
        body = json.dumps(response["parsed_body"]).encode()
    else:
        text = response["body"]["string"]
        body = text.encode() if isinstance(text, str) else text
        body = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    content_type = headers["content-type"][0]
    kind = content_type.partition(";")[0]
    chunks = tuple(re.findall(rb"(?s).+?(?:\r?\n\r?\n|\Z)", body)) if kind == "text/event-stream" else ()
    if kind == "application/vnd.amazon.eventstream":
        chunks = (body,)
    return Raw(body, status=response["status"]["code"], content_type=content_type, chunks=chunks)
