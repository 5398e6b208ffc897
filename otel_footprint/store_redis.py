"""Conversations in Redis: one hash each, which goes by itself when nobody has asked for a while.

Rules
-----
- Reading and writing are one round trip each, and one atomic step on the server: a document is not sent to a worker that has
  it, and not written over one that has come further.
- The client waits longer for an answer than a call may wait: what a call no longer waits for is written all the same. It tries once more only where a kept connection turned out to be
  gone.
- The address takes options of ours: ``text=1``, ``ttl=<seconds>``, ``wait_ms=<milliseconds>``, ``prefix=<word>``; all others
  are the client's.
"""

from __future__ import annotations

import re
import time
import uuid
from typing import Final, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.store import Kept

TTL_S: Final = 86_400
WAIT_S: Final = 0.02
"""How long a call waits for the store, in seconds."""
CONNECT_S: Final = 1.0
"""How long a connection may take to be made, and an answer to come. A call does not wait as long: it goes on without."""
PREFIX: Final = "otel-footprint"
_TRUE: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_OURS: Final = ("text", "ttl", "wait_ms", "prefix")
_NOT_OF_THE_CLIENT: Final = ("decode_responses", "encoding", "encoding_errors")
_DATABASE: Final = re.compile(r"|/|/[0-9]{1,9}")
_LONGEST_TTL_S: Final = 366 * 86_400
_LONGEST_WAIT_MS: Final = 60_000

_READ: Final = """
local version = redis.call('HGET', KEYS[1], 'version')
if not version or version == ARGV[1] then return false end
return redis.call('HMGET', KEYS[1], 'version', 'document')
"""
_WRITE: Final = """
local kept = redis.call('HMGET', KEYS[1], 'version', 'calls')
if kept[1] and kept[1] ~= ARGV[1] and (tonumber(kept[2]) or 0) > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'calls', ARGV[2], 'document', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
"""


class RedisStore:
    """Conversations in a Redis database.

    Args:
        url: the server's address, ``redis://[user:password@]host:port/db`` (``rediss://`` for TLS, ``unix://`` for a socket).
        text: keep texts of messages and of tool results too, not only what is known of them.
        ttl_s: seconds after its last call until a conversation goes.
        wait_s: how long a call of a model waits for the server, reading and writing together, before it goes on without.
        prefix: what keys begin with; applications that share a database each have their own.
    """

    def __init__(
        self, url: str, *, text: bool = False, ttl_s: int = TTL_S, wait_s: float = WAIT_S, prefix: str = PREFIX
    ) -> None:
        self._settings = (url, text, ttl_s, wait_s, prefix)
        self._prefix = prefix
        self._ttl_ms = ttl_s * 1000
        self.keeps_text: Final = text
        self.wait_s: Final = wait_s
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=max(wait_s, CONNECT_S),
            socket_connect_timeout=CONNECT_S,
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._read = self._client.register_script(_READ)
        self._write = self._client.register_script(_WRITE)

    @classmethod
    def from_url(cls, address: str, setting: str) -> RedisStore:
        """The store at an address with options. Raises ConfigurationError that names ``setting`` and no password."""
        parts = urlsplit(address)
        options: dict[str, str] = {}
        others: list[tuple[str, str]] = []
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if name in _OURS:
                options[name] = value
            else:
                others.append((name, value))
        text = _TRUE.get(options.get("text", "0").lower())
        if text is None:
            raise ConfigurationError(f"{setting}: text={options['text']!r} is neither 1 nor 0")
        ttl_s = _whole(options, "ttl", TTL_S, _LONGEST_TTL_S, setting)
        wait_ms = _whole(options, "wait_ms", round(WAIT_S * 1000), _LONGEST_WAIT_MS, setting)
        prefix = options.get("prefix", PREFIX)
        if not 0 < len(prefix) <= 64 or not prefix.isprintable():
            raise ConfigurationError(f"{setting}: prefix={prefix!r}; give 1 to 64 printable characters")
        if parts.scheme != "unix" and not _DATABASE.fullmatch(parts.path):
            raise ConfigurationError(f"{setting}: {parts.path[:40]!r} is no database; write a number, such as /0")
        for name, _ in others:
            if name in _NOT_OF_THE_CLIENT:
                raise ConfigurationError(f"{setting}: the option {name} cannot be used here; leave it out")
        url = urlunsplit(parts._replace(query=urlencode(others)))
        try:
            store = cls(url, text=text, ttl_s=ttl_s, wait_s=wait_ms / 1000, prefix=prefix)
            store._client.connection_pool.make_connection()  # it connects later; here it reads its options
            return store
        except (ValueError, TypeError) as error:
            names = ", ".join(name[:40] for name, _ in others)
            what = f"this address with {names}" if names else "this address"
            raise ConfigurationError(
                f"{setting}: the Redis client does not take {what} ({type(error).__name__}); write "
                "redis://host:6379/0, after a ? its own options and text=1, ttl=<seconds>, wait_ms=<milliseconds>, prefix=<word>"
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RedisStore) and self._settings == other._settings

    def __hash__(self) -> int:
        return hash(self._settings)

    @property
    def name(self) -> str:
        """The server, without a password."""
        parts = urlsplit(self._settings[0])
        place = parts.path if parts.scheme == "unix" else parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}"

    def open(self) -> None:
        """Make a connection, which stays. Raises ConfigurationError where the server has no such database."""
        try:
            self._client.ping()
        except redis.ResponseError as error:
            if "db index" in str(error).lower() or "invalid db" in str(error).lower():
                database = self._client.connection_pool.connection_kwargs.get("db")
                raise ConfigurationError(
                    f"the store {self.name} has no database {database}; write one that it has, such as /0"
                ) from None
            raise
        for script in (_READ, _WRITE):
            self._client.script_load(script)

    def answers_in(self, timeout_s: float) -> float:
        """Seconds until an answer came over a connection that was there, asked patiently. Raises what the client raises."""
        client = redis.Redis.from_url(
            self._settings[0], socket_timeout=timeout_s, socket_connect_timeout=timeout_s, retry=Retry(NoBackoff(), 0)
        )
        with client:
            client.ping()
            began = time.perf_counter()
            client.ping()
            return time.perf_counter() - began

    def read(self, conversation_id: str, version: str | None) -> Kept | None:
        """The document where it is another one than that of ``version``."""
        found = self._read(keys=[self._key(conversation_id)], args=[version or ""])
        if not found or found[0] is None or found[1] is None:
            return None
        name, document = cast("tuple[bytes, bytes]", found)
        return Kept(name.decode("ascii", "replace"), document)

    def write(self, conversation_id: str, document: bytes, *, based_on: str | None, calls: int) -> str | None:
        """Keep the document where none has come further; its version."""
        version = uuid.uuid4().hex
        args: list[str | int | bytes] = [based_on or "", calls, version, document, self._ttl_ms]
        return version if self._write(keys=[self._key(conversation_id)], args=args) else None

    def close(self) -> None:
        """Let connections go."""
        self._client.close()

    def _key(self, conversation_id: str) -> str:
        return f"{self._prefix}:conversation:{conversation_id}"


def _whole(options: dict[str, str], name: str, default: int, most: int, setting: str) -> int:
    given = options.get(name, str(default))
    if not (given.isascii() and given.isdecimal() and len(given) <= 9 and 1 <= int(given) <= most):
        raise ConfigurationError(f"{setting}: {name}={given!r}; give a whole number from 1 to {most}")
    return int(given)
