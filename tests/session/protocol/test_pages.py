"""What the server has of version 3.18: pages that a client shows as documents, for clients that announce them."""

from __future__ import annotations

import pathlib
from typing import Any
from urllib.parse import quote

from lsprotocol import types as lsp

from conftest import VSCODE
from session import Session, refused

COMMON = "data/common.yaml"
NODE = "data/nodes/web-01.oslo.example.net.yaml"
VHOSTS = "profile::web::vhosts"
SHOW = "hiera.showPage"


def shows_pages(client: lsp.ClientCapabilities) -> None:
    assert client.workspace and client.window
    client.workspace.text_document_content = lsp.TextDocumentContentClientCapabilities()
    client.window.show_document = lsp.ShowDocumentClientCapabilities(support=True)


def has_own_commands(client: lsp.ClientCapabilities) -> None:
    shows_pages(client)
    client.experimental = {"hiera": {"hoverActions": {"explain": "command:own.explain"}}}


def documents_actions(client: lsp.ClientCapabilities) -> None:
    shows_pages(client)
    assert client.text_document and client.text_document.code_action
    client.text_document.code_action.documentation_support = True


def takes_snippets(client: lsp.ClientCapabilities) -> None:
    assert client.workspace and client.workspace.workspace_edit
    client.workspace.workspace_edit.snippet_edit_support = True


async def page(session: Session, address: str, file: str | None = None) -> str:
    uri = f"hiera:/{address}" + (f"?{quote(session.uri(file), safe=':')}" if file else "")
    answer = await session.request(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT, lsp.TextDocumentContentParams(uri))
    return answer.text


async def actions(session: Session, file: str, at: str) -> list[lsp.CodeAction]:
    place = session.position(file, at)
    context = lsp.CodeActionContext([], ["hiera.show"], lsp.CodeActionTriggerKind.Invoked)
    params = lsp.CodeActionParams(session.document(file), lsp.Range(place, place), context)
    return await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params) or []


async def test_a_client_without_documents_of_a_server_has_no_pages(session: Session) -> None:
    capabilities = session.result.capabilities
    assert capabilities.workspace.text_document_content is None
    assert capabilities.execute_command_provider is None
    assert "hiera.show" not in capabilities.code_action_provider.code_action_kinds
    session.open(COMMON)
    assert await actions(session, COMMON, "ntp_servers") == []
    assert await refused(session.request("workspace/executeCommand", lsp.ExecuteCommandParams(SHOW, ["hiera:/reach.txt"]))) == -32602


async def test_pages_are_the_answers_of_the_requests(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=shows_pages)
    assert list(session.result.capabilities.workspace.text_document_content.schemes) == ["hiera"]
    document = {"textDocument": {"uri": session.uri(COMMON)}}
    assert await page(session, f"explain/{VHOSTS}.txt", COMMON) == (await session.request("hiera/explain", {**document, "key": VHOSTS})).text
    assert await page(session, "effective.yaml", COMMON) == (await session.request("hiera/effectiveData", document)).text
    assert await page(session, "governing.txt") == (await session.request("hiera/config", {})).text
    assert await page(session, "reach.txt") == (await session.request("hiera/reach", {})).text
    await session.select("web-01.oslo.example.net")
    chosen = (await session.request("hiera/effectiveData", document)).text
    await session.select(None)
    assert await page(session, "effective/web-01.oslo.example.net.yaml") == chosen
    levels = await page(session, f"hierarchy/{VHOSTS}.txt", NODE)
    assert levels.startswith(f"{VHOSTS}\nnode web-01.oslo.example.net\n\nSecrets of a node "), levels
    assert f"{NODE}:3 " in levels and "has the key; the value comes from it" in levels
    assert "has the key" not in await page(session, "hierarchy.txt", NODE)
    # Without a file, any node is meant.
    assert (await page(session, "explain/ntp_servers.txt")).startswith("ntp_servers\nfor any node\n")
    assert (await page(session, "refactorings.md")).startswith("# Refactorings\n")


async def test_a_page_without_a_subject(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=shows_pages)
    for address in ["", "nothing.txt", "explain/a..b.txt", "explain/a.yaml"]:
        assert await refused(page(session, address)) == -32602, address
    assert (await page(session, "effective/nowhere.yaml")).startswith("# No node 'nowhere' is known.")
    assert (await page(session, "explain/a.txt", "README.md")).startswith("No level can read this file")


async def test_a_page_that_changes_is_requested_again(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=shows_pages)
    asked: list[str] = []
    session.client.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)(lambda params: asked.append(params.uri))
    session.open(COMMON)
    await session.until_codes(COMMON)
    before = await page(session, "explain/company.txt")
    assert "Fjordkaffe" in before
    session.replace(COMMON, ("company: Fjordkaffe", "company: Havn"))
    await session.until("a refresh", lambda: asked == ["hiera:/explain/company.txt"])
    assert "Havn" in await page(session, "explain/company.txt")
    await session.select("web-01.oslo.example.net")
    await session.until("a refresh for the chosen node", lambda: len(asked) == 2)
    # The client has closed it, and does not request it again: it is asked for once.
    session.replace(COMMON, ("company: Havn", "company: Fjord"))
    session.replace(COMMON, ("company: Fjord", "company: Fjordkaffe"))
    await page(session, "hierarchy.txt", COMMON)
    session.replace(COMMON, ("company: Fjordkaffe", "company: Havn"))
    await session.until("a refresh of the other page", lambda: any("hierarchy" in uri for uri in asked))
    assert len([uri for uri in asked if "explain" in uri]) == 2, asked


