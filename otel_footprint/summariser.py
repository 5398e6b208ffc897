"""A provider's client as the summariser of ``SummarizeOldest``: one request, one attempt.

Rules
-----
- The client is the application's, plain or asynchronous; it is used as it is and never changed. What is asked for is one
  user message, with no tools and no earlier messages.
- One attempt: the SDK is told not to retry where a single request can be told so. A Bedrock client retries as its own
  configuration says (``Config(retries={"total_max_attempts": 1})`` for none).
- Tokens are those that the provider reports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.window.summary import Summary

_MAX_TOKENS: Final = 4096
"""Of a summary; Anthropic's API has no default."""


@dataclass(frozen=True, slots=True, eq=False)
class ClientSummariser:
    """Asks ``client`` for a summary. Two are equal when they ask the same client object for the same model."""

    provider: str
    client: Any
    model: str
    ask: Callable[[Any, str, str], Any]
    read: Callable[[Any], Summary]

    def __call__(self, prompt: str) -> Any:
        """The summary, or an awaitable of it. Raises what the SDK raises."""
        response = self.ask(self.client, self.model, prompt)
        return self._awaited(response) if inspect.isawaitable(response) else self.read(response)

    async def _awaited(self, response: Any) -> Summary:
        return self.read(await response)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClientSummariser) and (self.client is other.client and self.model == other.model)

    def __hash__(self) -> int:
        return hash((id(self.client), self.model))


def summariser_of(client: object, model: str) -> ClientSummariser:
    """The function that asks this client. Raises :class:`ConfigurationError` for what is no client that we know."""
    for provider, path, ask, read in _KINDS:
        if callable(_at(client, path)):
            return ClientSummariser(provider, client, model, ask, read)
    raise ConfigurationError(
        f"SummarizeOldest: summarizer={type(client).__name__} is neither a function nor a client of OpenAI, Anthropic, Google "
        "GenAI or Bedrock; give a function that takes the prompt and returns the text"
    )


def _at(thing: object, path: Iterable[str]) -> object:
    for name in path:
        thing = getattr(thing, name, None)
    return thing


def _ask_openai(client: Any, model: str, prompt: str) -> Any:
    once = client.with_options(max_retries=0)
    return once.chat.completions.create(model=model, messages=[{"role": "user", "content": prompt}])


def _read_openai(response: Any) -> Summary:
    usage = response.usage
    return Summary(
        response.choices[0].message.content or "",
        usage.prompt_tokens if usage is not None else None,
        usage.completion_tokens if usage is not None else None,
    )


def _ask_anthropic(client: Any, model: str, prompt: str) -> Any:
    once = client.with_options(max_retries=0)
    return once.messages.create(model=model, max_tokens=_MAX_TOKENS, messages=[{"role": "user", "content": prompt}])


def _read_anthropic(response: Any) -> Summary:
    text = "".join(block.text for block in response.content if block.type == "text")
    return Summary(text, response.usage.input_tokens, response.usage.output_tokens)


def _ask_gemini(client: Any, model: str, prompt: str) -> Any:
    once = {"http_options": {"retry_options": {"attempts": 1}}}
    return client.models.generate_content(model=model, contents=prompt, config=once)


def _read_gemini(response: Any) -> Summary:
    usage = response.usage_metadata
    return Summary(
        response.text or "",
        usage.prompt_token_count if usage is not None else None,
        usage.candidates_token_count if usage is not None else None,
    )


def _ask_bedrock(client: Any, model: str, prompt: str) -> Any:
    return client.converse(modelId=model, messages=[{"role": "user", "content": [{"text": prompt}]}])


def _read_bedrock(response: Mapping[str, Any]) -> Summary:
    text = "".join(block.get("text", "") for block in response["output"]["message"]["content"])
    usage = response.get("usage") or {}
    return Summary(text, usage.get("inputTokens"), usage.get("outputTokens"))


_KINDS: Final = (
    ("openai", ("chat", "completions", "create"), _ask_openai, _read_openai),
    ("anthropic", ("messages", "create"), _ask_anthropic, _read_anthropic),
    ("gcp.gemini", ("models", "generate_content"), _ask_gemini, _read_gemini),
    ("aws.bedrock", ("converse",), _ask_bedrock, _read_bedrock),
)
"""The clients we know: the provider's name, the method that tells the client, how it is asked, how it answers."""
