"""Build the servers of the end-to-end tests: a collector, Jaeger, Prometheus, Alertmanager.

Run by ``make e2e``; needs nothing but Python. Prints the path of the folder that holds the programs.

Rules
-----
- What is built, and at which versions, is said by ``collector/servers/``. A program lies in a folder that is named by the
  hash of what it is built from, outside the checkout (``$XDG_CACHE_HOME/otel-footprint``), so a clone finds it made and
  a change of a version builds anew.
- The collector, Jaeger and Alertmanager are built by Go. Prometheus is taken out of Debian's package where there is one
  (unpacked, not installed), and built by Go elsewhere.
- Nothing is half there: a program is built beside its place and moved to it.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BUILD = Path(__file__).resolve().parent.parent / "collector" / "servers"
NICE = ["nice", "-n", "10"] if shutil.which("nice") else []


class CannotBuild(Exception):
    """Something that the build needs is not here; the text says what."""


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "otel-footprint" / "servers"


def programs() -> dict[str, Path]:
    """Each program by name, built where it is missing."""
    wanted: dict[str, Any] = json.loads((BUILD / "servers.json").read_text())
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two checkouts of one person build once
        found = {name: go_program(name, recipe) for name, recipe in wanted["go"].items()}
        for package, recipe in wanted["debian"].items():
            found |= debian_programs(package, recipe["programs"], wanted["go-instead"])
    return found


def go_program(name: str, recipe: Mapping[str, str]) -> Path:
    text = json.dumps(
        {key: recipe[key] for key in ("builder", "manifest", "package", "version") if key in recipe}, sort_keys=True
    )
    if "manifest" in recipe:
        text += (BUILD / recipe["manifest"]).read_text()
    target = cache() / f"{name}-{digest(text)}" / name
    if not target.exists():
        if shutil.which("go") is None:
            raise CannotBuild(
                f"{name} is not built and there is no `go` on this machine: install Go 1.25 or newer (https://go.dev/dl), "
                "with a module proxy that it reaches"
            )
        with building(target, name) as folder:
            built = with_builder(folder, recipe) if "manifest" in recipe else with_go(folder, name, recipe)
            target.parent.mkdir(exist_ok=True)
            os.replace(built, target)
    return target


def with_builder(folder: Path, recipe: Mapping[str, str]) -> Path:
    """The collector, by OpenTelemetry's builder from its manifest."""
    run(["go", "install", recipe["builder"]], folder, GOBIN=str(folder))
    shutil.copy(BUILD / recipe["manifest"], folder / "manifest.yaml")
    run([str(folder / "builder"), "--config", "manifest.yaml"], folder)
    return folder / "otelcol" / "otelcol"


def with_go(folder: Path, name: str, recipe: Mapping[str, str]) -> Path:
    """A program of a Go module, in an empty module of its own: `go install` refuses modules that replace others."""
    run(["go", "mod", "init", "servers"], folder)
    run(["go", "get", "-tool", f"{recipe['package']}@{recipe['version']}"], folder)
    run(["go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, recipe["package"]], folder)
    return folder / name


def debian_programs(package: str, paths: Mapping[str, str], instead: Mapping[str, Any]) -> dict[str, Path]:
    """The programs of a Debian package, unpacked; by Go where there is no such package."""
    here = cache() / f"debian-{package}"
    if not all((here / path).exists() for path in paths.values()):
        with building(here, package) as folder:
            if not unpacked(package, folder):
                return {name: go_program(name, instead[name]) for name in paths}
            shutil.rmtree(here, ignore_errors=True)
            os.replace(folder / "unpacked", here)
    return {name: here / path for name, path in paths.items()}


def unpacked(package: str, folder: Path) -> bool:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return False
    # As root, apt fetches as a user of its own, who has to write here.
    folder.chmod(0o777)
    fetch = ["apt-get", "-q", "download", package]
    if not tried(fetch, folder) and not (tried(["apt-get", "-q", "update"], folder) and tried(fetch, folder)):
        return False
    file = next(folder.glob("*.deb"), None)
    return file is not None and tried(["dpkg-deb", "-x", str(file), str(folder / "unpacked")], folder)


class building:
    """A folder to build in, on the same disk as the cache; gone afterwards. Says on standard error what takes so long."""

    def __init__(self, target: Path, name: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"building-{name}-", dir=cache()))
        self.name = name

    def __enter__(self) -> Path:
        print(f"building {self.name} (once, minutes) …", file=sys.stderr, flush=True)
        self.began = time.monotonic()
        return self.folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f"{self.name}: {time.monotonic() - self.began:.0f} s", file=sys.stderr, flush=True)


def tried(command: list[str], folder: Path) -> bool:
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def run(command: list[str], folder: Path, **environment: str) -> None:
    settings = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=mod", "GOWORK": "off", **environment}
    done = subprocess.run([*NICE, *command], cwd=folder, env=settings, capture_output=True, text=True)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise CannotBuild(f"`{' '.join(command)}` failed:\n{said}")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the servers of the end-to-end tests.")
    parser.add_argument("--out", type=Path, help="also put links to the programs into this folder")
    arguments = parser.parse_args()
    try:
        found = programs()
    except CannotBuild as error:
        print(f"make e2e: {error}", file=sys.stderr)
        return 2
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, path in found.items():
            link = arguments.out / name
            link.unlink(missing_ok=True)
            link.symlink_to(path)
    for name, path in found.items():
        print(f"{name}\t{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
