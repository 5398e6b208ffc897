"""Why a value has its status, in one clause for people."""

from __future__ import annotations

from typing import Final

from otel_footprint.offline.document import ArgumentDocument, ValueDocument

_WHY: Final[dict[str, str]] = {
    "said": "the person or the application supplied it",
    "read": "a tool result carries it",
    "respelled": "a tool result carries it in another spelling",
    "computed": "worked out from values that were read",
    "evicted": "the tool result that carried it had left the window",
    "echoed": "only the model's own tool arguments carry it, and those calls succeeded",
    "argument_only": "only the model's own tool arguments carry it",
    "derivable": "arithmetic reaches it, but it would reach many a wrong number too",
    "unsupported": "no tool result carries it and nobody said it",
}


def why(value: ValueDocument | ArgumentDocument) -> str:
    """``unsupported: no tool result carries it and nobody said it``."""
    status = value["status"]
    text = f"{status}: {_WHY.get(status, 'a status this version does not know')}"
    evicted = value["evicted_by"]
    if evicted is not None:
        tool = evicted["tool"] or "a tool"
        call = f" ({evicted['tool_call_id']})" if evicted["tool_call_id"] else ""
        text += f" — {tool}{call}, {evicted['decision']} by {evicted['decided_by']}"
    derivation = value["derivation"]
    if derivation is not None:
        inputs = f" of {', '.join(derivation['inputs'])}" if derivation["inputs"] else ""
        text += f" — {derivation['name']}{inputs}"
    return text
