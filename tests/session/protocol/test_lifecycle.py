"""The start and the end of a session, and unknown requests."""

from __future__ import annotations

import json
import pathlib

import pytest
from lsprotocol import types as lsp

from raw import RawServer, frame
from session import SERVER, Session, refused

COMMON = "data/common.yaml"

METHOD_NOT_FOUND = lsp.ErrorCodes.MethodNotFound.value
INVALID_REQUEST = lsp.ErrorCodes.InvalidRequest.value
NOT_INITIALIZED = lsp.ErrorCodes.ServerNotInitialized.value
CANCELLED = lsp.LSPErrorCodes.RequestCancelled.value


def hover(root: pathlib.Path, line: int = 0) -> dict:
    return {"textDocument": {"uri": (root / COMMON).as_uri()}, "position": {"line": line, "character": 2}}


async def test_shutdown_and_exit(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    server.send("shutdown", id=1)
    assert (await server.answer(1))["result"] is None
    server.send("exit")
    # Standard input stays open: the server may not wait for its end.
    assert await server.end() == 0


async def test_exit_alone_is_a_failure(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    server.send("exit")
    assert await server.end() == 1


async def test_exit_before_anything() -> None:
    server = await RawServer.start()
    server.send("exit")
    assert await server.end() == 1


async def test_closed_input_ends_the_server(repo: pathlib.Path) -> None:
    """ALE sends neither `shutdown` nor `exit`, it closes the pipe."""
    server = await RawServer.start()
    await server.initialize(repo)
    server.process.stdin.close()
    assert await server.end() == 0


async def test_closed_input_in_the_middle_of_a_message(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    server.write(b'Content-Length: 1000\r\n\r\n{"jsonrpc"')
    server.process.stdin.close()
    assert await server.end() == 2


async def test_shutdown_as_a_notification(repo: pathlib.Path) -> None:
    """Kate asks for no answer, and gets none: not even one without an id."""
    server = await RawServer.start()
    await server.initialize(repo)
    server.send("shutdown")
    server.send("exit")
    assert await server.end() == 0
    assert [message for message in server.received if message.get("id", 0) is None] == []


async def test_requests_at_the_wrong_time(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    server.send("textDocument/hover", hover(repo), id=1)
    assert (await server.answer(1))["error"]["code"] == NOT_INITIALIZED
    await server.initialize(repo)
    server.send("shutdown", id=2)
    await server.answer(2)
    server.send("textDocument/hover", hover(repo), id=3)
    assert (await server.answer(3))["error"]["code"] == INVALID_REQUEST
    server.send("exit")
    assert await server.end() == 0


async def test_a_second_initialize_is_refused(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    server.send("initialize", {"capabilities": {}}, id=2)
    assert (await server.answer(2))["error"]["code"] == INVALID_REQUEST
    server.send("exit")
    await server.end()


async def test_numbers_and_texts_as_ids(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    for id in [0, -1, 2**31 - 1, "", "text", "7"]:
        server.send("textDocument/hover", hover(repo), id=id)
        assert (await server.answer(id))["id"] == id
    server.send("exit")
    await server.end()


@pytest.mark.parametrize("params", [b"null", b"{}", b"[]"])
async def test_parameters_where_there_are_none(repo: pathlib.Path, params: bytes) -> None:
    """eglot sends null with shutdown; others leave out the parameters of initialized."""
    server = await RawServer.start()
    server.send("initialize", {"processId": None, "rootUri": repo.as_uri(), "capabilities": {}}, id=0)
    await server.answer(0)
    server.write(frame(b'{"jsonrpc":"2.0","method":"initialized","params":null}' if params == b"null" else b'{"jsonrpc":"2.0","method":"initialized"}'))
    text = (repo / COMMON).read_text("utf-8")
    line = text[: text.index("company: ")].count("\n")
    server.send("textDocument/hover", hover(repo, line), id=1)
    assert "Fjordkaffe" in (await server.answer(1))["result"]["contents"]["value"]
    server.write(frame(b'{"jsonrpc":"2.0","id":2,"method":"hiera/nodes","params":null}'))
    assert (await server.answer(2))["result"]["known"] == 3
    server.write(frame(b'{"jsonrpc":"2.0","id":3,"method":"shutdown","params":%s}' % params))
    assert (await server.answer(3)).get("result", "none") is None
    server.write(frame(b'{"jsonrpc":"2.0","method":"exit","params":%s}' % params))
    assert await server.end() == 0


async def test_a_content_type_may_be_given(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    content = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}).encode()
    kind = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
    server.write(kind + frame(content))
    assert "error" not in await server.answer(1)
    server.send("exit")
    assert await server.end() == 0


async def test_the_server_starts_as_other_servers_do(repo: pathlib.Path) -> None:
    server = await RawServer.start(SERVER[0], "--stdio")
    await server.initialize(repo)
    server.send("shutdown", id=1)
    await server.answer(1)
    server.send("exit")
    assert await server.end() == 0


async def test_a_broken_message_does_not_end_the_session(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    server.write(frame(b'{"jsonrpc": "2.0", "id": 1, "method": '))
    server.send("textDocument/hover", hover(repo), id=2)
    await server.answer(2)
    server.send("shutdown", id=3)
    await server.answer(3)
    server.send("exit")
    assert await server.end() == 0


async def test_a_cancelled_request_is_answered_once(repo: pathlib.Path) -> None:
    """A request that waits for the first reading is surely under way when it is cancelled."""
    server = await RawServer.start()
    await server.initialize(repo)
    server.send("textDocument/didOpen", {"textDocument": {
        "uri": (repo / COMMON).as_uri(), "languageId": "yaml", "version": 1, "text": (repo / COMMON).read_text("utf-8")}})
    for id in range(20):
        server.send("textDocument/hover", hover(repo, 4), id=id)
        server.send("$/cancelRequest", {"id": id})
    server.send("$/cancelRequest", {"id": 12345})  # Never asked.
    server.send("shutdown", id="end")
    await server.answer("end")
    server.send("exit")
    assert await server.end() == 0
    answers = [message for message in server.received if "method" not in message and isinstance(message["id"], int)]
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    codes = {answer["error"]["code"] for answer in answers if "error" in answer}
    assert codes <= {CANCELLED}


async def test_unknown_methods(session: Session) -> None:
    assert await refused(session.request("hiera/noSuchMethod", {})) == METHOD_NOT_FOUND
    # Not announced, so not to be answered as if it were.
    position = lsp.Position(0, 0)
    params = lsp.CompletionParams(session.document(COMMON), position)
    if session.result.capabilities.completion_provider is None:
        assert await refused(session.request(lsp.TEXT_DOCUMENT_COMPLETION, params)) == METHOD_NOT_FOUND
    # A notification has no answer; the session continues after an unknown one.
    session.client.protocol.notify("hiera/noSuchNotification", {})
    session.client.set_trace(lsp.SetTraceParams(lsp.TraceValue.Verbose))
    session.open(COMMON)
    assert await session.hover(COMMON, "company: ") is not None


@pytest.mark.parametrize("params", [{"name": 7}, [], {"name": ["a"]}, "web-01"])
async def test_wrong_parameters_are_an_error(start, repo: pathlib.Path, params) -> None:
    session = await start(repo)
    assert await refused(session.request("hiera/selectNode", params)) in (lsp.ErrorCodes.InvalidParams, lsp.ErrorCodes.InvalidRequest)
    session.open(COMMON)
    assert await session.hover(COMMON, "company: ") is not None


async def test_a_hover_over_a_text_that_changed_meanwhile(repo: pathlib.Path) -> None:
    """The hover waits for the first reading of the folders; its position is one in the text before the change."""
    server = await RawServer.start()
    await server.initialize(repo)
    uri = (repo / COMMON).as_uri()
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": "motd: hello\n"}
    server.send("textDocument/didOpen", {"textDocument": document})
    server.send("textDocument/hover", hover(repo), id="hover")
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "\n\n"}]}
    server.send("textDocument/didChange", change)
    answer = await server.answer("hover")
    # On a quick machine the answer is there before the change; it is then of the text that was asked about.
    assert answer["result"] if "result" in answer else answer["error"]["code"] == lsp.LSPErrorCodes.ContentModified.value
    server.process.stdin.close()
    assert await server.end() == 0
