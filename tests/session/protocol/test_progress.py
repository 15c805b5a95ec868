"""Progress of long answers, for clients that ask with a token for it."""

from __future__ import annotations

import pathlib
from typing import Any

from lsprotocol import types as lsp

from raw import RawServer

COMMON = "data/common.yaml"
CANCELLED = lsp.LSPErrorCodes.RequestCancelled.value


async def waiting(root: pathlib.Path) -> RawServer:
    """A server that has not read the folders yet: it waits for settings, which this client does not send."""
    server = await RawServer.start()
    capabilities = {"workspace": {"configuration": True}, "textDocument": {"diagnostic": {}}}
    server.send("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": capabilities}, id="initialize")
    options = (await server.answer("initialize"))["result"]["capabilities"]
    for provider in ["referencesProvider", "workspaceSymbolProvider"]:
        assert options[provider] == {"workDoneProgress": True}, options
    server.send("initialized", {})
    return server


def references(root: pathlib.Path, token: str | None) -> dict[str, Any]:
    lines = (root / COMMON).read_text().splitlines()
    line = next(number for number, line in enumerate(lines) if line.startswith("company:"))
    params = {
        "textDocument": {"uri": (root / COMMON).as_uri()},
        "position": {"line": line, "character": 2},
        "context": {"includeDeclaration": True},
    }
    return params if token is None else {**params, "workDoneToken": token}


def shown(server: RawServer) -> list[tuple[str, str]]:
    steps = [message["params"] for message in server.received if message.get("method") == "$/progress"]
    return [(step["token"], step["value"]["kind"]) for step in steps]


async def test_a_long_answer_shows_its_progress(repo: pathlib.Path) -> None:
    server = await waiting(repo)
    server.send("textDocument/references", references(repo, None), id=1)
    server.send("textDocument/references", references(repo, "two"), id=2)
    server.send("workspace/symbol", {"query": "", "workDoneToken": "three"}, id=3)
    answers = {}
    while len(answers) < 3:
        message = await server.read()
        assert message is not None
        if "method" not in message:
            # The end comes before the answer: the token is of no use afterwards.
            answers[message["id"]] = (message["result"], shown(server))
    for id, token in [(2, "two"), (3, "three")]:
        result, steps = answers[id]
        assert result is not None
        assert [kind for of, kind in steps if of == token] == ["begin", "end"]
    assert {token for token, _ in shown(server)} == {"two", "three"}
    # By now the folders are read, and an answer comes at once.
    server.send("textDocument/references", references(repo, "four"), id=4)
    assert (await server.answer(4))["result"]
    assert "four" not in {token for token, _ in shown(server)}
    server.send("shutdown", id=5)
    await server.answer(5)
    server.send("exit")
    assert await server.end() == 0


async def test_a_request_with_progress_is_cancelled_as_any_other(repo: pathlib.Path) -> None:
    server = await waiting(repo)
    server.send("textDocument/references", references(repo, "one"), id=1)
    while ("one", "begin") not in shown(server):
        assert await server.read() is not None
    server.send("$/cancelRequest", {"id": 1})
    answer = await server.answer(1)
    assert answer["error"]["code"] == CANCELLED
    server.send("shutdown", id=2)
    await server.answer(2)
    server.send("exit")
    assert await server.end() == 0
    assert shown(server) == [("one", "begin")]
