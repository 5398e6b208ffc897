"""The demo's agents as an application would run them: nothing here knows where telemetry goes."""

from __future__ import annotations

import sys

import otel_footprint
from otel_footprint.cli.demo_scenes import scenes
from otel_footprint.testing.provider import ScriptedProvider


def main() -> None:
    for scene in scenes():
        with ScriptedProvider(scene.script) as provider, otel_footprint.conversation(agent=scene.title):
            scene.play(provider)


if __name__ == "__main__":
    main()
    sys.exit(0)
