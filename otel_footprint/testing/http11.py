"""A small HTTP/1.1 server for scripted answers: threads, keep-alive, no delay, nothing else.

Rules
-----
- It listens on 127.0.0.1 and a port that the system picks.
- One thread per connection; a plain answer leaves in one write; a paced stream in one write per chunk.
- A broken stream ends without its last chunk: the client sees a connection that closed too early.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import IO

from otel_footprint.testing.script import Request, Wire

_REASONS = {status.value: status.phrase for status in HTTPStatus}


class Server:
    """Serves ``respond`` until closed. ``respond`` runs on the connection's thread and must be thread-safe."""

    def __init__(self, respond: Callable[[Request], Wire]) -> None:
        self._respond = respond
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closing = False
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name="scripted-provider", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and cut every connection. Safe to call twice."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            connections = tuple(self._open)
        # A blocked accept() does not notice that its socket was closed, so it is shut down first.
        _shut(self._socket)
        self._socket.close()
        for connection in connections:
            _shut(connection)
        self._thread.join(timeout=5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                if self._closing:
                    connection.close()
                    return
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="scripted-connection", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        reader: IO[bytes] = connection.makefile("rb")
        try:
            while (request := _read(reader)) is not None:
                if not _write(connection, self._respond(request)):
                    return
        except OSError:
            return
        finally:
            with self._lock:
                self._open.discard(connection)
            reader.close()
            _shut(connection)
            connection.close()


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _read(reader: IO[bytes]) -> Request | None:
    """The next request, or None at the end of the connection."""
    line = reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := reader.readline()) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = _read_chunked(reader)
    else:
        length = int(headers.get("content-length", "0"))
        body = reader.read(length) if length else b""
    return Request(method=method, path=path, headers=headers, body=body)


def _read_chunked(reader: IO[bytes]) -> bytes:
    pieces: list[bytes] = []
    while size := int(reader.readline().split(b";")[0], 16):
        pieces.append(reader.read(size))
        reader.readline()
    while reader.readline() not in (b"\r\n", b"\n", b""):
        continue
    return b"".join(pieces)


def _write(connection: socket.socket, wire: Wire) -> bool:
    """Send a response; False when the connection is to be closed."""
    head = [f"HTTP/1.1 {wire.status} {_REASONS.get(wire.status, 'Unknown')}"]
    if wire.content_type is not None:
        head.append(f"content-type: {wire.content_type}")
    head += [f"{name}: {value}" for name, value in wire.headers]
    if wire.chunks is None:
        head.append(f"content-length: {len(wire.body)}")
        start = "\r\n".join([*head, "", ""]).encode("latin-1")
        if wire.break_after is not None:
            connection.sendall(start + wire.body[: len(wire.body) // 2])
            return False
        connection.sendall(start + wire.body)
        return True
    head.append("transfer-encoding: chunked")
    pending = "\r\n".join([*head, "", ""]).encode("latin-1")
    broken = wire.break_after is not None
    for chunk in wire.chunks if wire.break_after is None else wire.chunks[: wire.break_after]:
        if not chunk:
            continue
        pending += b"%x\r\n%b\r\n" % (len(chunk), chunk)
        if wire.pace:
            connection.sendall(pending)
            pending = b""
            time.sleep(wire.pace)
    connection.sendall(pending if broken else pending + b"0\r\n\r\n")
    return not broken
