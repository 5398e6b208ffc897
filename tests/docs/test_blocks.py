"""Every code block of the documentation runs, against a scripted provider on 127.0.0.1; data blocks are parsed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from doc_blocks import PARSED, RUN, SHOWN, Block, blocks

from otel_footprint.testing import provider as scripted
from otel_footprint.testing.provider import ScriptedProvider, Step, Text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*/README.md"))]
BLOCKS = [block for page in PAGES for block in blocks(page, page.relative_to(ROOT).as_posix())]

RUNNER = """
import sys
from pathlib import Path
name, line = sys.argv[1], int(sys.argv[2])
namespace = {"__name__": "__main__"}
exec(compile(Path("before.py").read_text(), name + " (hidden)", "exec"), namespace)
exec(compile("\\n" * (line - 1) + Path("block.py").read_text(), name, "exec"), namespace)
"""


def of_languages(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    strangers = [str(block) for block in BLOCKS if block.language not in RUN + PARSED + SHOWN]
    assert not strangers


@pytest.mark.parametrize("block", of_languages(*RUN), ids=str)
def test_it_runs(block: Block, tmp_path: Path) -> None:
    if block.run_by_ci:
        ci = (ROOT / ".ci" / "run").read_text().splitlines()
        commands = [line.partition("#")[0].strip() for line in block.code.splitlines()]
        missing = [command for command in commands if command and command not in ci]
        assert not missing
        return
    for name, content in block.files.items():
        (tmp_path / name).write_text(content)
    script: list[Step] = eval(block.script.strip(), vars(scripted).copy()) if block.script else [Text("Hello.")]
    with ScriptedProvider(script, repeat=True) as provider:
        if block.language == "python":
            (tmp_path / "before.py").write_text(block.before)
            (tmp_path / "block.py").write_text(block.code)
            command = [sys.executable, "-c", RUNNER, block.page, str(block.line)]
        else:
            command = ["bash", "-euo", "pipefail", "-c", block.before + block.code]
        environment = environment_of(provider)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"


def environment_of(provider: ScriptedProvider) -> dict[str, str]:
    """The SDKs find the scripted provider; nothing goes to a network; commands of this environment come first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "OTEL_FOOTPRINT_"))}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": provider.openai_url,
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": provider.anthropic_url,
    }


@pytest.mark.parametrize("block", of_languages(*PARSED), ids=str)
def test_it_parses(block: Block) -> None:
    if block.language == "json":
        json.loads(block.code)
    elif block.language == "yaml":
        assert yaml.safe_load(block.code) is not None
    else:
        tomllib.loads(block.code)
