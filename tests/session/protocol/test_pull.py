"""Findings for clients that request them: by document, by workspace, and after a refresh request of the server. Never also pushed."""

from __future__ import annotations

import asyncio
import json
import pathlib
import subprocess
from typing import Any

import pytest
from lsprotocol import types as lsp

from conftest import CLIENTS, EMACS, NEOVIM, VSCODE
from session import PATIENCE, SERVER, Session

COMMON = "data/common.yaml"
NODE = "data/nodes/web-01.oslo.example.net.yaml"
ROLE = "data/roles/web.yaml"
PUBLISH = lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS


def pulls(capabilities: lsp.ClientCapabilities) -> None:
    """As vscode-languageclient 9 to 11 announces it."""
    capabilities.text_document.diagnostic = lsp.DiagnosticClientCapabilities(dynamic_registration=True, related_document_support=False)
    capabilities.workspace.diagnostics = lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)


def pulls_related(capabilities: lsp.ClientCapabilities) -> None:
    pulls(capabilities)
    capabilities.text_document.diagnostic.related_document_support = True


async def document(session: Session, file: str, previous: str | None = None) -> Any:
    params = lsp.DocumentDiagnosticParams(session.document(file), previous_result_id=previous)
    return await session.request(lsp.TEXT_DOCUMENT_DIAGNOSTIC, params)


async def workspace(session: Session, previous: dict[str, str] | None = None, token: str | None = None) -> Any:
    known = [lsp.PreviousResultId(uri, value) for uri, value in (previous or {}).items()]
    params = lsp.WorkspaceDiagnosticParams(known, partial_result_token=token)
    return await session.request(lsp.WORKSPACE_DIAGNOSTIC, params)


def codes(report: Any) -> list[Any]:
    return [item.code for item in report.items]


def methods(session: Session) -> list[Any]:
    return [message.get("method") for message in session.client.received]


def result_ids(report: Any) -> dict[str, str]:
    return {item.uri: item.result_id for item in report.items}


@pytest.mark.parametrize("editor", CLIENTS)
async def test_editors_get_findings_one_way(start, repo: pathlib.Path, editor: str) -> None:
    """Neovim 0.11 requests findings, but does not support the refresh request that an edit needs which changes those of other files."""
    session = await start(repo, editor)
    assert session.result.capabilities.diagnostic_provider is None
    session.open(COMMON)
    session.insert(COMMON, len(session.text(COMMON)), "told: \"%{lookup('nowhere')}\"\n")
    await session.until("findings", lambda: "unknown-key" in [finding.code for finding in session.findings(COMMON) or []])


@pytest.mark.parametrize("announce", [pulls, pulls_related])
@pytest.mark.parametrize("editor", [VSCODE, NEOVIM, EMACS])
async def test_a_client_that_asks_is_sent_none(start, repo: pathlib.Path, editor: str, announce) -> None:
    session = await start(repo, editor, capabilities=announce)
    provider = session.result.capabilities.diagnostic_provider
    assert provider.inter_file_dependencies and provider.workspace_diagnostics
    session.open(COMMON)
    session.insert(COMMON, len(session.text(COMMON)), "told: \"%{lookup('nowhere')}\"\n")
    report = await document(session, COMMON)
    assert report.kind == "full" and "unknown-key" in codes(report)
    same = await document(session, COMMON, report.result_id)
    assert (same.kind, same.result_id) == ("unchanged", report.result_id)
    session.replace(COMMON, ("nowhere", "company"))
    other = await document(session, COMMON, report.result_id)
    assert other.kind == "full" and codes(other).count("unknown-key") == codes(report).count("unknown-key") - 1
    session.close(COMMON)
    await workspace(session)
    assert PUBLISH not in methods(session)


def pages(capabilities: lsp.ClientCapabilities) -> None:
    capabilities.experimental = {"hiera": {"rulePages": "own-pages:/{code}.md"}}
    capabilities.text_document.publish_diagnostics.code_description_support = True


def pages_and_pulls(capabilities: lsp.ClientCapabilities) -> None:
    pages(capabilities)
    pulls(capabilities)


