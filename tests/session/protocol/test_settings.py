"""Settings from each of their three places, the later winning, and the messages about wrong ones."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest
from lsprotocol import types as lsp

from conftest import EMACS, NEOVIM, VSCODE
from raw import RawServer
from session import Session, plain

COMMON = "data/common.yaml"
ROLE = "data/roles/web.yaml"
NODE = "data/nodes/web-01.oslo.example.net.yaml"
SETTINGS = ".hiera-ls.yaml"
CODE = "alias-not-whole-value"
EFFECT = "setting-without-effect"

Severity = lsp.DiagnosticSeverity


def rule(severity: str) -> dict[str, Any]:
    return {"rules": {CODE: severity}}


def no_configuration(capabilities: lsp.ClientCapabilities) -> None:
    """A client that cannot be asked, as ALE and Kate."""
    capabilities.workspace.configuration = None


def write_settings(root: pathlib.Path, text: str) -> None:
    path = root / SETTINGS
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def break_alias(session: Session) -> None:
    session.open(COMMON)
    break_alias_in_open_file(session)


def break_alias_in_open_file(session: Session) -> None:
    session.replace(COMMON, ("\"%{alias('ntp_servers')}\"", "\"pool %{alias('ntp_servers')}\""))


async def until_severity(session: Session, severity: Severity) -> None:
    def holds() -> bool:
        return [(finding.code, finding.severity) for finding in session.findings(COMMON) or []] == [(CODE, severity)]

    await session.until(f"a finding of severity {severity.name}", holds)


async def test_the_file_of_the_repository(start, repo: pathlib.Path, editor: str) -> None:
    write_settings(repo, f"rules:\n  {CODE}: hint\n")
    session = await start(repo, editor)
    break_alias(session)
    await until_severity(session, Severity.Hint)


async def test_initialization_options(start, repo: pathlib.Path, editor: str) -> None:
    write_settings(repo, f"rules:\n  {CODE}: hint\n")
    session = await start(repo, editor, options=rule("info"), capabilities=no_configuration)
    break_alias(session)
    await until_severity(session, Severity.Information)


async def test_settings_that_the_server_asks_for(start, repo: pathlib.Path, editor: str) -> None:
    write_settings(repo, f"rules:\n  {CODE}: hint\n")
    session = await start(repo, editor, options=rule("info"), configuration=rule("warning"))
    break_alias(session)
    await until_severity(session, Severity.Warning)
    assert session.messages() == []


async def test_a_rule_that_is_off(start, repo: pathlib.Path) -> None:
    session = await start(repo, options=rule("off"), capabilities=no_configuration)
    break_alias(session)
    session.replace(COMMON, ("company: Fjordkaffe", "company: '%{lookup(\"nowhere\")}'"))
    await session.until_codes(COMMON, "unknown-key")


@pytest.mark.parametrize("pushed", [{"hiera": rule("warning")}, rule("warning")])
async def test_settings_that_the_client_pushes(start, repo: pathlib.Path, pushed) -> None:
    """With their section as vscode-languageclient does it, or bare."""
    session = await start(repo, capabilities=no_configuration)
    break_alias(session)
    await until_severity(session, Severity.Error)
    session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(pushed))
    await until_severity(session, Severity.Warning)


async def test_settings_pushed_before_anything_is_open(start, repo: pathlib.Path) -> None:
    """YouCompleteMe's order."""
    session = await start(repo, capabilities=no_configuration)
    session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"hiera": rule("warning")}))
    break_alias(session)
    await until_severity(session, Severity.Warning)


@pytest.mark.parametrize("pushed", [None, {}, {"hiera": {}}, []])
@pytest.mark.parametrize("editor", [VSCODE, NEOVIM, EMACS])
async def test_news_without_settings_are_asked_for(start, repo: pathlib.Path, editor: str, pushed) -> None:
    """VS Code and eglot send a notification without the settings, and the server requests them."""
    session = await start(repo, editor, configuration=rule("warning"))
    break_alias(session)
    await until_severity(session, Severity.Warning)
    session.client.set_configuration(rule("hint"), section="hiera")
    session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(pushed))
    await until_severity(session, Severity.Hint)


async def test_settings_of_other_servers_are_none_of_ours(start, repo: pathlib.Path) -> None:
    """Some clients push everything that they have. That is nothing to complain about."""
    session = await start(repo, capabilities=no_configuration)
    pushed = {"yaml": {"validate": True}, "hiera": rule("warning")}
    session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(pushed))
    break_alias(session)
    await until_severity(session, Severity.Warning)
    assert session.messages() == []


