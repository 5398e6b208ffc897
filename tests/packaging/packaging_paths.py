"""Where the source is, for the tests of the package as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "otel_footprint"


def sources(*folders: Path) -> Iterator[Path]:
    """Every Python file of the folders."""
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts)


def shown(path: Path) -> str:
    """The path as a reader of the repository knows it."""
    return path.relative_to(ROOT).as_posix()