async def test_actions_show_pages(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=shows_pages)
    assert list(session.result.capabilities.execute_command_provider.commands) == [SHOW]
    assert "hiera.show" in session.result.capabilities.code_action_provider.code_action_kinds
    session.open(NODE)
    found = await actions(session, NODE, VHOSTS)
    titles = [action.title for action in found]
    assert titles == [f"Explain the lookup of '{VHOSTS}'", f"Show the hierarchy with '{VHOSTS}'", "Show all keys with their effective values"]
    for action in found:
        assert action.kind == "hiera.show" and action.command.command == SHOW
        shown = len(session.client.shown_documents)
        await session.request("workspace/executeCommand", lsp.ExecuteCommandParams(SHOW, action.command.arguments))
        await session.until("the document", lambda: len(session.client.shown_documents) > shown)
        asked = session.client.shown_documents[-1]
        assert asked.uri == action.command.arguments[0] and not asked.external
        answer = await session.request(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT, lsp.TextDocumentContentParams(asked.uri))
        assert "web-01.oslo.example.net" in answer.text
    for wrong in [[], ["file:///etc/passwd"], ["https://example.net/"], ["hiera:/nothing"], [1]]:
        assert await refused(session.request("workspace/executeCommand", lsp.ExecuteCommandParams(SHOW, wrong))) == -32602, wrong
    assert len(session.client.shown_documents) == 3


async def test_a_client_with_its_own_commands_has_no_such_actions(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=has_own_commands)
    assert "hiera.show" not in session.result.capabilities.code_action_provider.code_action_kinds
    session.open(NODE)
    assert await actions(session, NODE, VHOSTS) == []
    assert "web-01" in await page(session, f"explain/{VHOSTS}.txt", NODE)


async def test_kinds_of_actions_have_documentation(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=documents_actions)
    documentation = session.result.capabilities.code_action_provider.documentation
    assert [one.kind for one in documentation] == ["refactor", "quickfix"]
    for one in documentation:
        await session.request("workspace/executeCommand", lsp.ExecuteCommandParams(one.command.command, one.command.arguments))
        (address,) = one.command.arguments
        await session.until("the page", lambda: session.client.shown_documents and session.client.shown_documents[-1].uri == address)
        assert (await page(session, address.removeprefix("hiera:/"))).startswith("# ")
    session = await start(repo, VSCODE, capabilities=shows_pages)
    assert session.result.capabilities.code_action_provider.documentation is None


async def extraction(session: Session) -> lsp.CodeAction:
    text = session.text(COMMON)
    session.open(COMMON, text + "first: {a: [x, y]}\nsecond: {a: [x, y]}\n")
    place = session.position(COMMON, "{a: [x, y]}")
    context = lsp.CodeActionContext([], ["refactor.extract"], lsp.CodeActionTriggerKind.Invoked)
    params = lsp.CodeActionParams(session.document(COMMON), lsp.Range(place, place), context)
    (action,) = await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params)
    return action


async def test_the_name_of_an_extracted_key_is_filled_in(start: Any, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=takes_snippets)
    (change,) = (await extraction(session)).edit.document_changes
    values = [edit.snippet.value for edit in change.edits]
    assert sorted(values) == [" \"%{alias('${1:shared_first}')\\}\""] * 2 + ["${1:shared_first}: {a: [x, y]\\}\n"]
    assert all(edit.snippet.kind == "snippet" for edit in change.edits)
    # To others the same edits are texts.
    session = await start(repo, VSCODE)
    edit = (await extraction(session)).edit
    texts = [one.new_text for change in edit.document_changes or [] for one in change.edits]
    texts += [one.new_text for changes in (edit.changes or {}).values() for one in changes]
    assert [value.replace("${1:", "", 1).replace("\\}", "\0").replace("}", "", 1).replace("\0", "}") for value in values] == texts


async def test_a_lens_has_its_places_as_a_tooltip(start: Any, repo: pathlib.Path) -> None:
    for announced, expected in [(takes_snippets, True), (lambda client: None, False)]:
        session = await start(repo, VSCODE, capabilities=announced)
        session.open(COMMON)
        lenses = await session.request(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensParams(session.document(COMMON)))
        resolved = [await session.request(lsp.CODE_LENS_RESOLVE, lens) for lens in lenses]
        tooltips = [lens.command.tooltip for lens in resolved if lens.command.tooltip]
        assert bool(tooltips) == expected
        assert all(":" in line for tooltip in tooltips for line in tooltip.splitlines())
