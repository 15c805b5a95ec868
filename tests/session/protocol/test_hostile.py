"""Whatever is sent, the next request is answered."""

from __future__ import annotations

import asyncio
import pathlib
import random

import pytest
from lsprotocol import types as lsp

from conftest import VSCODE
from raw import RawServer
from session import Session, edit

NODE = "data/nodes/web-01.oslo.example.net.yaml"
COMMON = "data/common.yaml"
FILES = [COMMON, NODE, "hiera.yaml", "site-modules/chrony/hiera.yaml", "data/roles/db.yaml", "data/inventory.json",
         "data/secrets/db-01.oslo.example.net.eyaml", "manifests/site.pp", "spec/facts/db-01.oslo.example.net.json"]

MOST = 2**31 - 1  # The protocol's largest number.


async def still_answers(session: Session) -> None:
    file = "data/sites/oslo/network.yaml"
    session.open(file)
    hover = await session.hover(file, "site_name")
    # Where lookup_options cannot be read, no value is shown: it may be a secret.
    assert "Oslo" in hover or "The lookup fails" in hover
    session.close(file)


@pytest.mark.parametrize("line", [0, 5, 10_000, MOST])
@pytest.mark.parametrize("character", [0, 3, 10_000, MOST])
async def test_places_that_do_not_exist(start, repo: pathlib.Path, line: int, character: int) -> None:
    session = await start(repo)
    for file in [COMMON, "nowhere.yaml", "data"]:
        for uri in [session.uri(file), session.uri(file) + "?query", session.uri(file) + "#fragment", "file:///", "http://x/y"]:
            place = lsp.TextDocumentIdentifier(uri), lsp.Position(line, character)
            await session.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(*place))
            await session.request(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(*place))
    await still_answers(session)


@pytest.mark.parametrize("uri", ["not an address", "", "file:", "file://", "//", "C:\\\\data\\\\common.yaml"])
async def test_addresses_that_are_none(repo: pathlib.Path, uri: str) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    server.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": "a: 1"}})
    server.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "b: 1"}]})
    server.send("textDocument/hover", place, id=1)
    await server.answer(1)
    server.send("hiera/nodes", {"textDocument": {"uri": uri}}, id=2)
    await server.answer(2)
    server.send("shutdown", id=3)
    await server.answer(3)
    server.send("exit")
    assert await server.end() == 0


@pytest.mark.parametrize("number", [-1, 2**32, 2**63, 2**64, 1e300, 1.5, "1", None, [], {}])
async def test_numbers_that_are_none(repo: pathlib.Path, number) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    place = {"textDocument": {"uri": (repo / COMMON).as_uri()}, "position": {"line": number, "character": number}}
    server.send("textDocument/hover", place, id=1)
    assert (await server.answer(1))["error"]["code"] == lsp.ErrorCodes.InvalidParams.value
    server.send("shutdown", id=2)
    await server.answer(2)
    server.send("exit")
    assert await server.end() == 0


