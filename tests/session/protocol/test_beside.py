"""Words beside the text: inlay hints and lenses, each with its switch, and when clients are to ask again."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from conftest import NEOVIM, VSCODE
from session import Session, offset_of

NODE = "data/nodes/web-01.oslo.example.net.yaml"
COMMON = "data/common.yaml"
ROLE = "data/roles/web.yaml"
NAME = "web-01.oslo.example.net"
VHOSTS = "profile::web::vhosts"


async def hints(session: Session, file: str) -> dict[str, str]:
    """The hints of a file, by the end of the text before each."""
    end = lsp.Position(session.text(file).count("\n"), 0)
    params = lsp.InlayHintParams(session.document(file), lsp.Range(lsp.Position(0, 0), end))
    found = await session.request(lsp.TEXT_DOCUMENT_INLAY_HINT, params) or []
    text = session.text(file)

    def before(position: lsp.Position) -> str:
        return text[: offset_of(text, position, session.encoding)].split()[-1].lstrip('"')

    return {before(hint.position): hint.label for hint in found}


async def lenses(session: Session, file: str) -> list[lsp.CodeLens]:
    params = lsp.CodeLensParams(session.document(file))
    found = await session.request(lsp.TEXT_DOCUMENT_CODE_LENS, params) or []
    assert all(lens.command is None and lens.data for lens in found), "their texts are made when they are seen"
    return [await session.request(lsp.CODE_LENS_RESOLVE, lens) for lens in found]


def by_line(session: Session, file: str, found: list[lsp.CodeLens]) -> dict[str, list[str]]:
    lines = session.text(file).split("\n")
    titles: dict[str, list[str]] = {}
    for lens in found:
        titles.setdefault(lines[lens.range.start.line].split(": ")[0].rstrip(":"), []).append(lens.command.title)
    return titles


EACH = {"codeLens": {"allOverrides": True}}


def shows_places(capabilities: lsp.ClientCapabilities) -> None:
    capabilities.experimental = {"hiera": {"showPlaces": "client.show"}}


async def test_tokens_have_values_behind_them(session: Session) -> None:
    await session.select(NAME)
    found = await hints(session, COMMON)
    assert found["drift@%{lookup('domain')}"] == "= example.net"
    assert found["%{scope('role')}"] if "%{scope('role')}" in found else found["%{scope('role')}@%{site}"]


async def test_hints_follow_the_text_and_the_node(session: Session) -> None:
    session.open(COMMON)
    session.replace(COMMON, ("domain: example.net", "domain: fjord.example"))
    await session.select(NAME)
    assert (await hints(session, COMMON))["drift@%{lookup('domain')}"] == "= fjord.example"
    before = await hints(session, COMMON)
    await session.select("db-01.oslo.example.net")
    assert await hints(session, COMMON) != before


async def test_hints_tell_no_secret(session: Session) -> None:
    session.open(COMMON)
    session.insert(COMMON, 0, "told: \"%{lookup('profile::base::console_pin')}\"\n")
    await session.select(NAME)
    assert "%{lookup('profile::base::console_pin')}" not in await hints(session, COMMON)
    assert "47kx" not in repr(session.client.received)


async def test_switches(start, repo) -> None:
    options = {
        "inlayHints": {"tokenValues": False, "parameterTypes": True},
        "codeLens": {"overrides": False, "readers": True, "nodes": True},
    }
    session = await start(repo, VSCODE, options=options)
    found = await hints(session, ROLE)
    assert found and not any(label.startswith("=") for label in found.values())
    titles = [lens.command.title for lens in await lenses(session, ROLE)]
    assert "read by profile::web" in titles
    assert any(title.endswith("nodes") for title in titles)
    assert not any("overrid" in title or "merged" in title for title in titles)


async def test_lenses_name_the_levels_that_a_key_meets(start, repo) -> None:
    # By itself a merge as the hierarchy has it is no news.
    quiet = await start(repo, VSCODE, capabilities=shows_places)
    await quiet.select(NAME)
    assert VHOSTS not in by_line(quiet, NODE, await lenses(quiet, NODE))
    session = await start(repo, VSCODE, capabilities=shows_places, options=EACH)
    await session.select(NAME)
    found = await lenses(session, NODE)
    titles = by_line(session, NODE, found)
    assert titles[VHOSTS] == ["merged with data/roles/web.yaml, data/common.yaml"]
    lens = next(lens for lens in found if lens.command.title == titles[VHOSTS][0])
    assert lens.command.command == "client.show"
    uri, position, locations = lens.command.arguments
    assert uri == session.uri(NODE)
    places = {session.place_of(place_["uri"] if isinstance(place_, dict) else place_.uri) for place_ in locations}
    assert {NODE, ROLE, COMMON} <= places


async def test_lenses_do_nothing_for_clients_that_show_no_places(start, repo) -> None:
    session = await start(repo, NEOVIM, options=EACH)
    found = await lenses(session, NODE)
    assert found and all(lens.command.command == "" and lens.command.title for lens in found)


async def test_clients_are_told_to_ask_again(start, repo) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.workspace.inlay_hint = lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        capabilities.workspace.code_lens = lsp.CodeLensWorkspaceClientCapabilities(refresh_support=True)

    session = await start(repo, VSCODE, capabilities=announce)

    def refreshed() -> int:
        methods: list[Any] = [message.get("method") for message in session.client.received]
        return methods.count(lsp.WORKSPACE_CODE_LENS_REFRESH)

    await session.until("the lenses of what was read", refreshed)
    before = refreshed()
    await session.select(NAME)
    await session.until("lenses for the node", lambda: refreshed() > before)
    before = refreshed()
    session.path(COMMON).write_text("company: Fjord\n", encoding="utf-8")
    session.open(NODE)
    session.save(NODE)
    await session.until("lenses for what is on disk", lambda: refreshed() > before)


async def test_no_client_is_asked_that_does_not_announce_it(start, repo) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        for name in ("inlay_hint", "code_lens", "semantic_tokens"):
            setattr(capabilities.workspace, name, None)

    session = await start(repo, VSCODE, capabilities=announce)
    await session.select(NAME)
    await hints(session, COMMON)
    assert not [message for message in session.client.received if message.get("method", "").endswith("/refresh")]