async def test_the_file_of_the_repository_changes(start, repo: pathlib.Path) -> None:
    session = await start(repo)
    break_alias(session)
    await until_severity(session, Severity.Error)
    write_settings(repo, f"rules:\n  {CODE}: hint\n")
    event = lsp.FileEvent(session.uri(SETTINGS), lsp.FileChangeType.Changed)
    session.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
    await until_severity(session, Severity.Hint)


async def test_the_file_of_an_environment_below_the_folder(start, repo: pathlib.Path, editor: str) -> None:
    """As where /etc/puppetlabs/code is opened, or a repository of several control repos."""
    (repo.parent / SETTINGS).write_text(f"rules:\n  {CODE}: info\n", "utf-8")
    session = await start(repo, editor, folders=[repo.parent])
    break_alias(session)
    await until_severity(session, Severity.Information)
    assert (await session.nodes(COMMON)).nodes, "they are named in the file of the environment"
    write_settings(repo, f"rules:\n  {CODE}: hint\n")
    session.save(COMMON)
    await until_severity(session, Severity.Hint)
    assert session.messages() == []


async def test_a_node_to_begin_with(start, repo: pathlib.Path) -> None:
    session = await start(repo, options={"nodes": {"default": "web-01.kyoto.example.net"}})
    session.open(ROLE)
    assert "node web-01.kyoto.example.net" in plain(await session.hover(ROLE, "profile::web::vhosts"))


WRONG = [
    ({"colour": "red"}, "setting 'colour': is not known"),
    ({"diagnostics": {"run": "daily"}}, "setting 'diagnostics.run': must be onType, onSave or off"),
    ({"rules": {"no-such-rule": "off"}}, "setting 'rules.no-such-rule': is not known"),
    ({"rules": {CODE: "loud"}}, f"setting 'rules.{CODE}': must be off, hint, info, warning or error"),
    ({"puppet": {"version": "eight"}}, "setting 'puppet.version': must be 7, 8 or 9"),
    ({"nodes": {"derive": [{"from": "x", "match": "("}]}}, "setting 'nodes.derive': '(' is no regular expression"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
@pytest.mark.parametrize("place", ["options", "configuration", "pushed", "file"])
async def test_a_wrong_setting_is_reported(start, repo: pathlib.Path, place: str, wrong, said: str) -> None:
    right = {"maxFileSize": 1_000_000}
    given = {place: {**wrong, **right}} if place in ("options", "configuration") else {}
    if place == "file":
        (repo / SETTINGS).write_text(json.dumps(wrong), "utf-8")  # JSON is YAML.
    session = await start(repo, **given)
    if place == "pushed":
        session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"hiera": wrong}))
    if place == "file":
        # In the file itself, which is not open; a message would be cut in most editors.
        def found() -> list[str]:
            return [finding.message for finding in session.findings(SETTINGS) or [] if finding.code == EFFECT]

        await session.until("the finding", lambda: [message for message in found() if said in message])
        assert session.messages() == []
        (repo / SETTINGS).write_text("", "utf-8")
        event = lsp.FileEvent(session.uri(SETTINGS), lsp.FileChangeType.Changed)
        session.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
        await session.until("no finding", lambda: found() == [])
        return
    await session.until("the message", lambda: [message for message in session.messages() if said in message])
    # Once, not at every reading.
    session.open(COMMON)
    session.save(COMMON)
    assert await session.hover(COMMON, "company: ") is not None
    assert len(session.messages()) == 1
    assert session.client.messages[0].type == lsp.MessageType.Warning


@pytest.mark.parametrize("nonsense", [7, "hiera", [1], True])
async def test_settings_that_are_no_hash(start, repo: pathlib.Path, nonsense) -> None:
    session = await start(repo, options=nonsense, capabilities=no_configuration)
    session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(nonsense))
    session.open(COMMON)
    assert await session.hover(COMMON, "company: ") is not None


async def test_a_repository_may_not_lead_out_of_itself(start, repo: pathlib.Path) -> None:
    (repo / SETTINGS).write_text("globalHieraConfig: /etc/hiera.yaml\nmodulePath: [/etc]\n", "utf-8")
    session = await start(repo)
    await session.until_codes(SETTINGS, EFFECT, EFFECT)
    assert all("only" in finding.message for finding in session.findings(SETTINGS))


