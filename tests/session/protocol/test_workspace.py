"""Folders and files: which of them belong together, how they are named, and that they change behind the editor's back."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest
from lsprotocol import types as lsp

from conftest import CLIENTS, NEOVIM, VSCODE
from session import Session, plain

NODE = "data/nodes/web-01.oslo.example.net.yaml"
ROLE = "data/roles/web.yaml"
COMMON = "data/common.yaml"
HIERA = "hiera.yaml"
VHOSTS = "profile::web::vhosts"


def set_company(root: pathlib.Path, name: str) -> None:
    common = root / COMMON
    common.write_text(common.read_text("utf-8").replace("company: Fjordkaffe", f"company: {name}"), "utf-8")


async def company(session: Session, file: str) -> str:
    """The value of `company` as a token of the file sees it."""
    return plain(await session.hover(file, "lookup('company')", 9))


async def test_two_folders_side_by_side(start, tmp_path: pathlib.Path, repo: pathlib.Path, editor: str) -> None:
    other = shutil.copytree(repo, tmp_path / "other repo")
    set_company(other, "Kiosken")
    session = await start(tmp_path.resolve(), editor, folders=[repo, other])
    for folder, mine, theirs in [("control-repo", "Fjordkaffe", "Kiosken"), ("other repo", "Kiosken", "Fjordkaffe")]:
        session.open(f"{folder}/{COMMON}")
        session.open(f"{folder}/{NODE}")
        assert mine in await company(session, f"{folder}/{COMMON}")
        assert theirs not in await company(session, f"{folder}/{COMMON}")
        found = await session.definition(f"{folder}/{NODE}", VHOSTS)
        assert found[0] == (f"{folder}/{NODE}", VHOSTS)
        assert {file.split("/")[0] for file, _ in found} == {folder}
        nodes = await session.nodes(f"{folder}/{ROLE}")
        assert sorted({node.name for node in nodes.nodes}) == ["web-01.kyoto.example.net", "web-01.oslo.example.net"]
        await session.until_codes(f"{folder}/{COMMON}")


async def test_folders_come_and_go(start, tmp_path: pathlib.Path, repo: pathlib.Path) -> None:
    other = shutil.copytree(repo, tmp_path / "other")
    set_company(other, "Kiosken")
    session = await start(tmp_path.resolve(), folders=[repo])
    folder = lsp.WorkspaceFolder(other.resolve().as_uri(), "other")
    event = lsp.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    session.client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))
    session.open(f"other/{COMMON}")
    await session.asks_until("its value", lambda: company(session, f"other/{COMMON}"), lambda value: "Kiosken" in value)
    await session.asks_until("six nodes", session.nodes, lambda answer: len(answer.nodes) == 6)
    event = lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folder])
    session.client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))
    await session.asks_until("three nodes", session.nodes, lambda answer: len(answer.nodes) == 3)


async def test_environments_side_by_side(start, tmp_path: pathlib.Path, repo: pathlib.Path, editor: str) -> None:
    """One folder with environments/production and environments/staging, as on a Puppet server."""
    root = tmp_path.resolve() / "code"
    for name, brand in [("production", "Fjordkaffe"), ("staging", "Prøvekaffe")]:
        environment = shutil.copytree(repo, root / "environments" / name)
        set_company(environment, brand)
        (environment / ROLE).write_text((environment / ROLE).read_text("utf-8") + "here: '%{environment}'\n", "utf-8")
    session = await start(root, editor)
    for name, mine, theirs in [("production", "Fjordkaffe", "Prøvekaffe"), ("staging", "Prøvekaffe", "Fjordkaffe")]:
        files = f"environments/{name}"
        for file in (COMMON, ROLE, NODE):
            session.open(f"{files}/{file}")
        assert mine in await company(session, f"{files}/{COMMON}")
        assert theirs not in await company(session, f"{files}/{COMMON}")
        assert f"```yaml\n{name}\n```" in await session.hover(f"{files}/{ROLE}", "here: '")
        found = await session.definition(f"{files}/{NODE}", VHOSTS)
        assert found[0] == (f"{files}/{NODE}", VHOSTS)
        assert {file.split("/")[1] for file, _ in found} == {name}


@pytest.mark.parametrize("below", ["data", "data/nodes", "site-modules/profile", "site-modules/profile/data"])
async def test_a_folder_below_the_environment(start, repo: pathlib.Path, below: str, editor: str) -> None:
    """A module has a hiera.yaml of its own, and a data folder has none; the environment is further up."""
    session = await start(repo, editor, folders=[repo / below])
    assert (await session.nodes()).known == 3  # Also before anything is opened.
    session.open(COMMON)
    assert "Fjordkaffe" in await company(session, COMMON)
    session.open(NODE)
    hover = plain(await session.hover(NODE, VHOSTS))
    for file in (NODE, ROLE, COMMON):
        assert file in hover
    module = "site-modules/profile/data/common.yaml"
    session.open(module)
    hover = plain(await session.hover(module, "profile::web::trusted_proxies"))
    assert "in all 3 known nodes" in hover and "data/sites/oslo/roles/web.yaml" in hover
    for file in (COMMON, NODE, module):
        await session.until_codes(file)


async def test_a_root_and_no_folders(start, repo: pathlib.Path) -> None:
    """As ALE, lsp-mode and Kate begin."""
    session = await start(repo, folders=[], root_uri=repo)
    session.open(NODE)
    assert "keepalive: 75" in await session.hover(NODE, VHOSTS)
    assert (await session.nodes()).known == 3


@pytest.mark.parametrize("file", [NODE, COMMON, "site-modules/profile/data/common.yaml", HIERA])
async def test_no_folder_at_all(start, repo: pathlib.Path, file: str, editor: str) -> None:
    """A single file: the environment that it lies in is found by climbing."""
    session = await start(repo, editor, folders=[])
    session.open(file)
    await session.until_codes(file)
    if file != HIERA:
        needle = {NODE: VHOSTS, COMMON: "company: "}.get(file, "profile::web::trusted_proxies")
        hover = plain(await session.hover(file, needle))
        assert {NODE: ROLE, COMMON: "Fjordkaffe"}.get(file, "data/sites/oslo/roles/web.yaml") in hover
    # Its settings count, too: the nodes come from there.
    assert (await session.nodes()).known == 3


async def test_a_folder_without_hiera(start, tmp_path: pathlib.Path, editor: str) -> None:
    """Whoever opens some other YAML is not to notice that we are there."""
    root = tmp_path.resolve()
    (root / "data").mkdir()
    text = "a: '%{alias(\"x\")} y'\na: 2\nb: [\n"
    for name in ["compose.yaml", "data/common.yaml"]:
        (root / name).write_text(text)
    session = await start(root, editor)
    for name in ["compose.yaml", "data/common.yaml"]:
        session.open(name)
        assert await session.hover(name, "a: ") is None
        assert await session.hover(name, "alias", 3) is None
        assert await session.definition(name, "a: ") == []
        session.replace(name, ("b: [", "b: {"))
        assert await session.hover(name, "a: ") is None
    assert [codes for codes in session.all_codes().values() if codes] == []
    assert (await session.nodes()).nodes == []
    assert session.messages() == []


async def test_other_yaml_of_a_control_repository(session: Session) -> None:
    """Playbooks, CI files and the like are none of our business."""
    session.path(".gitlab-ci.yml").write_text("a: 1\na: '%{alias(\"x\")} y'\n")
    session.open(".gitlab-ci.yml")
    session.open(COMMON)
    assert await session.hover(".gitlab-ci.yml", "a: ") is None
    session.replace(COMMON, ("company: Fjordkaffe", "company: '%{lookup(\"nowhere\")}'"))
    await session.until_codes(COMMON, "unknown-key")
    assert session.codes(".gitlab-ci.yml") in (None, [])


# Files that change on disk


def add_key(session: Session) -> None:
    common = session.path(COMMON)
    common.write_text(common.read_text("utf-8") + "brand_new: from the disk\n", "utf-8")


async def until_noticed(session: Session) -> None:
    def hover() -> Any:
        return session.hover(ROLE, "lookup('brand_new", 9)

    await session.asks_until("the new key", hover, lambda text: "from the disk" in (text or ""))


async def with_a_token_in_vain(start, repo: pathlib.Path, editor: str) -> Session:
    session = await start(repo, editor)
    session.open(ROLE)
    session.insert(ROLE, len(session.text(ROLE)), "asks: \"%{lookup('brand_new')}\"\n")
    await session.until_codes(ROLE, "unknown-key")
    return session


async def test_changes_on_disk_that_the_client_tells(start, repo: pathlib.Path) -> None:
    session = await with_a_token_in_vain(start, repo, VSCODE)
    watched = [registration for registration in session.client.registered if registration.method == lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES]
    assert len(watched) == 1
    add_key(session)
    change = lsp.FileEvent(session.uri(COMMON), lsp.FileChangeType.Changed)
    session.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
    await until_noticed(session)
    await session.until_codes(ROLE)


async def test_changes_on_disk_noticed_by_a_save(start, repo: pathlib.Path, editor: str) -> None:
    session = await with_a_token_in_vain(start, repo, editor)
    if editor == NEOVIM:
        # It watches nothing on Linux, and may not be asked to.
        assert [registration.method for registration in session.client.registered] == []
    add_key(session)
    session.save(ROLE)
    await until_noticed(session)
    await session.until_codes(ROLE)


async def test_changes_on_disk_noticed_by_a_later_request(start, repo: pathlib.Path) -> None:
    """No notification arrives: git has changed the files, and later the user hovers."""
    session = await with_a_token_in_vain(start, repo, NEOVIM)
    add_key(session)

    await until_noticed(session)
    await session.until_codes(ROLE)


async def test_files_that_vanish_and_appear(session: Session) -> None:
    session.open(NODE)
    assert ROLE in plain(await session.hover(NODE, VHOSTS))
    session.path(ROLE).unlink()
    session.save(NODE)
    await session.asks_until("its end", lambda: session.hover(NODE, VHOSTS), lambda text: ROLE not in plain(text))
    session.path(ROLE).write_text("profile::web::vhosts: {shop: {again: yes}}\n")
    session.save(NODE)
    await session.asks_until("it again", lambda: session.hover(NODE, VHOSTS), lambda text: "again: true" in text)


async def test_a_changed_file_under_an_open_one(session: Session) -> None:
    """The editor's text counts, regardless of changes on disk."""
    session.open(COMMON)
    set_company(session.root, "Diskkaffe")
    session.open(ROLE)
    session.save(ROLE)
    assert "Fjordkaffe" in await company(session, COMMON)
    session.close(COMMON)
    session.open(COMMON)
    assert "Diskkaffe" in await company(session, COMMON)


