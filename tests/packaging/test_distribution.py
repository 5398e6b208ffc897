"""The wheel and the source archive hold what they should and nothing else."""

from __future__ import annotations

import email
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from packaging_paths import PACKAGE, ROOT, shown


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both, built by the build backend that is installed here: no network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(distributions.glob("*.whl")))


def metadata(wheel: zipfile.ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def test_the_wheel_holds_the_package_and_its_data(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert "otel_footprint/py.typed" in names
    assert "otel_footprint/telemetry/registry.toml" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    packaged = {name for name in names if name.endswith(".py")}
    assert packaged == {shown(path) for path in PACKAGE.rglob("*.py")}


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    strangers = [name for name in wheel.namelist() if not name.startswith(("otel_footprint/", "otel_footprint-"))]
    assert not strangers
    assert not [name for name in wheel.namelist() if "test_" in name or "__pycache__" in name]


def test_the_metadata_says_what_a_reader_needs(wheel: zipfile.ZipFile) -> None:
    found = metadata(wheel)
    assert found["Name"] == "otel-footprint"
    assert found["License-Expression"] == "Apache-2.0"
    assert found["Requires-Python"] == ">=3.10"
    assert found.get_payload().startswith("otel-footprint ")  # type: ignore[union-attr]
    assert {"openai", "anthropic", "google", "bedrock", "all"} <= set(found.get_all("Provides-Extra") or [])


def test_provider_sdks_are_extras(wheel: zipfile.ZipFile) -> None:
    required = [line for line in metadata(wheel).get_all("Requires-Dist") or [] if "extra ==" not in line]
    names = {line.split(">")[0].split("<")[0].split("=")[0].strip() for line in required}
    assert not names & {"openai", "anthropic", "google-genai", "boto3"}


def test_the_entry_points_are_there(wheel: zipfile.ZipFile) -> None:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    text = wheel.read(name).decode()
    for group in (
        "console_scripts",
        "opentelemetry_genai_completion_hook",
        "opentelemetry_instrumentor",
        "opentelemetry_pre_instrument",
        "opentelemetry_post_instrument",
    ):
        assert f"[{group}]" in text


def test_the_source_archive_can_run_the_tests(distributions: Path) -> None:
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "otel_footprint/py.typed"} <= names
    assert any(name.startswith("tests/") for name in names)
    assert not [name for name in names if name.startswith((".venv", ".cache")) or name.endswith(".jsonl")]
