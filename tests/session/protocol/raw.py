"""Bare frames to and from the server, for messages that a correct client library cannot send."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

from session import PATIENCE, SERVER, Recording


class RawServer:
    """A server process; messages are JSON objects."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.received: list[dict[str, Any]] = []
        self.recording = Recording()

    @classmethod
    async def start(cls, *command: str) -> "RawServer":
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*(command or SERVER), stdin=pipe, stdout=pipe, stderr=pipe))

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)

    def send(self, method: str, params: Any = None, id: int | str | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if id is not None:
            message["id"] = id
        if params is not None:
            message["params"] = params
        self.recording.add("client", message)
        self.write(frame(json.dumps(message).encode()))

    async def initialize(self, root: pathlib.Path) -> None:
        """As Kate and ALE do it: a root, and nothing announced."""
        self.send("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}}, id="initialize")
        await self.answer("initialize")
        self.send("initialized", {})

    async def read(self) -> dict[str, Any] | None:
        """The next message; nothing at the end. Anything on standard output that is no frame is an error."""
        head = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
        if not head:
            return None
        assert head.lower().startswith(b"content-length:"), f"no header: {head!r}"
        while (line := await self.process.stdout.readline()) != b"\r\n":
            assert b":" in line, f"no header: {line!r}"
        message = json.loads(await self.process.stdout.readexactly(int(head.split(b":")[1])))
        self.received.append(message)
        self.recording.add("server", message)
        return message

    async def answer(self, id: int | str) -> dict[str, Any]:
        """Returns the answer to a request; messages before it are kept in `received`."""
        while message := await self.read():
            if message.get("id") == id and "method" not in message:
                return message
        raise AssertionError(f"the server ended before it answered {id!r}")

    async def end(self) -> int:
        """Reads to the end and gives the exit status. The server must end without more being done."""
        while await self.read():
            pass
        status = await asyncio.wait_for(self.process.wait(), PATIENCE)
        errors = (await self.process.stderr.read()).decode()
        assert "panicked" not in errors, errors
        return status


def frame(content: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(content), content)
