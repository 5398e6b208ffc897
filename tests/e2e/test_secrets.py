"""What must not leave does not reach a backend: planted secrets, and an SDK that was told to capture everything."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from e2e_servers import ROOT, Collector, Jaeger, StandIn, clean_environment, running, until
from secrets_agent import KEY

from otel_footprint.report.otlp import read_spans
from otel_footprint.telemetry import names

SERVICE = "secrets"
AGENT = Path(__file__).with_name("secrets_agent.py")
EVERYTHING = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_FOOTPRINT_CAPTURE_VALUES": "all",
    "OTEL_FOOTPRINT_EVENTS": "both",
}
PLANTED = re.compile(r"SECRET-[\w.-]+?-(?:7741|9313)|" + re.escape(KEY))


def run_agent(collector: Collector) -> None:
    subprocess.run(
        [sys.executable, "-m", "otel_footprint.cli.main", "run", "--", sys.executable, str(AGENT)],
        env=clean_environment(OTEL_SERVICE_NAME=SERVICE, **EVERYTHING, **collector.export_settings()),
        cwd=ROOT,
        check=True,
        timeout=120,
    )


def test_nothing_planted_reaches_a_backend(tmp_path: Path) -> None:
    jaeger, tempo = Jaeger(tmp_path), StandIn(tmp_path)
    collector = Collector(
        tmp_path,
        "jaeger",
        "tempo",
        "sampling",
        environment={**jaeger.endpoint, **tempo.endpoint, "SAMPLING_WAIT": "1s"},
    )
    with running(jaeger, tempo, collector):
        run_agent(collector)
        traces = until("the traces", lambda: found if len(found := jaeger.search(SERVICE)) == 2 else None)
        until("the spans", lambda: len(read_spans(tempo.file)) == sum(len(each["spans"]) for each in traces))
        texts = [
            json.dumps(traces),
            tempo.file.read_text(),
            *(path.read_text() for path in collector.state.glob("calls/*")),
        ]
        for text in texts:
            assert PLANTED.findall(text) == []
        spans = read_spans(tempo.file)
        answer = next(span for span in spans if span.attributes.get(names.EVIDENCE_VERDICT) == "ungrounded")
        assert answer.attributes["gen_ai.request.model"] == "gpt-4o", "what is no content stays"
        assert any(span.error and span.attributes.get("error.type") for span in spans), "the kind of an error stays"


def test_what_is_explicitly_allowed_passes(tmp_path: Path) -> None:
    tempo = StandIn(tmp_path)
    collector = Collector(tmp_path, "tempo", "allow-content", "allow-values", environment=tempo.endpoint)
    with running(tempo, collector):
        run_agent(collector)
        until("both traces", lambda: len({span.trace_id for span in read_spans(tempo.file)}) == 2)
        found = set(PLANTED.findall(tempo.file.read_text()))
        for place in ("SYSTEM", "QUESTION", "ARGUMENT", "RESULT", "ANSWER", "ERROR", "EVENT", "STATUS"):
            assert f"SECRET-{place}-7741" in found, "it was planted where it is looked for"
        assert KEY not in found, "credentials pass nowhere"