def pages_that_are_not_shown(capabilities: lsp.ClientCapabilities) -> None:
    pages(capabilities)
    capabilities.text_document.publish_diagnostics.code_description_support = False


@pytest.mark.parametrize("announce", [pages, pages_and_pulls])
async def test_a_finding_leads_to_the_page_of_its_rule(start, repo: pathlib.Path, editor: str, announce) -> None:
    session = await start(repo, editor, capabilities=announce)
    session.open(COMMON, session.text(COMMON) + "told: \"%{lookup('nowhere')}\"\ntold: 1\n")
    if announce is pages_and_pulls:
        found = (await document(session, COMMON)).items
    else:
        found = await session.until("findings", lambda: session.findings(COMMON))
    told = {finding.code: finding.code_description.href for finding in found}
    assert told == {code: f"own-pages:/{code}.md" for code in told} and {"unknown-key", "duplicate-key"} <= set(told)


@pytest.mark.parametrize("announce", [lambda capabilities: None, pages_that_are_not_shown])
async def test_no_page_is_named_to_a_client_that_opens_none(start, repo: pathlib.Path, editor: str, announce) -> None:
    session = await start(repo, editor, capabilities=announce)
    session.open(COMMON, session.text(COMMON) + "told: \"%{lookup('nowhere')}\"\n")
    found = await session.until("findings", lambda: session.findings(COMMON))
    assert found and all(finding.code_description is None for finding in found)


async def test_an_edit_elsewhere_has_the_client_ask_again(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=pulls)
    session.open(ROLE, session.text(ROLE) + "\nasks: \"%{lookup('brand_new_key')}\"\n")
    session.open(COMMON)
    before = await document(session, ROLE)
    assert "unknown-key" in codes(before)
    await document(session, COMMON)
    session.insert(COMMON, len(session.text(COMMON)), "brand_new_key: 1\n")
    await document(session, COMMON)
    refresh = lsp.WORKSPACE_DIAGNOSTIC_REFRESH
    await session.until("a request to ask again", lambda: refresh in methods(session))
    after = await document(session, ROLE, before.result_id)
    assert after.kind == "full" and "unknown-key" not in codes(after)


async def test_the_workspace_has_the_findings_of_check(start, repo: pathlib.Path) -> None:
    (repo / ROLE).write_text("asks: \"%{lookup('nowhere_at_all')}\"\nasks: 1\n", encoding="utf-8")
    (repo / NODE).write_text("profile::web::prot: 1\nbroken: [", encoding="utf-8")
    session = await start(repo, VSCODE, capabilities=pulls)
    report = await workspace(session)
    found = {session.place_of(item.uri): sorted(codes(item)) for item in report.items if item.items}
    checked = subprocess.run([SERVER[0], "check", "--format", "jsonl", str(repo)], capture_output=True, text=True, check=False)
    expected: dict[str, list[str]] = {}
    for line in checked.stdout.splitlines():
        finding = json.loads(line)
        name = pathlib.Path(finding["path"])
        expected.setdefault((name.relative_to(repo) if name.is_absolute() else name).as_posix(), []).append(finding["code"])
    assert found == {name: sorted(all_) for name, all_ in expected.items()} and {ROLE, NODE} <= set(found)


async def test_the_workspace_is_answered_when_something_is_other(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=pulls)
    known = result_ids(await workspace(session))
    waiting = asyncio.ensure_future(workspace(session, known))
    await session.hover(COMMON, "company: ")
    assert not waiting.done()
    session.path(ROLE).write_text(session.text(ROLE) + "\nasks: \"%{lookup('nowhere_at_all')}\"\n", encoding="utf-8")
    session.open(COMMON)
    session.save(COMMON)
    report = await asyncio.wait_for(waiting, PATIENCE)
    assert [session.place_of(item.uri) for item in report.items] == [ROLE]
    assert "unknown-key" in codes(report.items[0])
    # After another fix, its report has the remaining findings.
    known |= result_ids(report)
    session.path(ROLE).write_text("", encoding="utf-8")
    session.save(COMMON)
    report = await workspace(session, known)
    assert ROLE in [session.place_of(item.uri) for item in report.items]
    assert "unknown-key" not in [code for item in report.items if session.place_of(item.uri) == ROLE for code in codes(item)]