async def test_half_a_character(repo: pathlib.Path) -> None:
    """An editor may hold half of one, and JSON may carry it."""
    server = await RawServer.start()
    await server.initialize(repo)
    document = {"uri": (repo / COMMON).as_uri(), "version": 1}
    server.send("textDocument/didOpen", {"textDocument": document | {"languageId": "yaml", "text": "half: 'a \ud83d b'\nnext: 1\n"}})
    server.send("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 1}}, id=1)
    assert "a \ufffd b" in (await server.answer(1))["result"]["contents"]["value"]
    place = {"start": {"line": 0, "character": 9}, "end": {"line": 0, "character": 10}}
    changes = [{"range": place, "text": "\ud83d\ude00"}]
    server.send("textDocument/didChange", {"textDocument": document | {"version": 2}, "contentChanges": changes})
    server.send("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 1}}, id=2)
    assert "a \U0001f600 b" in (await server.answer(2))["result"]["contents"]["value"]
    server.send("shutdown", id=3)
    await server.answer(3)
    server.send("exit")
    assert await server.end() == 0


@pytest.mark.parametrize("file", FILES)
async def test_hover_and_definition_at_every_place(start, repo: pathlib.Path, file: str) -> None:
    """Every fifth column of every line, and beyond the end of each: an answer or none, but no error."""
    session = await start(repo)
    session.open(file)
    lines = session.text(file).split("\n")
    places = [lsp.Position(line, column) for line, text in enumerate(lines) for column in range(0, min(len(text), 120) + 7, 5)]
    document = session.document(file)
    asked = [session.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(document, place)) for place in places]
    asked += [session.request(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(document, place)) for place in places]
    await asyncio.gather(*asked)
    await still_answers(session)


HOSTILE = {
    "deep sequences": "a: " + "[" * 20_000,
    "deep mappings": "a: " + "{a: " * 20_000,
    "deep blocks": "".join(" " * depth + "a:\n" for depth in range(600)),
    "deep dashes": "a:\n" + "- " * 20_000 + "x",
    "billion laughs": "a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)),
    "an alias to itself": "a: &a [*a]\nb: &b {<<: *b}\n",
    "a loop of tokens": "a: \"%{lookup('b')}\"\nb: \"%{lookup('a')}\"\n",
    "deep tokens": "a: \"" + "%{lookup('" * 500 + "\"\n",
    "a long line": "a: " + "x" * 1_000_000,
    "many keys": "".join(f"k{n}: {n}\n" for n in range(20_000)),
    "nothing": "",
    "nul and others": "a: \x00\x01\x02\n\x1b: \x7f\n",
    "half a document": "---\na: |\n  x\n---\n...\n%YAML 1.2\n---\n? {a: 1}\n: [\n",
    "a terrible pattern": "lookup_options:\n  '^(a+)+(b+)+$': {merge: unique}\n  '^(': {merge: deep}\n" + "a" * 40 + ": 1\n",
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_hostile_texts(start, repo: pathlib.Path, what: str) -> None:
    session = await start(repo)
    session.open(COMMON, HOSTILE[what])
    for position in [lsp.Position(0, 0), lsp.Position(0, 4), lsp.Position(1, 2)]:
        await session.hover(COMMON, position)
    await session.until("its findings", lambda: session.findings(COMMON) is not None)
    await still_answers(session)


async def test_tokens_that_double(start, repo: pathlib.Path) -> None:
    """Each key asks twice for the next: 61 lines that make 2⁶⁰ lookups of one."""
    lines = [f"k{n}: \"%{{lookup('k{n + 1}')}}%{{lookup('k{n + 1}')}}\"\n" for n in range(60)]
    session = await start(repo)
    session.open(COMMON, "".join(lines) + "k60: ''\n")
    await asyncio.wait_for(session.hover(COMMON, "k0"), 4)
    await still_answers(session)


@pytest.mark.parametrize("seed", range(3))
async def test_random_typing_in_any_file(start, repo: pathlib.Path, seed: int) -> None:
    """Edits that tear everything apart, with a request after each; hiera.yaml among the files."""
    session = await start(repo, VSCODE)
    rng = random.Random(seed)
    pieces = ["%{", "}", "lookup('", "alias(\"", "'", '"', "\n", "  ", ": ", "- ", "|\n", "&a ", "*a", "<<: ", "{", "[", "]", "🍵", "#", "!!x ", "\t"]
    for file in FILES[:6]:
        session.open(file)
    for _ in range(250):
        file = rng.choice(FILES[:6])
        text = session._texts[file]
        start_at = rng.randrange(len(text) + 1)
        end = min(len(text), start_at + rng.choice([0, 0, 1, 5, 40]))
        new = rng.choice(pieces)
        session.change(file, edit(text, start_at, end, new, session.encoding))
        session._texts[file] = text[:start_at] + new + text[end:]
        position = lsp.Position(rng.randrange(60), rng.randrange(60))
        await session.hover(file, position)
        await session.request(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(session.document(file), position))
    assert not [message for message in session.client.log_messages if "defect" in message.message]
    for file in FILES[:6]:
        session.close(file)
    await still_answers(session)
