"""Rules of the source that no linter checks: short files, one place that swallows exceptions, nothing left unfinished."""

from __future__ import annotations

import ast
import re

from packaging_paths import PACKAGE, ROOT, shown, sources

MOST_LINES = 420
MOST_TEST_LINES = 500
GENERATED = PACKAGE / "telemetry" / "names.py"
"""As long as the registry has names."""
TREES = [PACKAGE, ROOT / "tests", ROOT / "examples", ROOT / "benchmarks", ROOT / "scripts"]


def test_files_are_short_enough_to_have_one_job() -> None:
    lengths = {path: path.read_text().count("\n") for path in sources(*TREES) if path != GENERATED}
    most = {path: MOST_LINES if path.is_relative_to(PACKAGE) else MOST_TEST_LINES for path in lengths}
    assert not {shown(path): lines for path, lines in lengths.items() if lines > most[path]}


def test_only_the_boundary_swallows_any_exception() -> None:
    found = []
    for path in sources(PACKAGE):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler) and _catches_everything(node.type):
                found.append(f"{shown(path)}:{node.lineno}")
    assert [place for place in found if not place.startswith("otel_footprint/boundary.py:")] == []


def _catches_everything(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(name, ast.Name) and name.id in ("Exception", "BaseException") for name in names)


def test_packages_hold_no_logic() -> None:
    """``__init__.py`` has a docstring, imports and ``__all__``."""
    allowed = (ast.Import, ast.ImportFrom)
    for path in sources(PACKAGE):
        if path.name != "__init__.py":
            continue
        for node in ast.parse(path.read_text()).body:
            is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            is_all = isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]
            is_typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            assert isinstance(node, allowed) or is_doc or is_all or is_typing, f"{shown(path)}:{node.lineno}"


def test_every_file_opens_with_its_job() -> None:
    for path in sources(PACKAGE):
        doc = ast.get_docstring(ast.parse(path.read_text()))
        assert doc, shown(path)
        assert len(doc.splitlines()[0]) <= 130, shown(path)


def test_nothing_is_left_unfinished() -> None:
    pattern = re.compile(r"\b(TODO|FIXME|XXX:|NotImplementedError)")
    found = [
        f"{shown(path)}:{number}"
        for path in sources(PACKAGE)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_the_core_uses_the_standard_library_only_and_no_clock() -> None:
    """Imports that import-linter cannot judge: time, randomness, the environment, files and logging are the edges' affair."""
    forbidden = {"time", "random", "os", "logging", "pathlib", "socket", "subprocess", "threading", "asyncio", "uuid"}
    found = []
    for path in sources(PACKAGE / "core"):
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            found += [f"{shown(path)}: {name}" for name in names if name.partition(".")[0] in forbidden]
    assert not found