async def test_a_closed_file_keeps_its_findings(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=pulls)
    session.path(ROLE).write_text("asks: \"%{lookup('nowhere_at_all')}\"\n", encoding="utf-8")
    session.open(ROLE)
    assert "unknown-key" in codes(await document(session, ROLE))
    session.close(ROLE)
    report = await workspace(session)
    assert {session.place_of(item.uri): codes(item) for item in report.items}[ROLE].count("unknown-key") == 1


async def test_configs_come_with_the_document(start, repo: pathlib.Path) -> None:
    (repo / "hiera.yaml").write_text((repo / "hiera.yaml").read_text(encoding="utf-8") + "version: 5\n", encoding="utf-8")
    session = await start(repo, VSCODE, capabilities=pulls_related)
    session.open(COMMON)
    report = await document(session, COMMON)
    related = {session.place_of(uri): kind for uri, kind in report.related_documents.items()}
    assert "duplicate-key" in codes(related["hiera.yaml"])
    session = await start(repo, VSCODE, capabilities=pulls)
    session.open(COMMON)
    assert (await document(session, COMMON)).related_documents is None


async def test_many_findings_come_in_parts(start, repo: pathlib.Path) -> None:
    for n in range(250):
        (repo / f"data/nodes/many-{n}.yaml").write_text("asks: \"%{lookup('nowhere_at_all')}\"\n", encoding="utf-8")
    session = await start(repo, VSCODE, capabilities=pulls)
    report = await workspace(session, token="parts")
    assert not report.items
    parts = [message["params"]["value"]["items"] for message in session.client.received
             if message.get("method") == "$/progress" and message["params"]["token"] == "parts"]
    assert len(parts) > 2 and max(map(len, parts)) <= 100
    files = [item["uri"] for part in parts for item in part]
    assert len(files) == len(set(files)) and sum("many-" in uri for uri in files) == 250


async def test_findings_of_unsaved_text_wait_for_the_save(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=pulls, options={"diagnostics": {"run": "onSave"}})
    session.open(ROLE)
    before = await document(session, ROLE)
    session.insert(ROLE, 0, "asks: \"%{lookup('nowhere_at_all')}\"\n")
    assert (await document(session, ROLE, before.result_id)).kind == "unchanged"
    session.save(ROLE)
    await session.until("a request to ask again", lambda: lsp.WORKSPACE_DIAGNOSTIC_REFRESH in methods(session))
    assert "unknown-key" in codes(await document(session, ROLE, before.result_id))


async def test_none_where_findings_are_off(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=pulls, options={"diagnostics": {"run": "off"}})
    session.open(COMMON)
    session.insert(COMMON, len(session.text(COMMON)), "told: \"%{lookup('nowhere')}\"\n")
    assert codes(await document(session, COMMON)) == []


async def test_a_watched_change_of_a_closed_file_reaches_both_kinds_of_requests(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=pulls)
    session.open(ROLE, session.text(ROLE) + "\nasks: \"%{lookup('brand_new_key')}\"\n")
    before = await document(session, ROLE)
    assert "unknown-key" in codes(before)
    known = result_ids(await workspace(session))
    waiting = asyncio.ensure_future(workspace(session, known))
    path = session.path(COMMON)
    path.write_text(path.read_text(encoding="utf-8") + "\nbrand_new_key: 1\nbrand_new_key: 2\n", encoding="utf-8")
    change = lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Changed)
    session.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
    found: dict[str, list[Any]] = {}
    while COMMON not in found:  # The findings of the open file may be there before, and are an answer.
        report = await asyncio.wait_for(waiting, PATIENCE)
        found |= {session.place_of(item.uri): codes(item) for item in report.items if item.kind == "full"}
        known |= result_ids(report)
        waiting = asyncio.ensure_future(workspace(session, known))
    waiting.cancel()
    assert "duplicate-key" in found[COMMON]
    refresh = lsp.WORKSPACE_DIAGNOSTIC_REFRESH
    await session.until("a request to ask again", lambda: refresh in methods(session))
    assert "unknown-key" not in codes(await document(session, ROLE, before.result_id))
