"""What a user sees: findings, hover, definition, nodes; as VS Code, Neovim and Emacs ask for them."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types as lsp
from pytest_lsp import client_capabilities

from conftest import CLIENTS, EMACS, NEOVIM, VSCODE
from session import Session, plain, refused

NODE = "data/nodes/web-01.oslo.example.net.yaml"
WEB_CLASS = "site-modules/profile/manifests/web.pp"
KYOTO = "data/nodes/web-01.kyoto.example.net.yaml"
ROLE = "data/roles/web.yaml"
COMMON = "data/common.yaml"
VHOSTS = "profile::web::vhosts"


async def test_initialize(session: Session, editor: str) -> None:
    capabilities = session.result.capabilities
    assert capabilities.text_document_sync.change == lsp.TextDocumentSyncKind.Incremental
    assert capabilities.text_document_sync.open_close
    assert capabilities.position_encoding == {VSCODE: "utf-16", NEOVIM: "utf-8", EMACS: "utf-8"}[editor]
    assert capabilities.workspace.workspace_folders.change_notifications
    assert session.result.server_info.name == "hiera-ls"
    # Findings are pushed: a client that pulled as well would show each twice.
    assert capabilities.diagnostic_provider is None


async def test_findings_appear_and_go(session: Session) -> None:
    session.open(COMMON)
    await session.until_codes(COMMON)
    session.replace(COMMON, ("\"%{alias('ntp_servers')}\"", "\"pool %{alias('ntp_servers')}\""))
    (finding,) = await session.until_codes(COMMON, "alias-not-whole-value")
    assert finding.severity == lsp.DiagnosticSeverity.Error
    assert finding.source == "hiera-ls"
    assert session.text(COMMON).splitlines()[finding.range.start.line].startswith("chrony::servers")
    session.replace(COMMON, ("\"pool %{alias('ntp_servers')}\"", "\"%{alias('ntp_servers')}\""))
    await session.until_codes(COMMON)


async def test_hover_shows_the_value_of_three_levels(session: Session) -> None:
    session.open(NODE)
    hover = await session.hover(NODE, VHOSTS)
    # The node is named, the merge explained, and each of the three levels contributes.
    assert "web-01.oslo.example.net" in hover
    assert "merged deep" in plain(hover)
    for part in ["docroot: /srv/www/shop", "keepalive: 75", "butikk.example.net", "www.example.net", "docroot: /srv/www/status"]:
        assert part in hover, part
    assert "keepalive: 30" not in hover.split("```")[1]
    # Each level is a link to its line.
    for level, file in [("Node", NODE), ("Role", ROLE), ("Common", COMMON)]:
        assert f"[{level}]({session.uri(file)}#L" in hover, file


async def test_hover_follows_the_text_of_the_editor(session: Session) -> None:
    session.open(NODE)
    session.replace(NODE, ("keepalive: 75", "keepalive: 91"))
    assert "keepalive: 91" in await session.hover(NODE, VHOSTS)


async def test_no_hover_between_keys(session: Session) -> None:
    session.open(NODE)
    assert await session.hover(NODE, "# The oldest", 5) is None


async def test_definitions_are_the_places_that_are_merged(session: Session) -> None:
    session.open(NODE)
    found = await session.definition(NODE, VHOSTS)
    assert found == [(file, VHOSTS) for file in (NODE, ROLE, COMMON)]


async def test_implementations_are_all_definitions(session: Session) -> None:
    session.open(NODE)
    found = await session.implementation(NODE, VHOSTS)
    # Behind those of the node come that of another node, and the parameter that takes the key.
    assert found == [*((file, VHOSTS) for file in (NODE, ROLE, COMMON)), (KYOTO, VHOSTS), (WEB_CLASS, "vhosts")]


async def test_a_token_leads_to_the_key_that_it_asks_for(session: Session) -> None:
    session.open(COMMON)
    found = await session.definition(COMMON, "lookup('profile::base::contact')", 10)
    assert found == [(COMMON, "profile::base::contact")]


@pytest.mark.parametrize("linked", [True, False])
async def test_location_or_link(start, repo, linked: bool) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.text_document.definition.link_support = linked

    session = await start(repo, capabilities=announce)
    session.open(NODE)
    position = session.position(NODE, VHOSTS)
    answer = await session.request(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(session.document(NODE), position))
    assert {type(item) for item in answer} == {lsp.LocationLink if linked else lsp.Location}


@pytest.mark.parametrize(
    ("formats", "kind"),
    [
        ([lsp.MarkupKind.Markdown, lsp.MarkupKind.PlainText], lsp.MarkupKind.Markdown),
        ([lsp.MarkupKind.Markdown], lsp.MarkupKind.Markdown),
        # YouCompleteMe's order, and ALE's one format.
        ([lsp.MarkupKind.PlainText, lsp.MarkupKind.Markdown], lsp.MarkupKind.PlainText),
        ([lsp.MarkupKind.PlainText], lsp.MarkupKind.PlainText),
    ],
)
async def test_hover_in_the_format_that_the_client_likes(start, repo, formats, kind) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.text_document.hover.content_format = formats

    session = await start(repo, capabilities=announce)
    session.open(NODE)
    position = session.position(NODE, VHOSTS)
    answer = await session.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(session.document(NODE), position))
    assert answer.contents.kind == kind
    marks = [mark for mark in ("```", "**", "](") if mark in answer.contents.value]
    assert marks == (["```", "**", "]("] if kind == lsp.MarkupKind.Markdown else [])


async def test_nodes_of_a_file(session: Session) -> None:
    session.open(ROLE)
    answer = await session.nodes(ROLE)
    assert sorted(node.name for node in answer.nodes) == ["web-01.kyoto.example.net", "web-01.oslo.example.net"]
    assert (answer.known, answer.selected, answer.inferred.role) == (3, None, "web")
    assert all(node.source.endswith(".json") for node in answer.nodes)
    assert len((await session.nodes()).nodes) == 3


async def test_hover_follows_the_chosen_node(session: Session) -> None:
    session.open(ROLE)
    before = await session.hover(ROLE, VHOSTS)
    assert "role = web" in plain(before)
    assert (await session.select("web-01.kyoto.example.net")).selected == "web-01.kyoto.example.net"
    kyoto = await session.hover(ROLE, VHOSTS)
    assert "node web-01.kyoto.example.net" in plain(kyoto) and "kissaten.example.net" in kyoto
    assert (await session.nodes(ROLE)).selected == "web-01.kyoto.example.net"
    # A node that is not known is an error, and the choice stays.
    assert await refused(session.select("nobody.example.net")) == lsp.ErrorCodes.InvalidParams
    assert await session.hover(ROLE, VHOSTS) == kyoto
    assert (await session.select(None)).selected is None
    assert await session.hover(ROLE, VHOSTS) == before


async def test_encrypted_values_stay_masked(session: Session) -> None:
    """No value that someone encrypted is in anything that is sent."""
    file = "data/secrets/db-01.oslo.example.net.eyaml"
    session.open(file)
    hover = await session.hover(file, "profile::database::owner_password")
    assert "profile::database::owner_password" in plain(hover)
    await session.until_codes(file)
    assert "MIIBiQYJKoZ" not in repr(session.client.received)


async def test_sensitive_values_stay_masked(session: Session) -> None:
    """Nor is one that lookup_options call Sensitive."""
    session.open(COMMON)
    assert "profile::base::console_pin" in plain(await session.hover(COMMON, "profile::base::console_pin: "))
    assert "47kx" not in repr(session.client.received)


async def test_progress_begins_and_ends(session: Session) -> None:
    def finished() -> bool:
        reports = [kind for reports in session.client.progress_reports.values() for kind in reports]
        return any(isinstance(report, lsp.WorkDoneProgressEnd) for report in reports)

    await session.until("the end of the progress", finished)
    ((_, reports),) = session.client.progress_reports.items()
    assert isinstance(reports[0], lsp.WorkDoneProgressBegin)
    assert [type(report) for report in reports[1:-1]] == [lsp.WorkDoneProgressReport] * (len(reports) - 2)


async def test_no_progress_without_its_capability(start, repo) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.window.work_done_progress = None

    session = await start(repo, capabilities=announce)
    session.open(COMMON)
    await session.until_codes(COMMON)
    assert await session.hover(COMMON, "company: ") is not None
    assert not any("rogress" in message.get("method", "") for message in session.client.received)


@pytest.mark.parametrize("editor", CLIENTS)
async def test_two_sessions_do_not_mix(start, repo, editor: str) -> None:
    one, two = await asyncio.gather(start(repo, editor), start(repo, editor))
    one.open(ROLE)
    two.open(ROLE)
    await one.select("web-01.kyoto.example.net")
    assert "node " not in plain(await two.hover(ROLE, VHOSTS))


async def test_a_key_without_a_reader_is_faded_where_the_editor_can(session: Session, editor: str) -> None:
    session.open(COMMON)
    session.replace(COMMON, ("\ncompany:", "\nnever_read: 1\ncompany:"))
    await session.until(
        "unread-key", lambda: any(one.code == "unread-key" for one in session.findings(COMMON) or [])
    )
    tags = {tag for one in session.findings(COMMON) or [] if one.code == "unread-key" for tag in one.tags or []}
    announced = client_capabilities(editor).text_document.publish_diagnostics.tag_support
    assert tags == ({lsp.DiagnosticTag.Unnecessary} if announced else set())
