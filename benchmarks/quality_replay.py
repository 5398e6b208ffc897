"""Replay recorded conversations through the evidence check, message by message, as it would have seen them at run time."""

from __future__ import annotations

import ast
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from otel_footprint.core.evidence.corpus import Corpus  # noqa: E402
from otel_footprint.core.evidence.options import Evidence  # noqa: E402
from otel_footprint.core.evidence.verdicts import Judgement  # noqa: E402
from otel_footprint.core.messages import ToolCall, ToolResult  # noqa: E402

DATA = Path(os.environ.get("OTEL_FOOTPRINT_SHARED_DATA", ROOT.parent / "shared" / "data"))
CORPORA = {
    "tau_airline": "tau_airline/conversations.jsonl",
    "tau_retail": "tau_retail/conversations.jsonl",
    "tau2_airline": "tau2/airline.jsonl",
    "tau2_retail": "tau2/retail.jsonl",
    "tau_assertions": "tau_assertions/conversations.jsonl",
}
"""Conversations of agents. An answer of theirs is meant to be right, and mostly is."""
EXAMPLES = {"d2t": "d2t/examples.dev.jsonl", "rotowire": "rotowire/examples.dev.jsonl"}
"""One text about one tool result each, with the errors that people marked."""


@dataclass(frozen=True)
class Answer:
    """One judged answer and everything that stood before it.

    ``messages[:index]`` is the conversation before it; ``corpus`` is the evidence as it stood before judging; ``seconds``
    is what judging took.
    """

    conversation: str
    index: int
    text: str
    messages: list[dict]
    said: tuple[str, ...]
    results: tuple[str, ...]
    everything: str
    corpus: Corpus
    turn: int
    judgement: Judgement
    seconds: float

    def changed(self, text: str) -> Answer:
        """The same place with another answer, not judged yet."""
        return replace(self, text=text)

    def judge(self) -> Judgement:
        """Judge the text again, with the evidence as it stood."""
        return self.corpus.fork().judge(self.text, turn=self.turn, tools_offered=True)


def arguments_of(spelled: object) -> object:
    """Arguments as the providers give them: JSON text, a Python literal, or an object."""
    if not isinstance(spelled, str):
        return spelled
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(spelled)
        except (ValueError, SyntaxError):
            continue
    return spelled


def replay(messages: list[dict], name: str) -> Iterator[Answer]:
    """Feed one conversation through a corpus, judging every answer as it comes."""
    corpus = Corpus(Evidence())
    turn = results_seen = 0
    open_calls: list[str] = []
    seen: Counter[str] = Counter()
    said: list[str] = []
    results: list[str] = []
    everything: list[str] = []
    for index, message in enumerate(messages):
        role, content = message["role"], message.get("content") or ""
        everything.append(content)
        if role in ("user", "system"):
            turn += role == "user"
            said.append(content)
            corpus.say(content)
        elif role == "assistant":
            calls = message.get("tool_calls") or []
            if not calls and content:
                before = corpus.fork()
                start = time.perf_counter()
                judgement = corpus.judge(content, turn=turn, tools_offered=True)
                seconds = time.perf_counter() - start
                whole = "\n".join(everything)
                yield Answer(
                    name, index, content, messages, tuple(said), tuple(results), whole, before, turn, judgement, seconds
                )
            open_calls = []
            for place, call in enumerate(calls):
                id_ = call.get("id") or f"call:{index}:{place}"
                seen[id_] += 1
                ref = id_ if seen[id_] == 1 else f"{id_}#{seen[id_]}"
                open_calls.append(ref)
                arguments = arguments_of(call["function"]["arguments"])
                everything.append(json.dumps(arguments, ensure_ascii=False))
                corpus.call(ToolCall(id_, call["function"]["name"], arguments), ref=ref, turn=turn, position=index)
        elif role == "tool":
            results_seen += 1
            results.append(content)
            wanted = message.get("tool_call_id")
            ref = next((one for one in open_calls if wanted is None or one.split("#")[0] == wanted), None)
            if ref is not None:
                open_calls.remove(ref)
            corpus.result(
                ToolResult(wanted, message.get("name"), content),
                ref=ref or f"result:{results_seen}",
                tool=message.get("name"),
                turn=turn,
                served=None,
                position=index,
            )


def example_answer(name: str, source: object, text: str) -> Answer:
    """A text about one tool result, as the only answer of a conversation."""
    given = source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
    call = {"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Write about it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": "get", "content": given},
        {"role": "assistant", "content": text},
    ]
    (answer,) = replay(messages, name)
    return answer


def examples(path: Path) -> Iterator[dict]:
    """The lines of a file of examples."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def answers_of(name: str, data: Path) -> list[Answer]:
    """All answers of one corpus."""
    if name in CORPORA:
        conversations = enumerate(examples(data / CORPORA[name]))
        return [answer for number, one in conversations for answer in replay(one["messages"], str(number))]
    field = "answer_detokenized" if name == "rotowire" else "answer"
    return [example_answer(one["id"], one["source"], one[field]) for one in examples(data / EXAMPLES[name])]
