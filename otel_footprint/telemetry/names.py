"""Every name that goes into telemetry. Generated from registry.toml by scripts/generate_names.py: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otel_footprint.telemetry.metric import Metric

# Attributes.
CONVERSATION_ID: Final = "agentfootprint.conversation.id"
CONVERSATION_MATCH: Final = "agentfootprint.conversation.match"
THREAD: Final = "agentfootprint.thread"
THREAD_FORKED_FROM: Final = "agentfootprint.thread.forked_from"
TURN: Final = "agentfootprint.turn"
ITERATION: Final = "agentfootprint.iteration"
WINDOW_DECISION: Final = "agentfootprint.window.decision"
WINDOW_DECIDED_BY: Final = "agentfootprint.window.decided_by"
WINDOW_MESSAGES_BEFORE: Final = "agentfootprint.window.messages_before"
WINDOW_MESSAGES_AFTER: Final = "agentfootprint.window.messages_after"
WINDOW_CHARS_BEFORE: Final = "agentfootprint.window.chars_before"
WINDOW_CHARS_AFTER: Final = "agentfootprint.window.chars_after"
WINDOW_EVICTED: Final = "agentfootprint.window.evicted"
WINDOW_REWRITTEN: Final = "agentfootprint.window.rewritten"
WINDOW_INSERTED: Final = "agentfootprint.window.inserted"
WINDOW_DROPPED_TOOLS: Final = "agentfootprint.window.dropped_tools"
WINDOW_DROPPED_TOOLS_OMITTED: Final = "agentfootprint.window.dropped_tools_omitted"
WINDOW_SETTLED: Final = "agentfootprint.window.settled"
WINDOW_STRATEGY: Final = "agentfootprint.window.strategy"
WINDOW_OUTCOME: Final = "agentfootprint.window.outcome"
WINDOW_INACTIVE: Final = "agentfootprint.window.inactive"
WINDOW_REFUSALS: Final = "agentfootprint.window.refusals"
WINDOW_REFUSED: Final[Mapping[str, str]] = {
    "current-request": "agentfootprint.window.refused.current-request",
    "system-envelope": "agentfootprint.window.refused.system-envelope",
    "paused-tool": "agentfootprint.window.refused.paused-tool",
    "pending-check-in": "agentfootprint.window.refused.pending-check-in",
    "unresolved-tool-call": "agentfootprint.window.refused.unresolved-tool-call",
    "last-tool-result": "agentfootprint.window.refused.last-tool-result",
    "ledger-fact": "agentfootprint.window.refused.ledger-fact",
    "inside-keep-window": "agentfootprint.window.refused.inside-keep-window",
    "only-existing-summary": "agentfootprint.window.refused.only-existing-summary",
    "summarizer-failed": "agentfootprint.window.refused.summarizer-failed",
    "replacement-not-smaller": "agentfootprint.window.refused.replacement-not-smaller",
}
WINDOW_REFUSAL: Final = "agentfootprint.window.refusal"
WINDOW_UNREACHED: Final = "agentfootprint.window.unreached"
WINDOW_OBSERVATIONS_PINNED: Final = "agentfootprint.window.observations.pinned"
WINDOW_OBSERVATIONS_YIELDED: Final = "agentfootprint.window.observations.yielded"
WINDOW_OBSERVATIONS_LIMIT: Final = "agentfootprint.window.observations.limit"
WINDOW_OBSERVATIONS_STAND_DOWN: Final = "agentfootprint.window.observations.stand_down"
WINDOW_LEDGER_FACTS_PINNED: Final = "agentfootprint.window.ledger_facts.pinned"
WINDOW_LEDGER_FACTS_YIELDED: Final = "agentfootprint.window.ledger_facts.yielded"
WINDOW_LEDGER_FACTS_LIMIT: Final = "agentfootprint.window.ledger_facts.limit"
WINDOW_LEDGER_FACTS_STAND_DOWN: Final = "agentfootprint.window.ledger_facts.stand_down"
WINDOW_KEEP_RECENT_TURNS: Final = "agentfootprint.window.keep_recent_turns"
WINDOW_TURNS_BEFORE: Final = "agentfootprint.window.turns_before"
WINDOW_TURNS_AFTER: Final = "agentfootprint.window.turns_after"
WINDOW_THRESHOLD_TOKENS: Final = "agentfootprint.window.threshold_tokens"
WINDOW_MEASURED_TOKENS: Final = "agentfootprint.window.measured_tokens"
WINDOW_SUMMARY_CHARS: Final = "agentfootprint.window.summary_chars"
WINDOW_SUMMARIZER_MODEL: Final = "agentfootprint.window.summarizer_model"
WINDOW_SUMMARIZER_INPUT_TOKENS: Final = "agentfootprint.window.summarizer_input_tokens"
WINDOW_SUMMARIZER_OUTPUT_TOKENS: Final = "agentfootprint.window.summarizer_output_tokens"
WINDOW_SUMMARIZER_SKIPPED: Final = "agentfootprint.window.summarizer_skipped"
WINDOW_RETAIN: Final = "agentfootprint.window.retain"
EVIDENCE_VERDICT: Final = "agentfootprint.evidence.verdict"
EVIDENCE_WORST_STATUS: Final = "agentfootprint.evidence.worst_status"
EVIDENCE_ACTION: Final = "agentfootprint.evidence.action"
EVIDENCE_POSTURE: Final = "agentfootprint.evidence.posture"
EVIDENCE_REASONS: Final = "agentfootprint.evidence.reasons"
EVIDENCE_REASON: Final = "agentfootprint.evidence.reason"
EVIDENCE_CANDIDATES: Final = "agentfootprint.evidence.candidates"
EVIDENCE_LOOKED_UP: Final = "agentfootprint.evidence.looked_up"
EVIDENCE_STATUS: Final[Mapping[str, str]] = {
    "said": "agentfootprint.evidence.status.said",
    "read": "agentfootprint.evidence.status.read",
    "respelled": "agentfootprint.evidence.status.respelled",
    "computed": "agentfootprint.evidence.status.computed",
    "evicted": "agentfootprint.evidence.status.evicted",
    "echoed": "agentfootprint.evidence.status.echoed",
    "argument_only": "agentfootprint.evidence.status.argument_only",
    "derivable": "agentfootprint.evidence.status.derivable",
    "unsupported": "agentfootprint.evidence.status.unsupported",
}
EVIDENCE_EARLIER_TURNS_ONLY: Final = "agentfootprint.evidence.earlier_turns_only"
EVIDENCE_MISPLACED: Final = "agentfootprint.evidence.misplaced"
EVIDENCE_TOOL_RESULTS_THIS_TURN: Final = "agentfootprint.evidence.tool_results_this_turn"
EVIDENCE_CHOICE: Final = "agentfootprint.evidence.choice"
EVIDENCE_CHOICES: Final = "agentfootprint.evidence.choices"
EVIDENCE_REVISION: Final = "agentfootprint.evidence.revision"
EVIDENCE_STREAM_UNHELD: Final = "agentfootprint.evidence.stream_unheld"
TOTALS_CALLS: Final = "agentfootprint.totals.calls"
TOTALS_ANSWERS: Final = "agentfootprint.totals.answers"
TOTALS_VERDICT: Final[Mapping[str, str]] = {
    "no_claims": "agentfootprint.totals.verdict.no_claims",
    "grounded": "agentfootprint.totals.verdict.grounded",
    "not_applicable": "agentfootprint.totals.verdict.not_applicable",
    "ungrounded": "agentfootprint.totals.verdict.ungrounded",
    "inconclusive": "agentfootprint.totals.verdict.inconclusive",
}
TOTALS_STATUS: Final[Mapping[str, str]] = {
    "said": "agentfootprint.totals.status.said",
    "read": "agentfootprint.totals.status.read",
    "respelled": "agentfootprint.totals.status.respelled",
    "computed": "agentfootprint.totals.status.computed",
    "evicted": "agentfootprint.totals.status.evicted",
    "echoed": "agentfootprint.totals.status.echoed",
    "argument_only": "agentfootprint.totals.status.argument_only",
    "derivable": "agentfootprint.totals.status.derivable",
    "unsupported": "agentfootprint.totals.status.unsupported",
}
TOTALS_ARGUMENT_STATUS: Final[Mapping[str, str]] = {
    "said": "agentfootprint.totals.argument_status.said",
    "read": "agentfootprint.totals.argument_status.read",
    "respelled": "agentfootprint.totals.argument_status.respelled",
    "computed": "agentfootprint.totals.argument_status.computed",
    "evicted": "agentfootprint.totals.argument_status.evicted",
    "echoed": "agentfootprint.totals.argument_status.echoed",
    "argument_only": "agentfootprint.totals.argument_status.argument_only",
    "derivable": "agentfootprint.totals.argument_status.derivable",
    "unsupported": "agentfootprint.totals.argument_status.unsupported",
}
TOTALS_WORST_VERDICT: Final = "agentfootprint.totals.worst_verdict"
TOTALS_WORST_STATUS: Final = "agentfootprint.totals.worst_status"
TOTALS_EVICTED: Final = "agentfootprint.totals.evicted"
TOTALS_REVISIONS: Final = "agentfootprint.totals.revisions"
LIMITS_EVENTS_DROPPED: Final = "agentfootprint.limits.events_dropped"
LIMITS_LINKS_DROPPED: Final = "agentfootprint.limits.links_dropped"
LIMITS_TEXTS_CUT: Final = "agentfootprint.limits.texts_cut"
LIMITS_ITEMS_OMITTED: Final = "agentfootprint.limits.items_omitted"
EVICTION_SLOT: Final = "agentfootprint.eviction.slot"
EVICTION_CONTENT_HASH: Final = "agentfootprint.eviction.content_hash"
EVICTION_REASON: Final = "agentfootprint.eviction.reason"
EVICTION_DECIDED_BY: Final = "agentfootprint.eviction.decided_by"
EVICTION_SURVIVAL_MS: Final = "agentfootprint.eviction.survival_ms"
EVICTION_ITERATIONS_SURVIVED: Final = "agentfootprint.eviction.iterations_survived"
EVICTION_ROLE: Final = "agentfootprint.eviction.role"
EVICTION_TOOL: Final = "agentfootprint.eviction.tool"
EVICTION_TOOL_CALL_ID: Final = "agentfootprint.eviction.tool_call_id"
EVICTION_RESULT_REF: Final = "agentfootprint.eviction.result_ref"
EVICTION_INDEX: Final = "agentfootprint.eviction.index"
EVICTION_CHARS: Final = "agentfootprint.eviction.chars"
EVICTION_BORN_TRACE_ID: Final = "agentfootprint.eviction.born_trace_id"
EVICTION_BORN_SPAN_ID: Final = "agentfootprint.eviction.born_span_id"
REWRITE_SLOT: Final = "agentfootprint.rewrite.slot"
REWRITE_CONTENT_HASH: Final = "agentfootprint.rewrite.content_hash"
REWRITE_ROLE: Final = "agentfootprint.rewrite.role"
REWRITE_TOOL: Final = "agentfootprint.rewrite.tool"
REWRITE_TOOL_CALL_ID: Final = "agentfootprint.rewrite.tool_call_id"
REWRITE_INDEX: Final = "agentfootprint.rewrite.index"
REWRITE_CHARS_BEFORE: Final = "agentfootprint.rewrite.chars_before"
REWRITE_CHARS_AFTER: Final = "agentfootprint.rewrite.chars_after"
REFUSAL_REASON: Final = "agentfootprint.refusal.reason"
REFUSAL_TURN_INDEX: Final = "agentfootprint.refusal.turn_index"
REFUSAL_MESSAGE_INDEX: Final = "agentfootprint.refusal.message_index"
REFUSAL_TOOL: Final = "agentfootprint.refusal.tool"
REFUSAL_TOOL_CALL_IDS: Final = "agentfootprint.refusal.tool_call_ids"
REFUSAL_CHARS: Final = "agentfootprint.refusal.chars"
BUDGET_SLOT: Final = "agentfootprint.budget.slot"
BUDGET_CAP: Final = "agentfootprint.budget.cap"
BUDGET_PROJECTED: Final = "agentfootprint.budget.projected"
BUDGET_OVERFLOW_BY: Final = "agentfootprint.budget.overflow_by"
BUDGET_PLAN_ACTION: Final = "agentfootprint.budget.plan_action"
BUDGET_UNIT: Final = "agentfootprint.budget.unit"
VALUE_INDEX: Final = "agentfootprint.value.index"
VALUE_SHAPE: Final = "agentfootprint.value.shape"
VALUE_STATUS: Final = "agentfootprint.value.status"
VALUE_FLAGGED: Final = "agentfootprint.value.flagged"
VALUE_OCCURRENCES: Final = "agentfootprint.value.occurrences"
VALUE_DERIVATION: Final = "agentfootprint.value.derivation"
VALUE_TOOL: Final = "agentfootprint.value.tool"
VALUE_TOOL_CALL_IDS: Final = "agentfootprint.value.tool_call_ids"
VALUE_TOOL_CALL_IDS_OMITTED: Final = "agentfootprint.value.tool_call_ids_omitted"
VALUE_CARRIERS_CUT: Final = "agentfootprint.value.carriers_cut"
VALUE_TURN: Final = "agentfootprint.value.turn"
VALUE_EVICTED_DECISION: Final = "agentfootprint.value.evicted_decision"
VALUE_EVICTED_DECIDED_BY: Final = "agentfootprint.value.evicted_decided_by"
VALUE_EVICTED_TOOL: Final = "agentfootprint.value.evicted_tool"
VALUE_EVICTED_TOOL_CALL_ID: Final = "agentfootprint.value.evicted_tool_call_id"
VALUE_MISPLACED: Final = "agentfootprint.value.misplaced"
VALUE_TEXT: Final = "agentfootprint.value.text"
ARGUMENTS_CANDIDATES: Final = "agentfootprint.arguments.candidates"
ARGUMENTS_UNACCOUNTED: Final = "agentfootprint.arguments.unaccounted"
ARGUMENTS_WORST_STATUS: Final = "agentfootprint.arguments.worst_status"
ARGUMENTS_STATUS: Final[Mapping[str, str]] = {
    "said": "agentfootprint.arguments.status.said",
    "read": "agentfootprint.arguments.status.read",
    "respelled": "agentfootprint.arguments.status.respelled",
    "computed": "agentfootprint.arguments.status.computed",
    "evicted": "agentfootprint.arguments.status.evicted",
    "echoed": "agentfootprint.arguments.status.echoed",
    "argument_only": "agentfootprint.arguments.status.argument_only",
    "derivable": "agentfootprint.arguments.status.derivable",
    "unsupported": "agentfootprint.arguments.status.unsupported",
}
ARGUMENTS_REASONS: Final = "agentfootprint.arguments.reasons"
ARGUMENT_TOOL: Final = "agentfootprint.argument.tool"
ARGUMENT_TOOL_CALL_ID: Final = "agentfootprint.argument.tool_call_id"
ARGUMENT_NAME: Final = "agentfootprint.argument.name"
ARGUMENT_PATH: Final = "agentfootprint.argument.path"
ARGUMENT_UNACCOUNTED: Final = "agentfootprint.argument.unaccounted"
FINDINGS_DECLARED: Final = "agentfootprint.findings.declared"
FINDINGS_MALFORMED: Final = "agentfootprint.findings.malformed"
FINDINGS_CONFLICTS: Final = "agentfootprint.findings.conflicts"
FINDINGS_CONTINGENT: Final = "agentfootprint.findings.contingent"
FINDINGS_UNSETTLED: Final = "agentfootprint.findings.unsettled"
FINDINGS_UNDECORATED: Final = "agentfootprint.findings.undecorated"
FINDINGS_UNDECORATED_TOOLS: Final = "agentfootprint.findings.undecorated_tools"
FINDINGS_UNDECORATED_TOOLS_OMITTED: Final = "agentfootprint.findings.undecorated_tools_omitted"
FINDING_TOOL: Final = "agentfootprint.finding.tool"
FINDING_TOOL_CALL_ID: Final = "agentfootprint.finding.tool_call_id"
FINDING_TOOL_CALL_IDS: Final = "agentfootprint.finding.tool_call_ids"
FINDING_TOOL_CALL_IDS_OMITTED: Final = "agentfootprint.finding.tool_call_ids_omitted"
FINDING_BASIS: Final = "agentfootprint.finding.basis"
FINDING_EXPECT: Final = "agentfootprint.finding.expect"
FINDING_STANDING: Final = "agentfootprint.finding.standing"
FINDING_DECLARED_BY: Final = "agentfootprint.finding.declared_by"
FINDING_UNKNOWN_ID: Final = "agentfootprint.finding.unknown_id"
FINDING_ID_HASH: Final = "agentfootprint.finding.id_hash"
FINDING_UNSETTLED: Final = "agentfootprint.finding.unsettled"
FINDING_ASSERTIONS: Final = "agentfootprint.finding.assertions"
FINDING_TEXT_CUT: Final = "agentfootprint.finding.text_cut"
FINDING_KEY_HASH: Final = "agentfootprint.finding.key_hash"
FINDING_MOMENT: Final = "agentfootprint.finding.moment"
FINDING_PROPOSITION: Final = "agentfootprint.finding.proposition"
FINDING_PREDICTS: Final = "agentfootprint.finding.predicts"
FINDING_SOUGHT: Final = "agentfootprint.finding.sought"
FINDING_SETTLES: Final = "agentfootprint.finding.settles"
FINDING_LINE: Final = "agentfootprint.finding.line"
FINDING_UNKNOWN_REF: Final = "agentfootprint.finding.unknown_ref"
FINDING_SUBJECT: Final = "agentfootprint.finding.subject"
FINDING_PREDICATE: Final = "agentfootprint.finding.predicate"
FINDING_ASSERTED: Final = "agentfootprint.finding.asserted"
FINDING_ASSERTED_OMITTED: Final = "agentfootprint.finding.asserted_omitted"
ABSENCE_KIND: Final = "agentfootprint.absence.kind"
ABSENCE_TOOL: Final = "agentfootprint.absence.tool"
ABSENCE_TOOL_CALL_ID: Final = "agentfootprint.absence.tool_call_id"
ABSENCE_GAPS: Final = "agentfootprint.absence.gaps"
STEPS_SKILL_ID: Final = "agentfootprint.steps.skill_id"
STEPS_TOTAL: Final = "agentfootprint.steps.total"
STEPS_REMAINING: Final = "agentfootprint.steps.remaining"
STEPS_REMAINING_TOOLS: Final = "agentfootprint.steps.remaining_tools"
STEPS_REMAINING_TOOLS_OMITTED: Final = "agentfootprint.steps.remaining_tools_omitted"
STEPS_ACTION: Final = "agentfootprint.steps.action"
SCRIPT_BLOCK: Final = "agentfootprint.script.block"
SCRIPT_LABEL: Final = "agentfootprint.script.label"
SCRIPT_REASON: Final = "agentfootprint.script.reason"
SCRIPT_TOOL: Final = "agentfootprint.script.tool"
SCRIPT_TOOL_CALL_ID: Final = "agentfootprint.script.tool_call_id"
SCRIPT_DISPATCH: Final = "agentfootprint.script.dispatch"
SCRIPT_EXIT_CODE: Final = "agentfootprint.script.exit_code"
ANSWER_ASSESSMENT: Final = "agentfootprint.answer.assessment"
ANSWER_STANDING: Final = "agentfootprint.answer.standing"
ANSWER_REASONS: Final = "agentfootprint.answer.reasons"
ANSWER_REASON: Final = "agentfootprint.answer.reason"
ANSWER_CHECKED: Final = "agentfootprint.answer.checked"
ANSWER_CHECKED_OMITTED: Final = "agentfootprint.answer.checked_omitted"
ANSWER_SCRIPTS: Final[Mapping[str, str]] = {
    "submitted": "agentfootprint.answer.scripts.submitted",
    "ran": "agentfootprint.answer.scripts.ran",
    "failed": "agentfootprint.answer.scripts.failed",
    "unmatched": "agentfootprint.answer.scripts.unmatched",
}
TOTALS_STANDING: Final[Mapping[str, str]] = {
    "ask": "agentfootprint.totals.standing.ask",
    "not-sure": "agentfootprint.totals.standing.not-sure",
    "known": "agentfootprint.totals.standing.known",
    "consistent": "agentfootprint.totals.standing.consistent",
    "not-assessed": "agentfootprint.totals.standing.not-assessed",
}
WITNESS_KIND: Final = "agentfootprint.witness.kind"
WITNESS_CHECK: Final = "agentfootprint.witness.check"
WITNESS_OK: Final = "agentfootprint.witness.ok"
WITNESS_EXACT: Final = "agentfootprint.witness.exact"
WITNESS_REASON: Final = "agentfootprint.witness.reason"
LINK_KIND: Final = "agentfootprint.link.kind"
LINK_TOOL: Final = "agentfootprint.link.tool"
LINK_TOOL_CALL_ID: Final = "agentfootprint.link.tool_call_id"
LINK_VALUES: Final = "agentfootprint.link.values"
GEN_AI_CONVERSATION_COMPACTED: Final = "gen_ai.conversation.compacted"
GEN_AI_EVALUATION_NAME: Final = "gen_ai.evaluation.name"
GEN_AI_EVALUATION_SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
GEN_AI_EVALUATION_SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
GEN_AI_EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
GEN_AI_RESPONSE_ID: Final = "gen_ai.response.id"

# Attributes of others' spans, read and never written.
GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
GEN_AI_CONVERSATION_ID: Final = "gen_ai.conversation.id"

# Events.
EVENT_CONTEXT_EVICTED: Final = "agentfootprint.context.evicted"
EVENT_CONTEXT_REFUSED: Final = "agentfootprint.context.refused"
EVENT_CONTEXT_BUDGET_PRESSURE: Final = "agentfootprint.context.budget_pressure"
EVENT_CONTEXT_REWRITTEN: Final = "agentfootprint.context.rewritten"
EVENT_AGENT_EVIDENCE_CHECKED: Final = "agentfootprint.agent.evidence_checked"
EVENT_EVIDENCE_VALUE: Final = "agentfootprint.evidence.value"
EVENT_ARGUMENT_VALUE: Final = "agentfootprint.argument.value"
EVENT_TOOLS_ABSENT: Final = "agentfootprint.tools.absent"
EVENT_FINDINGS_DECLARED: Final = "agentfootprint.findings.declared"
EVENT_FINDINGS_STANDING: Final = "agentfootprint.findings.standing"
EVENT_FINDINGS_CONFLICT: Final = "agentfootprint.findings.conflict"
EVENT_FINDINGS_CONTINGENT: Final = "agentfootprint.findings.contingent"
EVENT_SKILL_STEPS_UNFINISHED: Final = "agentfootprint.skill.steps_unfinished"
EVENT_ANSWER_SCRIPT_SHOWN: Final = "agentfootprint.answer.script_shown"
EVENT_ANSWER_WITNESS: Final = "agentfootprint.answer.witness"
EVENT_GEN_AI_EVALUATION_RESULT: Final = "gen_ai.evaluation.result"

# Which events are kept when there are more than a span takes: 1 first.
IMPORTANCE: Final[Mapping[str, int]] = {
    EVENT_CONTEXT_EVICTED: 4,
    EVENT_CONTEXT_REFUSED: 4,
    EVENT_CONTEXT_BUDGET_PRESSURE: 1,
    EVENT_CONTEXT_REWRITTEN: 5,
    EVENT_AGENT_EVIDENCE_CHECKED: 1,
    EVENT_EVIDENCE_VALUE: 3,
    EVENT_ARGUMENT_VALUE: 5,
    EVENT_TOOLS_ABSENT: 5,
    EVENT_FINDINGS_DECLARED: 6,
    EVENT_FINDINGS_STANDING: 6,
    EVENT_FINDINGS_CONFLICT: 4,
    EVENT_FINDINGS_CONTINGENT: 5,
    EVENT_SKILL_STEPS_UNFINISHED: 5,
    EVENT_ANSWER_SCRIPT_SHOWN: 5,
    EVENT_ANSWER_WITNESS: 5,
    EVENT_GEN_AI_EVALUATION_RESULT: 2,
}
IMPORTANCE_UNFLAGGED: Final = 6

# Labels of metrics.
LABEL_VERDICT: Final = "verdict"
LABEL_WORST_STATUS: Final = "worst_status"
LABEL_POSTURE: Final = "posture"
LABEL_MODEL: Final = "model"
LABEL_AGENT: Final = "agent"
LABEL_STATUS: Final = "status"
LABEL_SHAPE: Final = "shape"
LABEL_DECIDED_BY: Final = "decided_by"
LABEL_REASON: Final = "reason"
LABEL_STANDING: Final = "standing"
LABEL_STRATEGY: Final = "strategy"
LABEL_OUTCOME: Final = "outcome"
LABEL_TOOL: Final = "tool"
LABEL_PLACE: Final = "place"

# Metrics.
METRIC_ANSWERS: Final = Metric(
    name="agentfootprint.answers",
    unit="{answer}",
    brief="Answers judged, each choice counted. A draft that was sent back to be revised is none, unless its revision failed.",
)
METRIC_EVIDENCE_VALUES: Final = Metric(
    name="agentfootprint.evidence.values",
    unit="{value}",
    brief="Values that answers state.",
)
METRIC_EVIDENCE_MISPLACED: Final = Metric(
    name="agentfootprint.evidence.misplaced",
    unit="{place}",
    brief="Places at which a value of an answer stands beside the name of another row than those that carry it. Advice.",
)
METRIC_EVIDENCE_REVISIONS: Final = Metric(
    name="agentfootprint.evidence.revisions",
    unit="{revision}",
    brief="Answers that were sent back to be revised, by what came of it.",
)
METRIC_ARGUMENTS_VALUES: Final = Metric(
    name="agentfootprint.arguments.values",
    unit="{value}",
    brief="Values that emitted tool calls pass on, by the tool that is called.",
)
METRIC_FINDINGS: Final = Metric(
    name="agentfootprint.findings",
    unit="{declaration}",
    brief="Results declared to be something, by the model or by the application.",
)
METRIC_ANSWER_STANDING: Final = Metric(
    name="agentfootprint.answer.standing",
    unit="{answer}",
    brief="Answers by how far they stand, each choice counted, where findings are on; one inside `conversation()` when nothing more is said of it: at the next answer, or at its end.",
)
METRIC_ANSWER_REASONS: Final = Metric(
    name="agentfootprint.answer.reasons",
    unit="{answer}",
    brief="Answers that do not stand on their own, by each reason; counted when the standing is.",
)
METRIC_EVIDENCE_DURATION: Final = Metric(
    name="agentfootprint.evidence.duration",
    unit="s",
    brief="Time it took to decide about a call that gave an answer, which is time the call took longer.",
    buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0),
)
METRIC_WINDOW_EVICTIONS: Final = Metric(
    name="agentfootprint.window.evictions",
    unit="{message}",
    brief="Messages that left a window.",
)
METRIC_WINDOW_VISITS: Final = Metric(
    name="agentfootprint.window.visits",
    unit="{visit}",
    brief="Visits of a window strategy that engaged, by what came of them.",
)
METRIC_WINDOW_REFUSALS: Final = Metric(
    name="agentfootprint.window.refusals",
    unit="{refusal}",
    brief="Refusals to leave a window, each turn counted at each visit.",
)
METRIC_WINDOW_SURVIVAL: Final = Metric(
    name="agentfootprint.window.survival",
    unit="s",
    brief="How long a message was in the window before it left; those whose birth is unknown are not in it.",
    buckets=(1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0),
)
METRIC_WINDOW_CHARS: Final = Metric(
    name="agentfootprint.window.chars",
    unit="{character}",
    brief="Characters in the window of a call, without the system instruction.",
    buckets=(1000.0, 3000.0, 10000.0, 30000.0, 100000.0, 300000.0, 1000000.0, 3000000.0, 10000000.0),
)
METRIC_CONVERSATIONS_DROPPED: Final = Metric(
    name="agentfootprint.conversations.dropped",
    unit="{conversation}",
    brief="Conversations that the bounds of the store pushed out; what comes of them later begins anew.",
)
METRIC_ERRORS: Final = Metric(
    name="agentfootprint.errors",
    unit="{error}",
    brief="Faults of our own that were swallowed; the application never sees them.",
)
