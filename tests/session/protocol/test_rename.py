"""Rename, and the question before it."""

from __future__ import annotations

import pathlib

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from conftest import NEOVIM, VSCODE
from session import Session, offset_of, slice_of

COMMON = "data/common.yaml"
BASE = "site-modules/profile/manifests/base.pp"
REQUEST_FAILED = -32803
START = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))


def renamed(session: Session, edit: lsp.WorkspaceEdit) -> dict[str, str]:
    """The texts of the files that an edit changes, after it."""
    changes: list[tuple[str, list[lsp.TextEdit]]] = []
    for change in edit.document_changes or []:
        assert isinstance(change, lsp.TextDocumentEdit)
        changes.append((change.text_document.uri, list(change.edits)))
    changes += [(uri, list(edits)) for uri, edits in (edit.changes or {}).items()]
    texts = {}
    for uri, edits in changes:
        (file, _) = session.place(lsp.Location(uri, START))
        text = session.text(file)
        for one in sorted(edits, key=lambda one: (-one.range.start.line, -one.range.start.character)):
            start, end = (offset_of(text, place, session.encoding) for place in (one.range.start, one.range.end))
            text = text[:start] + one.new_text + text[end:]
        texts[file] = text
    return texts


async def rename(session: Session, file: str, needle: str, new: str, inside: int = 1) -> dict[str, str]:
    params = lsp.RenameParams(session.document(file), session.position(file, needle, inside), new)
    return renamed(session, await session.request(lsp.TEXT_DOCUMENT_RENAME, params))


async def test_a_key_is_renamed_everywhere(session: Session) -> None:
    session.open(COMMON)
    texts = await rename(session, COMMON, "\ncompany:", "firm")
    assert "\nfirm: Fjordkaffe" in texts[COMMON]
    assert "%{lookup('firm')}" in texts[COMMON]
    assert not any("company:" in text or "'company'" in text for text in texts.values())


async def test_a_parameter_is_renamed_in_its_class(session: Session) -> None:
    session.open(COMMON)
    texts = await rename(session, COMMON, "\nprofile::base::prompt:", "profile::base::shell_prompt")
    assert "String[1] $shell_prompt," in texts[BASE]
    assert 'content => "${shell_prompt}\\n"' in texts[BASE]
    assert "\nprofile::base::shell_prompt:" in texts[COMMON]
    session.open(BASE, language="puppet")
    assert await rename(session, BASE, "$prompt", "shell_prompt") == texts


async def test_open_documents_are_edited_in_their_version(session: Session, editor: str) -> None:
    session.open(COMMON)
    session.replace(COMMON, ("company: Fjordkaffe", "company: Kaffe"))
    params = lsp.RenameParams(session.document(COMMON), session.position(COMMON, "\ncompany:", 2), "firm")
    edit = await session.request(lsp.TEXT_DOCUMENT_RENAME, params)
    if edit.document_changes is None:
        # As announced in 0.11, it takes no versions.
        assert editor == NEOVIM and session.uri(COMMON) in edit.changes
        return
    documents = [one.text_document for one in edit.document_changes]
    versions = {session.place(lsp.Location(one.uri, START))[0]: one.version for one in documents}
    assert versions[COMMON] == 2
    assert all(version is None for file, version in versions.items() if file != COMMON)


async def test_a_name_is_prepared(session: Session) -> None:
    session.open(COMMON)
    place = session.position(COMMON, "lookup('company')", 10)
    found = await session.request(lsp.TEXT_DOCUMENT_PREPARE_RENAME, lsp.PrepareRenameParams(session.document(COMMON), place))
    assert found.placeholder == "company"
    assert slice_of(session.text(COMMON), found.range, session.encoding) == "company"
    comment = lsp.PrepareRenameParams(session.document(COMMON), session.position(COMMON, "# What holds", 3))
    assert await session.request(lsp.TEXT_DOCUMENT_PREPARE_RENAME, comment) is None


@pytest.mark.parametrize(
    ("needle", "new", "reason"),
    [
        ("\ncompany:", "domain", "`domain` is already used in"),
        ("\ncompany:", "two words", "no name for a key"),
        ("\nprofile::base::users:", "profile::base::people", "lookup_options matches only one"),
        ("\nprofile::base::prompt:", "profile::web::prompt", "is a parameter of `profile::base`"),
        ('"^profile::.*_password$"', "x", "is a pattern"),
    ],
)
async def test_a_refusal_tells_its_reason(session: Session, needle: str, new: str, reason: str) -> None:
    session.open(COMMON)
    with pytest.raises(JsonRpcException) as refusal:
        await rename(session, COMMON, needle, new, 2)
    assert refusal.value.code == REQUEST_FAILED
    assert reason in refusal.value.message


async def test_a_renamed_data_file_keeps_its_place_in_the_hierarchy(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, capabilities=renames_files)
    [file, folder] = session.result.capabilities.workspace.file_operations.will_rename.filters
    assert (file.pattern.matches, folder.pattern.matches) == (lsp.FileOperationPatternKind.File, lsp.FileOperationPatternKind.Folder)
    moves = [lsp.FileRename(session.uri(COMMON), session.uri("data/shared/all.yaml"))]
    edit = await session.request(lsp.WORKSPACE_WILL_RENAME_FILES, lsp.RenameFilesParams(moves))
    [change] = edit.document_changes
    assert session.place_of(change.text_document.uri) == "hiera.yaml"
    assert [one.new_text.strip("'\"") for one in change.edits] == ["shared/all.yaml"]
    # Variables name the files of a folder: nothing is known to be wrong.
    moves = [lsp.FileRename(session.uri("data/nodes"), session.uri("data/hosts"))]
    assert await session.request(lsp.WORKSPACE_WILL_RENAME_FILES, lsp.RenameFilesParams(moves)) is None


def renames_files(capabilities: lsp.ClientCapabilities) -> None:
    capabilities.workspace.file_operations = lsp.FileOperationClientCapabilities(will_rename=True)