async def test_unsaved_changes_of_the_hierarchy(session: Session) -> None:
    session.open(NODE)
    session.open(HIERA)
    assert ROLE in plain(await session.hover(NODE, VHOSTS))
    session.replace(HIERA, ('path: "roles/%{role}.yaml"', 'path: "rolls/%{role}.yaml"'))
    hover = plain(await session.hover(NODE, VHOSTS))
    assert ROLE not in hover and COMMON in hover
    session.replace(HIERA, ('path: "rolls/%{role}.yaml"', 'path: "roles/%{role}.yaml"'))
    assert ROLE in plain(await session.hover(NODE, VHOSTS))
    session.replace(HIERA, ("version: 5", "version: 4"))
    await session.until("a finding in hiera.yaml", lambda: session.codes(HIERA))
    session.close(HIERA)
    await session.until_codes(HIERA)
    assert ROLE in plain(await session.hover(NODE, VHOSTS))


async def test_a_new_file_that_is_not_saved_yet(session: Session) -> None:
    session.open("data/sites/oslo/roles/db.yaml", "profile::base::contact: from a new file\n")
    hover = await session.hover("data/sites/oslo/roles/db.yaml", "profile::base::contact")
    assert "from a new file" in hover


# Names


@pytest.mark.parametrize("name", ["with space", "100%", "a+b", "%2B", "bjørn 京都", "a#b?c", "[x]{y}", "a;b,c=d&e", "it's", "e\u0301"])
async def test_odd_names_of_folders(start, tmp_path: pathlib.Path, repo: pathlib.Path, name: str) -> None:
    root = tmp_path.resolve() / name
    repo.rename(root)
    session = await start(root)
    session.open(NODE)
    found = await session.definition(NODE, VHOSTS)
    assert [file for file, _ in found[:3]] == [NODE, ROLE, COMMON]
    session.open(COMMON)
    session.replace(COMMON, ("company: Fjordkaffe", "company: '%{lookup(\"nowhere\")}'"))
    await session.until_codes(COMMON, "unknown-key")


