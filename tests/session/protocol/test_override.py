"""Override for…: the code action, the list of its targets, and the entries that are written."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types as lsp

from conftest import NEOVIM, VSCODE
from session import Session, offset_of, refused

COMMON, ROLE, NODE = "data/common.yaml", "data/roles/web.yaml", "data/nodes/web-01.oslo.example.net.yaml"
WEB = "web-01.oslo.example.net"
COMMAND = "own.chooseOverride"


def chooses(client: lsp.ClientCapabilities) -> None:
    client.experimental = {"hiera": {"chooseOverride": COMMAND}}
    # As editors/nvim announces it: Neovim itself does not, although it creates files.
    client.workspace.workspace_edit = lsp.WorkspaceEditClientCapabilities(document_changes=True, resource_operations=["create"])


@pytest.fixture(params=[VSCODE, NEOVIM])
async def choosing(request: pytest.FixtureRequest, start: Any, repo: Any) -> Session:
    session = await start(repo, request.param, capabilities=chooses)
    session.open(COMMON)
    return session


async def actions(session: Session, file: str, needle: str) -> list[lsp.CodeAction]:
    place = session.position(file, needle, len(needle) - 1)
    params = lsp.CodeActionParams(session.document(file), lsp.Range(place, place), lsp.CodeActionContext([], ["refactor.override"]))
    return await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params) or []


async def targets(session: Session, needle: str, **more: Any) -> Any:
    place = session.position(COMMON, needle, len(needle) - 1)
    return await session.request("hiera/overrideTargets", {"textDocument": {"uri": session.uri(COMMON)}, "position": place, **more})


async def places(session: Session, needle: str, **more: Any) -> Any:
    place = session.position(COMMON, needle, len(needle) - 1)
    return await session.request("hiera/override", {"textDocument": {"uri": session.uri(COMMON)}, "position": place, **more})


def written(session: Session, edit: Any) -> dict[str, str]:
    """The texts of the files that an edit changes or creates."""
    texts: dict[str, str] = {}
    for change in edit.documentChanges:
        if getattr(change, "kind", None) == "create":
            assert not session.path(session.place_of(change.uri)).exists()
            texts[session.place_of(change.uri)] = ""
            continue
        file = session.place_of(change.textDocument.uri)
        text = texts[file] if file in texts else session.text(file)
        for one in change.edits:
            start, end = (offset_of(text, place, session.encoding) for place in (one.range.start, one.range.end))
            text = text[:start] + one.newText + text[end:]
        texts[file] = text
    return texts


async def test_one_action_has_the_command_of_the_client(choosing: Session) -> None:
    (action,) = await actions(choosing, COMMON, "\ncompany")
    place = choosing.position(COMMON, "\ncompany", len("company"))
    assert (action.title, action.kind) == ("Override `company` for…", "refactor.override")
    assert action.edit is None and action.command.command == COMMAND
    assert action.command.arguments[0] == choosing.uri(COMMON)
    assert action.command.arguments[1] == {"line": place.line, "character": place.character}
    assert await actions(choosing, COMMON, "\nlookup_options") == []


async def test_a_client_without_the_command_has_the_levels_that_are_likely(session: Session) -> None:
    session.open(COMMON)
    await session.select(WEB)
    found = await actions(session, COMMON, "\ncompany")
    assert found and all(action.edit and not action.command for action in found)


async def test_targets_are_files_of_levels_and_nodes(choosing: Session) -> None:
    found = await targets(choosing, "\ncompany")
    assert (found.key, found.nodes, found.areKinds) == ("company", 3, False)
    assert (found.leftOut.files, found.leftOut.nodes) == (0, 0)
    names = [(target.kind, target.name, target.file.path, target.file.exists) for target in found.targets]
    assert ("file", ROLE, ROLE, True) in names and ("node", WEB, NODE, True) in names
    assert {target.value for target in found.targets} == {"Fjordkaffe"}
    assert all(target.stated is None for target in found.targets)
    (role,) = [target.file for target in found.targets if target.name == ROLE]
    assert (role.level, role.readers, choosing.place_of(role.uri)) == ("Role", 2, ROLE)
    (one,) = (await targets(choosing, "\ncompany", filter="WEB-01.osl")).targets
    assert (one.kind, one.name) == ("node", WEB)
    assert await targets(choosing, "\n# ") is None


async def test_a_place_that_has_the_key_is_told(choosing: Session) -> None:
    found = await targets(choosing, "\nprofile::web::vhosts", filter="web-01.oslo")
    (node,) = [target for target in found.targets if target.kind == "node"]
    assert choosing.place_of(node.stated.uri) == NODE and node.file is None
    # The level above is for secrets.
    (place,) = (await places(choosing, "\nprofile::web::vhosts", node=WEB)).places
    assert place.edit is None and place.refused.startswith("one of the two files is for secrets")


async def test_the_entry_of_a_node_and_its_reach(choosing: Session) -> None:
    found = await places(choosing, "\ncompany", node=WEB)
    first, *others = found.places
    assert (found.key, first.path, first.exists, first.readers) == ("company", NODE, True, 1)
    assert first.governs == f"governs 1 of 3 nodes: {WEB}" and first.effect == "changes nothing for the 3 known nodes"
    assert first.remark is None and first.refused is None
    (text,) = written(choosing, first.edit).values()
    assert text.count("\ncompany: Fjordkaffe\n") == 1
    assert ROLE in [place.path for place in others] and not any(place.path.startswith("data/secrets") for place in found.places)
    assert await places(choosing, "\ncompany", node="no-such-node") is None


async def test_the_entry_of_a_new_file_of_a_level(choosing: Session) -> None:
    uri = choosing.uri("data/sites/kyoto/roles/web.yaml")
    (place,) = (await places(choosing, "\ncompany", file=uri)).places
    assert (place.level, place.exists, place.readers) == ("Role at a site", False, 1)
    assert written(choosing, place.edit) == {"data/sites/kyoto/roles/web.yaml": "---\ncompany: Fjordkaffe\n"}
    assert (await places(choosing, "\ncompany", file=choosing.uri("README.md"))).places == []
    outside = choosing.path("").parent / "data/common.yaml"
    assert (await places(choosing, "\ncompany", file=outside.as_uri())).places == []


async def test_either_a_node_or_a_file_must_be_named(choosing: Session) -> None:
    uri = choosing.uri(ROLE)
    assert await refused(places(choosing, "\ncompany")) == -32602
    assert await refused(places(choosing, "\ncompany", node=WEB, file=uri)) == -32602
