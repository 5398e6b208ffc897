"""Requests that real providers took: the validators take them, and so they do with turns taken out of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from surface_agent import SURFACES, check_written

from otel_footprint import SlidingWindow
from otel_footprint.core.planner import Planner, PlanRequest
from otel_footprint.core.window.items import Kept
from otel_footprint.testing.wire_rules import problems

PATHS = {
    "/chat/completions": "openai.chat",
    "/responses": "openai.responses",
    "/messages": "anthropic.messages",
    ":generateContent": "gemini.generate_content",
    ":streamGenerateContent": "gemini.generate_content",
    "/converse": "bedrock.converse",
    "/converse-stream": "bedrock.converse",
}


@pytest.fixture(scope="module")
def requests(shared_data: Path) -> list[tuple[str, dict[str, Any]]]:
    """API and body of each recorded request that was answered."""
    found: list[tuple[str, dict[str, Any]]] = []
    with (shared_data / "cassettes" / "normalised.jsonl").open() as lines:
        for line in lines:
            for call in json.loads(line)["calls"]:
                path = urlsplit(call["uri"]).path
                api = next((api for end, api in PATHS.items() if path.endswith(end)), None)
                body = json.loads(call["request"]) if isinstance(call["request"], str) else call["request"]
                if api is not None and isinstance(body, dict) and call["status"] == 200:
                    found.append((api, {"model": path.rpartition("/")[2], **body} if api.startswith("g") else body))
    return found


def arguments(api: str, body: dict[str, Any]) -> dict[str, Any]:
    """The recorded body as the SDK's arguments."""
    if api == "gemini.generate_content":
        config = {"system_instruction": body.get("systemInstruction"), "tools": body.get("tools")}
        return {"model": body["model"], "contents": body["contents"], "config": config}
    return dict(body)


def test_the_validators_take_what_the_providers_took(requests: list[tuple[str, dict[str, Any]]]) -> None:
    refused = [(api, found) for api, body in requests if (found := problems(api, body))]  # type: ignore[arg-type]
    assert refused == []
    assert Counter(api for api, _ in requests).keys() == {api for api in SURFACES if " " not in api}
    assert len(requests) > 200


@pytest.mark.parametrize("keep", [1, 2])
def test_what_is_left_of_a_recorded_request_is_taken_too(requests: list[tuple[str, dict[str, Any]]], keep: int) -> None:
    removed: Counter[str] = Counter()
    for api, body in requests:
        kwargs = arguments(api, body)
        reading = SURFACES[api].read(kwargs)
        assert reading is not None
        request = PlanRequest(
            messages=reading.messages, system=reading.system, now=1.0, server_held=reading.server_held
        )
        planner = Planner(new_id=lambda: "run")
        strategy = SlidingWindow(keep)
        visit = planner.begin(request, strategy=strategy, keep_last_tool_results=0)
        planned = planner.commit(visit, None if visit.input is None else strategy.plan(visit.input))
        lenient = bool(problems(api, body, strict=True))  # type: ignore[arg-type]
        check_written(api, kwargs, reading, planned.items, strict=not lenient)
        removed[api] += len(reading.natives) - sum(isinstance(item, Kept) for item in planned.items)
    assert all(removed[api] for api in SURFACES if " " not in api), removed


def test_a_whole_window_is_the_callers_own_list(requests: list[tuple[str, dict[str, Any]]]) -> None:
    for api, body in requests:
        kwargs = arguments(api, body)
        reading = SURFACES[api].read(kwargs)
        assert reading is not None
        written = SURFACES[api].write(kwargs, reading, [Kept(index) for index in range(len(reading.natives))])
        assert all(written[name] is kwargs[name] for name in kwargs)