@pytest.mark.parametrize("spelling", [
    lambda uri: uri.replace("+", "%2B"),
    lambda uri: uri.replace("+", "%2b").replace("%C3%B8", "%c3%b8"),
    lambda uri: uri.replace("-", "%2D"),
])
async def test_findings_come_in_the_spelling_of_the_client(start, tmp_path: pathlib.Path, repo: pathlib.Path, spelling) -> None:
    """An address can be spelled in many ways. An editor knows its document by the one that it sent."""
    root = tmp_path.resolve() / "ø+b"
    repo.rename(root)
    session = await start(root)
    uri = spelling(session.uri(COMMON))
    text = session.text(COMMON).replace("company: Fjordkaffe", "company: '%{lookup(\"nowhere\")}'")
    session.open(COMMON, text, uri=uri)
    await session.until("the finding", lambda: [finding.code for finding in session.client.diagnostics.get(uri, [])] == ["unknown-key"])
    # And under no other name: the user would see the finding twice.
    assert [other for other, codes in session.all_codes().items() if codes and other != uri] == []


async def test_a_folder_reached_through_a_link(start, tmp_path: pathlib.Path, repo: pathlib.Path) -> None:
    link = tmp_path.resolve() / "link"
    link.symlink_to(repo)
    session = await start(link)
    session.open(NODE)
    assert "keepalive: 75" in await session.hover(NODE, VHOSTS)
    await session.until_codes(NODE)


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/x/data/common.yaml?ref", "vscode-notebook-cell:/a#b", "inmemory://model/1"])
async def test_what_is_no_file_is_left_alone(start, repo: pathlib.Path, uri: str) -> None:
    session = await start(repo)
    session.open(COMMON, "a: 1\na: 2\n", uri=uri)
    position = lsp.TextDocumentIdentifier(uri), lsp.Position(0, 0)
    assert await session.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(*position)) is None
    session.client.text_document_did_close(lsp.DidCloseTextDocumentParams(position[0]))
    session.open(NODE)
    await session.until_codes(NODE)
    assert session.client.diagnostics.get(uri, []) == []


@pytest.mark.parametrize("editor", CLIENTS[:1])
async def test_crlf_bom_and_broken_files(start, repo: pathlib.Path, editor: str) -> None:
    """What is on disk may be anything; the rest of the repository is still there."""
    (repo / "data/os/Debian.yaml").write_bytes(b"\xff\xfe\x00broken")
    (repo / "data/os/RedHat.yaml").write_bytes(b"\xef\xbb\xbfprofile::base::contact: bom\r\n")
    (repo / "data/tenants/press.yaml").write_bytes(b"")
    session = await start(repo, editor)
    session.open(NODE)
    assert "keepalive: 75" in await session.hover(NODE, VHOSTS)
    session.open("data/os/RedHat.yaml")
    assert "bom" in await session.hover("data/os/RedHat.yaml", "profile::base::contact")