async def test_a_client_that_never_answers(repo: pathlib.Path) -> None:
    """It is asked for settings, for progress and to watch files, and is busy: hovers do not wait for it."""
    server = await RawServer.start()
    capabilities = {
        "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}},
        "window": {"workDoneProgress": True},
    }
    server.send("initialize", {"processId": None, "rootUri": repo.as_uri(), "capabilities": capabilities}, id=0)
    await server.answer(0)
    server.send("initialized", {})
    uri, text = (repo / COMMON).as_uri(), (repo / COMMON).read_text("utf-8")
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
    server.send("textDocument/didOpen", {"textDocument": document})
    line = text[: text.index("company: ")].count("\n")
    server.send("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": 2}}, id=1)
    assert "Fjordkaffe" in (await asyncio.wait_for(server.answer(1), 5))["result"]["contents"]["value"]
    assert "workspace/configuration" in [message.get("method") for message in server.received]
    server.send("shutdown", id=2)
    await server.answer(2)
    server.send("exit")
    assert await server.end() == 0


def run(when: str) -> dict[str, Any]:
    return {"diagnostics": {"run": when}}


def mend_alias(session: Session) -> None:
    session.replace(COMMON, ("\"pool %{alias('ntp_servers')}\"", "\"%{alias('ntp_servers')}\""))


def times_told(session: Session, file: str) -> int:
    def tells(message: dict[str, Any]) -> bool:
        return message.get("method") == lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS and message["params"]["uri"] == session.uri(file)

    return sum(map(tells, session.client.received))


async def test_findings_on_save(start, repo: pathlib.Path, editor: str) -> None:
    """Opening and saving a file publish its findings; typing and other events do not."""
    session = await start(repo, editor, options=run("onSave"))
    session.open(COMMON)
    await session.until_codes(COMMON)
    told = times_told(session, COMMON)
    break_alias_in_open_file(session)
    # A file that is opened starts a round, in which the one with unsaved changes is looked at, too.
    session.open(ROLE)
    await session.until_codes(ROLE)
    assert "node" in plain(await session.hover(ROLE, "profile::web::vhosts"))
    assert times_told(session, COMMON) == told
    session.save(COMMON)
    await until_severity(session, Severity.Error)
    told = times_told(session, COMMON)
    mend_alias(session)
    session.open(NODE)
    await session.until_codes(NODE)
    assert times_told(session, COMMON) == told
    session.save(COMMON)
    await session.until_codes(COMMON)


async def test_what_another_save_found_is_told_with_ones_own(start, repo: pathlib.Path) -> None:
    """A round that another file's save starts checks the unsaved text, too; its findings are published when that text is saved."""
    session = await start(repo, options=run("onSave"))
    session.open(COMMON)
    session.open(ROLE)
    await session.until_codes(COMMON)
    await session.until_codes(ROLE)
    break_alias_in_open_file(session)
    session.replace(ROLE, ("profile::web::vhosts:", "profile::web::guests:"))
    session.insert(ROLE, len(session.text(ROLE)), "asks: \"%{lookup('nowhere')}\"\n")
    session.save(ROLE)
    await session.until_codes(ROLE, "unknown-key")
    assert session.codes(COMMON) == []
    session.save(COMMON)
    await until_severity(session, Severity.Error)


async def test_findings_are_switched_off_and_on(start, repo: pathlib.Path) -> None:
    session = await start(repo, capabilities=no_configuration)
    break_alias(session)
    await until_severity(session, Severity.Error)
    push = session.client.workspace_did_change_configuration
    push(lsp.DidChangeConfigurationParams({"hiera": run("off")}))
    await session.until_codes(COMMON)
    told = times_told(session, COMMON)
    mend_alias(session)
    break_alias_in_open_file(session)
    assert "Fjordkaffe" in plain(await session.hover(COMMON, "company")), "the rest goes on"
    assert times_told(session, COMMON) == told
    push(lsp.DidChangeConfigurationParams({"hiera": run("onType")}))
    await until_severity(session, Severity.Error)


async def test_findings_that_are_off_from_the_start(start, repo: pathlib.Path) -> None:
    session = await start(repo, options=run("off"), capabilities=no_configuration)
    break_alias(session)
    assert "Fjordkaffe" in plain(await session.hover(COMMON, "company"))
    session.save(COMMON)
    assert "Fjordkaffe" in plain(await session.hover(COMMON, "company"))
    assert session.all_codes() == {}


async def test_a_source_of_nodes_that_breaks_later(repo: pathlib.Path) -> None:
    server = await RawServer.start()
    await server.initialize(repo)
    server.send("hiera/nodes", {}, id=1)
    assert len((await server.answer(1))["result"]["nodes"]) == 3
    facts = repo / "spec/facts/db-01.oslo.example.net.json"
    facts.write_text("{")
    server.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": facts.as_uri(), "type": 2}]})
    while (message := await server.read()) and message.get("method") != "window/logMessage":
        pass
    assert message and f"{facts}: no nodes read from it" in message["params"]["message"]
    server.send("shutdown", id=2)
    await server.answer(2)
    server.send("exit")
    assert await server.end() == 0
