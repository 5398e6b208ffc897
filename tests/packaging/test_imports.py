"""What importing costs and needs: little, and for the core and the offline check no OpenTelemetry and no SDK at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from packaging_paths import PACKAGE, ROOT, sources

BLOCKED = ("opentelemetry", "wrapt", "httpx", "httpx2", "rich", "openai", "anthropic", "google", "boto3", "botocore")

BLOCKER = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Blocker())
for name in [name for name in sys.modules if name.partition(".")[0] in {BLOCKED!r}]:
    del sys.modules[name]
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_of(folder: Path) -> list[str]:
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources(folder)]
    return [name.removesuffix(".__init__") for name in names]


def test_the_blocker_blocks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKER + "import opentelemetry.trace"], capture_output=True, text=True
    )
    assert "blocked: opentelemetry" in done.stderr


@pytest.mark.parametrize("part", ["core", "offline"])
def test_it_imports_with_opentelemetry_blocked(part: str) -> None:
    names = modules_of(PACKAGE / part)
    assert len(names) > 5
    run(BLOCKER + "import importlib, otel_footprint\n" + f"for name in {names!r}: importlib.import_module(name)")


def test_the_public_check_works_with_opentelemetry_blocked() -> None:
    messages = [
        {"role": "user", "content": "How much is my order?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"id": "AB-48213"}'},
        {"role": "assistant", "content": "It is order AB-48214."},
    ]
    code = BLOCKER + f"import otel_footprint\nprint(otel_footprint.check({messages!r})['answers'][0]['verdict'])"
    assert run(code).strip() == "ungrounded"


def test_importing_the_package_loads_nearly_nothing() -> None:
    """Counted in modules, since seconds depend on the machine: nothing but the standard library's typing and our two files."""
    code = "import json, sys; before = set(sys.modules); import otel_footprint; print(json.dumps(sorted(set(sys.modules) - before)))"
    loaded = json.loads(run(code))
    ours = [name for name in loaded if name.startswith("otel_footprint")]
    assert ours == ["otel_footprint", "otel_footprint._exports"]
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"otel_footprint"}
    assert not foreign


def test_the_runtime_imports_no_provider_sdk() -> None:
    """An application that uses one SDK does not pay for the others."""
    code = (
        "import json, sys; from otel_footprint import instrument, conversation; print(json.dumps(sorted(sys.modules)))"
    )
    loaded = {name.partition(".")[0] for name in json.loads(run(code))}
    assert not loaded & {"openai", "anthropic", "boto3", "botocore", "rich", "httpx", "httpx2", "pydantic"}
