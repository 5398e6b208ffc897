"""What a provider's API refuses in a request's history, as sentences: ``problems("anthropic.messages", body) == []``.

They are the rules on pairing, order, roles and empty content that decide between an answer and an error of status 400. The
body is that of the HTTP request, decoded from JSON; of Bedrock, also the parameters of the operation.

Rules
-----
- A validator never refuses what the provider takes: where an API is lenient, or models differ, the lenient reading holds,
  unless ``strict`` asks for what every model takes.
- Nothing is checked but the history: no names of models, no tools, no limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from otel_footprint.testing import wire_rules_anthropic, wire_rules_bedrock, wire_rules_gemini, wire_rules_openai

Api: TypeAlias = Literal[
    "openai.chat", "openai.responses", "anthropic.messages", "gemini.generate_content", "bedrock.converse"
]

_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any], bool], list[str]]]] = {
    "openai.chat": wire_rules_openai.chat_problems,
    "openai.responses": wire_rules_openai.responses_problems,
    "anthropic.messages": wire_rules_anthropic.problems,
    "gemini.generate_content": wire_rules_gemini.problems,
    "bedrock.converse": wire_rules_bedrock.problems,
}


def problems(api: Api, body: Mapping[str, Any], *, strict: bool = False) -> list[str]:
    """Every rule that the request's history breaks, in order; empty for one that the provider takes.

    Args:
        api: which API; the names of the surfaces.
        body: the decoded request.
        strict: also the rules that only some models of the API hold to.

    Raises:
        KeyError: no such API.
    """
    return _CHECKS[api](body, strict)
