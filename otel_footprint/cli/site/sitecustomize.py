"""Imported at the start of every Python under ``otel-footprint run``: turns observation on, or says why not.

Standard library only until our package is known to be there: the agent's Python may be another one than ours. A
``sitecustomize`` that the environment had before runs first, as it would have without us.
"""

import os
import sys


def _the_one_we_hide(here: str) -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    elsewhere = [path for path in sys.path if os.path.realpath(path or os.getcwd()) != here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _say_once(line: str) -> None:
    folder = os.environ.get("OTEL_FOOTPRINT_RUN_FOLDER", "")
    try:
        os.close(os.open(os.path.join(folder, "missing"), os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return
    sys.stderr.write(line + "\n")


def _start() -> None:
    here = os.path.dirname(os.path.realpath(__file__))
    try:
        _the_one_we_hide(here)
    finally:
        # The application's import path is as it would be without us; PYTHONPATH keeps us for its child processes.
        sys.path[:] = [path for path in sys.path if os.path.realpath(path or os.getcwd()) != here]
    if "OTEL_FOOTPRINT_RUN_FOLDER" not in os.environ:
        return
    try:
        from otel_footprint.cli import child
    except ImportError as error:
        _say_once(f"otel-footprint run: not observed: {sys.executable} cannot import otel-footprint ({error})")
        return
    child.start()


_start()
