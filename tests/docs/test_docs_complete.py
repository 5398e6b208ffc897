"""What a person copies from a page runs as it stands: names that a block uses are in it, or the text says what they are."""

from __future__ import annotations

import ast
import builtins
from dataclasses import fields
from pathlib import Path

import pytest
from doc_blocks import blocks

from otel_footprint import Evidence

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXPLAINED = {"run_tool", "seen"}


@pytest.mark.parametrize("page", ["state.md", "postures.md", "findings.md"])
def test_a_block_imports_what_it_uses(page: str) -> None:
    for block in blocks(DOCS / page, page):
        if block.language == "python":
            nodes = list(ast.walk(ast.parse(block.code)))
            used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
            made = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            made |= {
                node.name
                for node in nodes
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler) and node.name
            }
            made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
            for node in nodes:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    made |= {(name.asname or name.name).partition(".")[0] for name in node.names}
            assert used - made - set(dir(builtins)) - EXPLAINED == set(), str(block)


def test_every_option_of_the_evidence_check_is_on_its_page_with_its_default() -> None:
    text = (DOCS / "evidence.md").read_text()
    for field in fields(Evidence):
        default = f"{field.default:_}" if type(field.default) is int else repr(field.default).replace("'", '"')
        assert f"| `{field.name}` | `{default}` |" in text
