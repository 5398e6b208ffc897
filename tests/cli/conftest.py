"""The command line as a person runs it: in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("OTEL_", "PYTHONPATH", "NO_COLOR", "COLUMNS", "FORCE_COLOR"))
}
COMMAND = (sys.executable, "-m", "otel_footprint.cli.main")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def whole(self) -> str:
        return self.out + self.err


Cli = Callable[..., Ended]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run ``otel-footprint`` with arguments in a folder of its own; nothing it prints may be a traceback."""

    def run(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> Ended:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=cwd or tmp_path,
            env={**CLEAN, **environment},
            timeout=120,
        )
        ended = Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ended.whole, ended.whole
        return ended

    return run


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """A model that looks an order up and then answers with what it read and something it made up, again and again."""
    script: list[Any] = [ToolCalls([ToolUse("get_order", {})]), Text("It is AB-48213, not XY-99999.")]
    with ScriptedProvider(script, repeat=True) as scripted:
        yield scripted


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on which nobody listens for as long as the test runs."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


AGENT = """
import os, sys
import openai

client = openai.OpenAI(base_url=os.environ["PROVIDER_URL"], api_key="x", max_retries=0)
messages = [{"role": "user", "content": "SECRET-QUESTION-1"}]
tools = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}]
message = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
messages.append(message.model_dump(exclude_none=True))
messages.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": '{"order": "AB-48213"}'})
print(client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message.content, flush=True)
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """A small agent, as an application writes it: nothing of ours in it."""
    path = tmp_path / "agent.py"
    path.write_text(AGENT)
    return path
