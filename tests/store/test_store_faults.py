"""A store that is gone, slow, or holds something else costs the application nothing but what it may cost, and is counted."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from redis_server import RedisServer, SlowWay

import otel_footprint
from otel_footprint import ConfigurationError, runtime
from otel_footprint.core.state.breaker import FAILURES
from otel_footprint.testing.provider import ScriptedProvider, Text
from otel_footprint.testing.sink import Sink

redis = pytest.importorskip("redis", reason="the Redis client is not installed")
SYSTEM = {"role": "system", "content": "Answer shortly."}
Faults = Callable[[], dict[str, int]]
Shared = Callable[..., Sink]


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider([Text("Yes, 4711.50.")], repeat=True) as provider:
        yield provider


class App:
    """An application with one conversation."""

    def __init__(self, provider: ScriptedProvider, id: str | None = "order-1") -> None:
        self.client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        self.id, self.history = id, [SYSTEM]

    def ask(self, stream: bool = False) -> Any:
        self.history.append({"role": "user", "content": f"Question {len(self.history)}?"})
        with otel_footprint.conversation(self.id) as conversation:
            answer = self.client.chat.completions.create(model="m", messages=self.history, stream=stream)
            text = (
                "".join(c.choices[0].delta.content or "" for c in answer if c.choices)
                if stream
                else answer.choices[0].message.content
            )
            assert text == "Yes, 4711.50."
        self.history.append({"role": "assistant", "content": text})
        return conversation.decisions[-1]


def errors(sink: Sink) -> set[str]:
    """The places of the counted errors."""
    return {str(point.attributes.get("place")) for point in sink.metrics("agentfootprint.errors") if point.value}


def kept(server: RedisServer) -> dict[str, Any]:
    """What the server has, by key."""
    client = redis.Redis.from_url(server.url)
    return {key.decode(): json.loads(client.hget(key, "document")) for key in client.scan_iter()}


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_only_conversations_with_an_id_are_kept_and_without_text(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, faults: Faults
) -> None:
    shared(store=redis_server.url + "?wait_ms=20000&ttl=100&prefix=shop")
    App(provider).ask()
    App(provider, None).ask()
    App(provider).client.chat.completions.create(model="m", messages=[SYSTEM])  # type: ignore[list-item]
    assert list(kept(redis_server)) == ["shop:conversation:order-1"]
    text = json.dumps(kept(redis_server))
    assert "4711" not in text
    assert "Question" not in text
    assert 0 < redis.Redis.from_url(redis_server.url).ttl("shop:conversation:order-1") <= 100
    assert faults() == {}


def test_with_text_it_is_there(redis_server: RedisServer, shared: Shared, provider: ScriptedProvider) -> None:
    shared(store=redis_server.url + "?wait_ms=20000&text=1")
    App(provider).ask()
    assert "4711" in json.dumps(kept(redis_server))


def test_a_stream_is_kept_once_it_has_ended(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, faults: Faults
) -> None:
    shared(store=redis_server.url + "?wait_ms=20000")
    app = App(provider)
    assert app.ask(stream=True).turn == 1
    until(lambda: bool(kept(redis_server)))
    assert app.ask(stream=True).turn == 2
    until(lambda: kept(redis_server)["otel-footprint:conversation:order-1"]["session"]["threads"][0]["calls"] == 2)
    assert faults() == {}


async def test_an_asynchronous_client_reads_and_writes_too(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, faults: Faults
) -> None:
    client = openai.AsyncOpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
    turns = []
    history: list[Any] = []
    for _ in range(3):  # each in a process that knows nothing
        otel_footprint.uninstrument()
        shared(store=redis_server.url + "?wait_ms=20000&text=1")
        history.append({"role": "user", "content": f"Question {len(history)}?"})
        async with otel_footprint.conversation("order-2") as conversation:
            answer = await client.chat.completions.create(model="m", messages=history)
        history.append({"role": "assistant", "content": answer.choices[0].message.content})
        turns.append(conversation.decisions[-1].turn)
    assert turns == [1, 2, 3]
    assert faults() == {}


def test_a_server_that_dies_costs_no_answer_and_is_counted(
    redis_server: RedisServer,
    shared: Shared,
    provider: ScriptedProvider,
    faults: Faults,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sink = shared(store=redis_server.url)
    app = App(provider)
    app.ask()
    before = faults()
    redis_server.kill()
    with caplog.at_level(logging.WARNING, "otel_footprint"):
        decided = [app.ask() for _ in range(20)]
    assert [one.turn for one in decided] == list(range(2, 22))  # what this process knows goes on
    assert {one.window.decision for one in decided} == {"append"}
    gone = {place: count - before.get(place, 0) for place, count in faults().items() if place.startswith("store.")}
    assert FAILURES <= sum(gone.values()) <= FAILURES + 4  # then the circuit is open: it is left alone
    assert "store.read" in errors(sink)
    said = [record.message for record in caplog.records if "store." in record.message]
    assert len(said) <= 2
    assert all("Question" not in line and "4711" not in line for line in said)


def test_a_server_that_returns_is_used_again(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("otel_footprint.core.state.breaker.FIRST_S", 0.01)
    monkeypatch.setattr("otel_footprint.core.state.breaker.LONGEST_S", 0.01)
    shared(store=redis_server.url + "?wait_ms=20000")
    app = App(provider)
    app.ask()
    redis_server.kill()
    for _ in range(5):
        app.ask()
    redis_server.start()
    until(lambda: bool(app.ask().turn and kept(redis_server)))
    document = kept(redis_server)["otel-footprint:conversation:order-1"]
    assert document["session"]["threads"][0]["turn"] == len(app.history) // 2


def test_a_slow_server_is_given_up_and_then_left_alone(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, faults: Faults
) -> None:
    way = SlowWay(redis_server.port, 60)  # whoever waits for its answers does not see the end of this test
    sink = shared(store=way.url)
    app = App(provider)
    for _ in range(10):
        app.ask()
    counts = faults()
    assert counts.get("store.read", 0) + counts.get("store.write", 0) >= FAILURES
    assert "store.read" in errors(sink)
    running = runtime.current()
    assert running is not None
    assert running.sharing is not None
    answers = way.answers
    app.ask()
    assert way.answers == answers  # nothing was asked
    way.close()


@pytest.mark.parametrize(
    "document",
    [b"", b"{", b"[]", b'{"format": "otel-footprint conversation", "version": 99}', b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_document_of_ours_is_left_and_counted(
    document: bytes, redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, faults: Faults
) -> None:
    client = redis.Redis.from_url(redis_server.url)
    client.hset("otel-footprint:conversation:order-1", mapping={"version": "x", "calls": "1", "document": document})
    shared(store=redis_server.url + "?wait_ms=20000")
    assert App(provider).ask().turn == 1
    assert faults() == {"store.document": 1}


def test_a_worker_that_was_overtaken_takes_what_is_there(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, faults: Faults
) -> None:
    shared(store=redis_server.url + "?wait_ms=20000&text=1")
    app = App(provider)
    app.ask()
    first = kept(redis_server)
    client = redis.Redis.from_url(redis_server.url)
    key = "otel-footprint:conversation:order-1"
    ahead = json.loads(json.dumps(first[key]))
    ahead["session"]["threads"][0]["turn"] = 40
    read = runtime.current()
    assert read is not None
    running = read.sharing
    assert running is not None
    call = running.call("order-1")
    call.load()
    client.hset(key, mapping={"version": "later", "calls": "900", "document": json.dumps(ahead)})
    call.completed()
    call.save()
    assert faults() == {"store.overtaken": 1}
    assert kept(redis_server)[key] == ahead
    assert app.ask().turn == 41


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memcached://host:1", r"store: 'memcached://host:1' is not known; write redis://host:6379/0"),
        ("redis://u:pass@host:6379/0?text=maybe", "store: text='maybe' is neither 1 nor 0"),
        ("redis://u:pass@host:6379/0?ttl=0", "store: ttl='0'; give a whole number from 1 to"),
        ("redis://u:pass@host:6379/0?wait_ms=x", "store: wait_ms='x'; give a whole number from 1 to 60000"),
        ("redis://u:pass@host:6379/0?prefix=", "store: prefix=''; give 1 to 64 printable"),
        ("redis://u:pass@host:port/0", "store: the Redis client does not take this address"),
        (object(), "store=object: give the address of a Redis server"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_password(address: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said.replace("?", r"\?")) as caught:
        otel_footprint.instrument(store=address)
    assert "pass" not in str(caught.value)


def test_the_variable_names_the_store(
    redis_server: RedisServer, shared: Shared, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_FOOTPRINT_STORE", redis_server.url + "?wait_ms=20000")
    shared()
    otel_footprint.instrument(
        **{
            name: getattr(runtime.current().providers, short)  # type: ignore[union-attr]
            for name, short in (
                ("tracer_provider", "tracer"),
                ("meter_provider", "meter"),
                ("logger_provider", "logger"),
            )
        }
    )  # the same again changes nothing
    App(provider).ask()
    assert len(kept(redis_server)) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("/0?txt=1", "store: the Redis client does not take this address with txt"),
        ("/0?decode_responses=1", "the option decode_responses cannot be used here"),
        ("/abc", "store: '/abc' is no database; write a number, such as /0"),
        ("/1/2", "store: '/1/2' is no database"),
        ("/-1", "store: '/-1' is no database"),
        ("/99", "the store redis://127.0.0.1:[0-9]+ has no database 99; write one that it has, such as /0"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_observation_is_turned_on(
    query: str, said: str, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("otel_footprint.sharing.OPENING_S", 20)
    address = (
        redis_server.url.removesuffix("/0").replace("://", "://u:hidden@") if query != "/99" else redis_server.url[:-2]
    )
    with pytest.raises(ConfigurationError, match=said.replace("?", r"\?")) as caught:
        otel_footprint.instrument(store=address + query)
    assert "hidden" not in str(caught.value)
    assert runtime.current() is None


def test_that_the_store_does_not_answer_is_said_once_with_its_name_and_without_its_password(
    redis_server: RedisServer,
    shared: Shared,
    provider: ScriptedProvider,
    faults: Faults,
    caplog: pytest.LogCaptureFixture,
) -> None:
    redis_server.kill()
    with caplog.at_level(logging.WARNING, "otel_footprint"):
        shared(store=redis_server.url.replace("://", "://u:hidden@") + "?wait_ms=20000&password=hidden")
        app = App(provider)
        for _ in range(3):
            app.ask()
    assert {"store.open", "store.read"} <= set(faults())
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        f"otel-footprint: the store redis://127.0.0.1:{redis_server.port} does not answer (ConnectionError); "
        "conversations go on without it."
    ]


def test_a_connection_that_is_being_made_is_no_failure_of_the_store(shared: Shared, provider: ScriptedProvider) -> None:
    """And what a call no longer waited for is kept once it is there."""
    connected = threading.Event()
    store = LateStore(connected)
    shared(store=store)
    app = App(provider)
    for _ in range(FAILURES + 2):
        app.ask()
    assert store.kept == []
    connected.set()
    until(lambda: len(store.kept) == FAILURES + 2)
    app.ask()
    until(lambda: len(store.kept) == FAILURES + 3)
    assert store.read_versions[-1] == f"v{FAILURES + 2}"  # it read after all that it had written


class LateStore:
    """A store whose first connection takes as long as the test says."""

    keeps_text = False
    wait_s = 0.001

    def __init__(self, connected: threading.Event) -> None:
        self.connected, self.kept, self.read_versions = connected, [], []  # type: ignore[var-annotated]

    def open(self) -> None:
        self.connected.wait(20)

    def read(self, conversation_id: str, version: str | None) -> None:
        self.read_versions.append(version)

    def write(self, conversation_id: str, document: bytes, *, based_on: str | None, calls: int) -> str | None:
        self.kept.append(document)
        return f"v{len(self.kept)}"

    def close(self) -> None:
        """It has nothing to let go."""
