"""Outlines of documents, and keys of the workspace by name."""

from __future__ import annotations

from typing import Iterator

from lsprotocol import types as lsp

from conftest import VSCODE
from session import Session, slice_of

NODE = "data/nodes/web-01.oslo.example.net.yaml"
COMMON = "data/common.yaml"
VHOSTS = "profile::web::vhosts"


async def outline(session: Session, file: str) -> list[lsp.DocumentSymbol]:
    params = lsp.DocumentSymbolParams(session.document(file))
    return list(await session.request(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, params) or [])


async def search(session: Session, query: str) -> list[lsp.SymbolInformation]:
    return list(await session.request(lsp.WORKSPACE_SYMBOL, lsp.WorkspaceSymbolParams(query)) or [])


def every(symbols: list[lsp.DocumentSymbol]) -> Iterator[lsp.DocumentSymbol]:
    for symbol in symbols:
        yield symbol
        yield from every(list(symbol.children or []))


def place(position: lsp.Position) -> tuple[int, int]:
    return position.line, position.character


async def test_an_outline_has_the_keys_as_a_tree(session: Session) -> None:
    session.open(COMMON)
    symbols = await outline(session, COMMON)
    vhosts = next(symbol for symbol in symbols if symbol.name == VHOSTS)
    assert vhosts.kind == lsp.SymbolKind.Object
    shop = next(symbol for symbol in vhosts.children or [] if symbol.name == "shop")
    kinds = {symbol.name: symbol.kind for symbol in shop.children or []}
    assert kinds["docroot"] == lsp.SymbolKind.String
    assert kinds["port"] == lsp.SymbolKind.Number
    assert kinds["aliases"] == lsp.SymbolKind.Array
    for symbol in every(symbols):
        assert place(symbol.range.start) <= place(symbol.selection_range.start)
        assert place(symbol.selection_range.end) <= place(symbol.range.end)
        # Columns are in the negotiated encoding: they mark the name.
        marked = slice_of(session.text(COMMON), symbol.selection_range, session.encoding)
        assert symbol.name.strip("'") in marked.replace("\\\\", "\\") or symbol.name.isdigit(), symbol


async def test_an_outline_shows_no_values(session: Session) -> None:
    await outline(session, COMMON)
    await outline(session, "data/secrets/db-01.oslo.example.net.eyaml")
    assert "47kx" not in repr(session.client.received)
    assert "MIIBiQYJKoZ" not in repr(session.client.received)


async def test_the_outline_of_a_config_has_its_levels(session: Session) -> None:
    symbols = await outline(session, "hiera.yaml")
    levels = next(symbol for symbol in symbols if symbol.name == "hierarchy").children or []
    assert [level.name for level in levels][:2] == ["Secrets of a node", "Node"]
    assert all(level.kind == lsp.SymbolKind.Namespace and level.detail for level in levels)


async def test_a_broken_document_keeps_the_rest_of_its_outline(session: Session) -> None:
    session.open(COMMON)
    before = {symbol.name for symbol in await outline(session, COMMON)}
    session.insert(COMMON, session.text(COMMON).index("company:"), "half: [a, b\n")
    after = {symbol.name for symbol in await outline(session, COMMON)}
    assert before | {"half"} == after


async def test_a_client_without_trees_gets_a_list(start, repo) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.text_document.document_symbol.hierarchical_document_symbol_support = None
        capabilities.text_document.document_symbol.symbol_kind = None

    session = await start(repo, capabilities=announce)
    symbols = await session.request(
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lsp.DocumentSymbolParams(session.document(COMMON))
    )
    assert all(isinstance(symbol, lsp.SymbolInformation) for symbol in symbols)
    # Such a client knows the kinds of the first version of the protocol.
    assert all(symbol.kind.value <= lsp.SymbolKind.Array.value for symbol in symbols)
    assert ("shop", VHOSTS) in {(symbol.name, symbol.container_name) for symbol in symbols}


async def test_files_of_no_level_have_no_outline(session: Session) -> None:
    other = session.root / "compose.yaml"
    other.write_text("services: {}\n", encoding="utf-8")
    session.open("compose.yaml")
    assert await outline(session, "compose.yaml") == []


async def test_keys_are_found_by_parts_of_their_names(session: Session) -> None:
    found = await search(session, "pwvh")
    assert {symbol.name for symbol in found[:2]} == {VHOSTS}
    places = {session.place(symbol.location) for symbol in found if symbol.name == VHOSTS}
    assert (NODE, VHOSTS) in places and (COMMON, VHOSTS) in places
    node = next(symbol for symbol in found if session.place(symbol.location)[0] == NODE)
    assert node.container_name == f"Node · {NODE}"
    assert await search(session, "qqqqqq") == []


async def test_a_search_sees_what_is_typed(start, repo) -> None:
    session = await start(repo, VSCODE)
    session.open(COMMON)
    session.insert(COMMON, 0, "zanzibar: 1\n")
    assert [symbol.name for symbol in await search(session, "zanz")] == ["zanzibar"]
