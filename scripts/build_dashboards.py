"""Write the Grafana dashboards in collector/grafana/dashboards, typed by Grafana's own foundation SDK.

Run by hand after a change (the package ``grafana-foundation-sdk``, group ``e2e``); the JSON is committed. A test fails where
it differs from what this writes, and where a query asks for a name that is not in the registry.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from grafana_foundation_sdk.builders import common, dashboard, heatmap, prometheus, stat, table, tempo, text, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, StackingMode
from grafana_foundation_sdk.models.dashboard import DashboardCursorSync, DashboardLinkType, DataSourceRef
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.tempo import TempoQueryType

FOLDER: Final = Path(__file__).resolve().parent.parent / "collector" / "grafana" / "dashboards"
METRICS: Final = DataSourceRef(type_val="prometheus", uid="prometheus")
TRACES: Final = DataSourceRef(type_val="tempo", uid="tempo")
SDK: Final = 'otel_scope_name="otel_footprint"'
MINE: Final = 'job=~"$job"'
CALLS: Final = f'{MINE}, agent=~"$agent", model=~"$model"'

JAEGER: Final = """\
**Without Tempo**, search in Jaeger by tags; the alert's `job` is the service.

- [Ungrounded answers](http://127.0.0.1:16686/search?lookback=2h&limit=50&service=${job}&tags=%7B%22agentfootprint.evidence.verdict%22%3A%22ungrounded%22%7D)
- [Answers that rest on what had left the window](http://127.0.0.1:16686/search?lookback=2h&limit=50&service=${job}&tags=%7B%22agentfootprint.evidence.worst_status%22%3A%22evicted%22%7D)
- [Refused answers](http://127.0.0.1:16686/search?lookback=2h&limit=50&service=${job}&tags=%7B%22agentfootprint.evidence.action%22%3A%22refused%22%7D)
"""


def query(expression: str, legend: str = "", *, exemplars: bool = False) -> prometheus.Dataquery:
    built = prometheus.Dataquery().expr(expression).legend_format(legend or "__auto").exemplar(exemplars)
    return built.format(PromQueryFormat.TIME_SERIES)


def graph(title: str, what: str, *queries: prometheus.Dataquery, unit: str = "short", stacked: bool = False) -> Any:
    panel = timeseries.Panel().title(title).description(what).datasource(METRICS).unit(unit).min(0).height(8).span(12)
    panel = panel.legend(
        common.VizLegendOptions()
        .display_mode(LegendDisplayMode.LIST)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
    )
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(StackingMode.NORMAL)).fill_opacity(30)
    for ref, each in zip("ABCDEF", queries, strict=False):
        panel = panel.with_target(each.ref_id(ref))
    return panel


def quantiles(metric: str, labels: str = MINE) -> list[prometheus.Dataquery]:
    grouped = f"sum by (le) (rate({metric}_bucket{{{SDK}, {labels}}}[$__rate_interval]))"
    return [query(f"histogram_quantile({q}, {grouped})", f"{q:.0%}", exemplars=True) for q in (0.5, 0.95, 0.99)]


def traces(title: str, what: str, traceql: str) -> Any:
    target = (
        tempo.TempoQuery().query(traceql).query_type(TempoQueryType.TRACEQL).limit(20).datasource(TRACES).ref_id("A")
    )
    return table.Panel().title(title).description(what).datasource(TRACES).with_target(target).height(8).span(12)


def number(title: str, what: str, expression: str, unit: str = "short") -> Any:
    panel = stat.Panel().title(title).description(what).datasource(METRICS).unit(unit).height(4).span(6)
    return panel.with_target(query(expression).ref_id("A").instant())


def board(uid: str, title: str, *variables: str) -> dashboard.Dashboard:
    built = (
        dashboard.Dashboard(title)
        .uid(uid)
        .tags(["otel-footprint"])
        .refresh("30s")
        .time("now-3h", "now")
        .timezone("utc")
    )
    built = built.tooltip(DashboardCursorSync.CROSSHAIR).editable()
    for name in variables:
        built = built.with_variable(
            dashboard.QueryVariable(name)
            .label(name)
            .datasource(METRICS)
            .query(f"label_values(agentfootprint_answers_total, {name})")
            .multi(True)
            .include_all(True)
            .all_value(".*")
        )
    link = dashboard.DashboardLink("otel-footprint").type(DashboardLinkType.DASHBOARDS).tags(["otel-footprint"])
    return built.link(link.as_dropdown(True).keep_time(True).include_vars(True))


def answers() -> dashboard.Dashboard:
    grown = f"agentfootprint:answers:increase10m{{{CALLS}}}"
    stating = f'agentfootprint:answers:increase1h{{{CALLS}, verdict=~"grounded|ungrounded|inconclusive"}}'
    bad = f'agentfootprint:answers:increase1h{{{CALLS}, verdict="ungrounded"}}'
    built = board("footprint-answers", "Answers", "job", "agent", "model")
    for panel in (
        number(
            "Answers in an hour", "All answers that were judged.", f"sum(agentfootprint:answers:increase1h{{{CALLS}}})"
        ),
        number("Ungrounded", "Share of the answers that state values.", f"sum({bad}) / sum({stating})", "percentunit"),
        number(
            "On evicted evidence",
            "Answers in an hour whose source had left the window.",
            f'sum(agentfootprint:answers:increase1h{{{CALLS}, worst_status="evicted"}})',
        ),
        number(
            "Refused",
            "Answers that the posture rails kept from users, in ten minutes.",
            f'sum(agentfootprint:evidence_revisions:increase10m{{{MINE}, outcome="refused"}})',
        ),
        graph(
            "Answers by verdict",
            "Answers in the last ten minutes. The first one of a fresh process is in it.",
            query(f"sum by (verdict) ({grown})", "{{verdict}}"),
            stacked=True,
        ),
        graph(
            "Share of ungrounded answers",
            "Over an hour, by service, agent and model; the page fires above 5 %.",
            query(
                f"sum by (job, agent, model) ({bad}) / sum by (job, agent, model) ({stating})",
                "{{job}} {{agent}} {{model}}",
            ),
            unit="percentunit",
        ),
        graph(
            "Values by status",
            "Values that answers state, a minute. A point's exemplar leads to its trace.",
            query(
                f"60 * sum by (status) (rate(agentfootprint_evidence_values_total{{{SDK}, {MINE}}}[$__rate_interval]))",
                "{{status}}",
                exemplars=True,
            ),
            stacked=True,
        ),
        graph(
            "Flagged values by kind",
            "Values a minute that count against an answer, by their class.",
            query(
                "60 * sum by (status, shape) (rate(agentfootprint_evidence_values_total"
                f'{{{SDK}, {MINE}, status=~"evicted|argument_only|unsupported"}}[$__rate_interval]))',
                "{{shape}} {{status}}",
            ),
        ),
        graph(
            "Worst status of answers",
            "Answers in ten minutes by the worst status of their values.",
            query(f"sum by (worst_status) ({grown})", "{{worst_status}}"),
            stacked=True,
        ),
        graph(
            "What tool calls pass on without a source",
            "Values a minute in arguments of tool calls that nothing accounts for. Advice: no verdict depends on it.",
            query(
                "60 * sum by (tool, status) (rate(agentfootprint_arguments_values_total"
                f'{{{SDK}, {MINE}, status=~"evicted|argument_only|unsupported"}}[$__rate_interval]))',
                "{{tool}} {{status}}",
            ),
        ),
        graph(
            "Values of another row",
            "Places a minute at which a value stands beside the name of another row. Advice: no verdict depends on it.",
            query(
                f"60 * sum by (shape) (rate(agentfootprint_evidence_misplaced_total{{{SDK}, {MINE}}}[$__rate_interval]))",
                "{{shape}}",
            ),
        ),
        graph(
            "Revisions",
            "Answers sent back to be revised, in ten minutes, by what came of it.",
            query(
                f"sum by (posture, outcome) (agentfootprint:evidence_revisions:increase10m{{{MINE}}})",
                "{{posture}} {{outcome}}",
            ),
            stacked=True,
        ),
        text.Panel().title("Traces in Jaeger").content(JAEGER).height(8).span(12),
        traces(
            "Ungrounded answers",
            "The latest traces with one (Tempo).",
            '{ resource.service.name =~ "$job" && span.agentfootprint.evidence.verdict = "ungrounded" }',
        ),
        traces(
            "Answers on evicted evidence",
            "The latest traces with a value whose tool result had left (Tempo).",
            '{ resource.service.name =~ "$job" && event:name = "agentfootprint.evidence.value"'
            ' && event.agentfootprint.value.status = "evicted" }',
        ),
    ):
        built = built.with_panel(panel)
    return built


def findings() -> dashboard.Dashboard:
    built = board("footprint-findings", "Findings", "job", "agent", "model")
    for panel in (
        graph(
            "How far answers stand",
            "Answers in an hour. Only where findings are on.",
            query(f"sum by (standing) (agentfootprint:answer_standing:increase1h{{{CALLS}}})", "{{standing}}"),
            stacked=True,
        ),
        graph(
            "Why they stand no further",
            "Answers in ten minutes, by each reason.",
            query(
                f'sum by (reason) (agentfootprint:answer_reasons:increase10m{{{MINE}, agent=~"$agent"}})', "{{reason}}"
            ),
            stacked=True,
        ),
        graph(
            "Results by what they are said to be",
            "Declarations a minute, by the model or the application.",
            query(
                f"60 * sum by (standing) (rate(agentfootprint_findings_total{{{SDK}, {MINE}}}[$__rate_interval]))",
                "{{standing}}",
            ),
            stacked=True,
        ),
        graph(
            "Conflicts and contingent answers",
            "Answers in an hour, by agent.",
            query(
                "sum by (agent, reason) (agentfootprint:answer_reasons:increase1h"
                f'{{{MINE}, agent=~"$agent", reason=~"sources-conflict|value-contingent"}})',
                "{{agent}} {{reason}}",
            ),
        ),
        traces(
            "Sources in conflict",
            "The latest traces with an answer that rests on results that do not agree (Tempo).",
            '{ resource.service.name =~ "$job" && span.agentfootprint.answer.reason = "sources-conflict" }',
        ),
        traces(
            "Contingent answers",
            "The latest traces with a value that only results set aside carry (Tempo).",
            '{ resource.service.name =~ "$job" && span.agentfootprint.answer.reason = "value-contingent" }',
        ),
    ):
        built = built.with_panel(panel)
    return built


def window() -> dashboard.Dashboard:
    evictions = f"agentfootprint_window_evictions_total{{{SDK}, {MINE}}}"
    built = board("footprint-window", "Window", "job")
    for panel in (
        graph(
            "What leaves, by tool",
            "Messages a minute that left a window; those without a tool are no tool results.",
            query(f"60 * sum by (tool) (rate({evictions}[$__rate_interval]))", "{{tool}}"),
            stacked=True,
        ),
        graph(
            "Who decides, and how",
            "The application, the provider or a strategy; by eviction, summary, clearing, rewriting or reset.",
            query(
                f"60 * sum by (decided_by, reason) (rate({evictions}[$__rate_interval]))", "{{decided_by}}: {{reason}}"
            ),
            stacked=True,
        ),
        graph(
            "How long messages stay",
            "Time in the window of the messages that left it.",
            *quantiles("agentfootprint_window_survival_seconds"),
            unit="s",
        ),
        heatmap.Panel()
        .title("Survival")
        .description("The same, all of them.")
        .datasource(METRICS)
        .color(heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Oranges").steps(64))
        .with_target(
            prometheus.Dataquery()
            .expr(
                f"sum by (le) (increase(agentfootprint_window_survival_seconds_bucket{{{SDK}, {MINE}}}[$__rate_interval]))"
            )
            .format(PromQueryFormat.HEATMAP)
            .legend_format("{{le}}")
            .ref_id("A")
        )
        .height(8)
        .span(12),
        graph(
            "Window size",
            "Characters in the windows of calls, without the system instruction.",
            *quantiles("agentfootprint_window_chars"),
        ),
        graph(
            "Visits of window strategies",
            "In an hour, by what came of them.",
            query(
                f"sum by (strategy, outcome) (agentfootprint:window_visits:increase1h{{{MINE}}})",
                "{{strategy}}: {{outcome}}",
            ),
            stacked=True,
        ),
        graph(
            "Why turns stay",
            "Refusals to leave, a minute.",
            query(
                "60 * sum by (strategy, reason) (rate(agentfootprint_window_refusals_total"
                f"{{{SDK}, {MINE}}}[$__rate_interval]))",
                "{{strategy}}: {{reason}}",
            ),
            stacked=True,
        ),
        graph(
            "Conversations dropped",
            "Pushed out by the bound on how many are remembered, in ten minutes.",
            query(f"sum by (job) (agentfootprint:conversations_dropped:increase10m{{{MINE}}})", "{{job}}"),
        ),
        traces(
            "Windows that could not shrink",
            "The latest visits in which every turn refused to leave (Tempo).",
            '{ resource.service.name =~ "$job" && span.agentfootprint.window.outcome = "refused" }',
        ),
        traces(
            "Long windows",
            "The latest calls with more than 300,000 characters (Tempo).",
            '{ resource.service.name =~ "$job" && span.agentfootprint.window.chars_after > 300000 }',
        ),
    ):
        built = built.with_panel(panel)
    return built


def cost() -> dashboard.Dashboard:
    built = board("footprint-cost", "Cost and pipeline", "job")
    duration = "agentfootprint_evidence_duration_seconds"
    for panel in (
        graph(
            "Cost of judging",
            "Time by which a call that answers takes longer.",
            *quantiles(duration),
            unit="s",
        ),
        graph(
            "Cost of a guard",
            "Second calls to the model a minute: answers that were sent back to be revised.",
            query(
                f"60 * sum by (posture) (rate(agentfootprint_evidence_revisions_total{{{SDK}, {MINE}}}[$__rate_interval]))",
                "{{posture}}",
            ),
        ),
        graph(
            "Share of a processor",
            "Seconds spent judging, a second.",
            query(f"sum by (job) (rate({duration}_sum{{{SDK}, {MINE}}}[$__rate_interval]))", "{{job}}"),
            unit="percentunit",
        ),
        graph(
            "Faults of otel-footprint",
            "Swallowed, in ten minutes, by place.",
            query(f'sum by (job, place) (agentfootprint:errors:increase10m{{{MINE}, place!=""}})', "{{job}} {{place}}"),
        ),
        graph(
            "Spans through the collector",
            "A second.",
            query("sum(rate(otelcol_receiver_accepted_spans_total[$__rate_interval]))", "accepted"),
            query(
                "sum by (exporter) (rate(otelcol_exporter_sent_spans_total[$__rate_interval]))", "sent to {{exporter}}"
            ),
            query("sum(rate(otelcol_receiver_refused_spans_total[$__rate_interval]))", "refused"),
        ),
        graph(
            "Queues on the collector's disk",
            "Share of their capacity.",
            query("otelcol_exporter_queue_size / otelcol_exporter_queue_capacity", "{{exporter}}"),
            unit="percentunit",
        ),
        graph(
            "Traces that sampling decided on",
            "A second.",
            query(
                "sum by (sampled) (rate(otelcol_processor_tail_sampling_global_count_traces_sampled_total"
                "[$__rate_interval]))",
                "kept: {{sampled}}",
            ),
            stacked=True,
        ),
        graph(
            "Memory of the collector",
            "Resident.",
            query("otelcol_process_memory_rss_bytes", "{{instance}}"),
            unit="bytes",
        ),
    ):
        built = built.with_panel(panel)
    return built


def dashboards() -> dict[str, str]:
    """Each file's name and text."""
    boards = {"answers": answers(), "findings": findings(), "window": window(), "cost": cost()}
    return {
        f"{name}.json": JSONEncoder(sort_keys=True, indent=2).encode(built.build()) + "\n"
        for name, built in boards.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in dashboards().items():
        (FOLDER / name).write_text(content)
