"""Before any instrumentor loads: select our completion hook, and keep the one that was selected beside it.

Whichever instrumentor loads first decides which hook its calls reach, so this must happen before all of them.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import Final

from otel_footprint.genai.hook import OUR_NAME, SELECTED

OTHERS: Final = "OTEL_FOOTPRINT_HOOKS"


def select_hook(environ: MutableMapping[str, str] | None = None) -> None:
    """Name our hook where the utilities look it up; one that stood there joins those that run beside ours."""
    env = os.environ if environ is None else environ
    selected = env.get(SELECTED, "").strip()
    if selected == OUR_NAME:
        return
    env[SELECTED] = OUR_NAME
    if not selected:
        return
    beside = [name.strip() for name in env.get(OTHERS, "").split(",") if name.strip()]
    if selected not in beside:
        env[OTHERS] = ",".join([*beside, selected])
