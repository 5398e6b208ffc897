"""Write collector/prometheus/recorded.yml: how much each counter grew, in a form that misses no first count.

All the expressions are of one form, too long to be kept the same by hand. ``make names`` runs this; a test fails where
the file differs from what this writes.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).resolve().parent.parent / "collector" / "prometheus" / "recorded.yml"

HEAD: Final = """\
# Written by scripts/build_rules.py (make names). What is recorded: how much each counter grew, by what an alert names.
#
# increase() alone misses what a series counted before it was first scraped: a fresh process that answers within its first
# export interval is born at 1, and a worker that ends early never shows a 0. So a series that was not there one window
# ago counts with its whole value, and an older one with its increase. A series that is there again after the collector
# was restarted is not new: births count only where the collector was up without a break for five minutes before the
# window, by when every SDK has exported again (OTEL_METRIC_EXPORT_INTERVAL is a minute). The price: in the first 15
# minutes after a restart of the collector (65 for the rules over an hour), the first answers of a fresh process do not
# count. Nothing pages because the collector or Prometheus came back.
#
# The collector's own counts of span events stand in for services that send no metrics of ours, never beside them.
groups:
  - name: agentfootprint-recorded
    interval: 30s
    rules:
"""

SDK: Final = 'otel_scope_name="otel_footprint"'
COUNTED: Final = 'otel_scope_name=~".*countconnector"'

# The counter, the labels that are kept, the windows, and whether the collector counts it too.
RECORDED: Final = (
    ("answers", "job, agent, model, posture, verdict, worst_status", ("10m", "1h"), True),
    ("evidence_revisions", "job, posture, outcome", ("10m",), False),
    ("answer_standing", "job, agent, model, standing", ("1h",), False),
    ("answer_reasons", "job, agent, reason", ("10m", "1h"), False),
    ("window_visits", "job, strategy, outcome", ("10m", "1h"), False),
    ("window_refusals", "job, strategy, reason", ("1h",), False),
    ("errors", "job, place", ("10m",), False),
    ("conversations_dropped", "job", ("10m",), False),
)


def grown(series: str, labels: str, window: str) -> str:
    return textwrap.dedent(f"""\
        sum by ({labels}) (
          (
            ({series} unless {series} offset {window})
            and on () (min(min_over_time(up{{job="agents"}}[5m] offset {window})) == 1)
          ) * 1
          or increase({series}[{window}])
        )""")


def rules() -> str:
    """The whole file."""
    text = HEAD
    for name, labels, windows, also_counted in RECORDED:
        metric = f"agentfootprint_{name}_total"
        for window in windows:
            expression = grown(f"{metric}{{{SDK}}}", labels, window)
            if also_counted:
                counted = textwrap.indent(grown(f"{metric}{{{COUNTED}}}", labels, window), "  ")
                known = f"last_over_time({metric}{{{SDK}}}[1h])"
                expression += f"\nor\n(\n{counted}\n  unless on (job) {known}\n)"
            text += f"      - record: agentfootprint:{name}:increase{window}\n        expr: |\n"
            text += textwrap.indent(expression, " " * 10) + "\n"
    return text


if __name__ == "__main__":
    FILE.write_text(rules())
