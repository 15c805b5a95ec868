"""Code actions: quick fixes of findings, and refactorings."""

from __future__ import annotations

from lsprotocol import types as lsp

from conftest import VSCODE
from session import Session, offset_of

COMMON = "data/common.yaml"
WRONG = "%{lokup('company')}"


async def actions(session: Session, diagnostic: lsp.Diagnostic, only: list[str] | None = None) -> list[lsp.CodeAction]:
    context = lsp.CodeActionContext([diagnostic], only)
    params = lsp.CodeActionParams(session.document(COMMON), diagnostic.range, context)
    return await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params) or []


async def finding(session: Session) -> lsp.Diagnostic:
    session.open(COMMON)
    await session.until_codes(COMMON)
    session.replace(COMMON, ("\ncompany:", f'\nslip: "{WRONG}"\ncompany:'))
    all = await session.until_codes(COMMON, "unknown-function")
    (found,) = [one for one in all if one.code == "unknown-function"]
    return found


async def test_a_quick_fix_changes_what_the_finding_is_about(session: Session) -> None:
    found = await finding(session)
    action, accept = await actions(session, found, ["quickfix"])
    assert (accept.title, accept.is_preferred) == ("Accept unknown-function here, in a comment", False)
    assert (action.title, action.kind, action.is_preferred) == ("Change to 'lookup'", "quickfix", True)
    assert list(action.diagnostics or []) == [found]
    edits = [edit for change in action.edit.document_changes or [] for edit in change.edits]
    edits += [edit for all in (action.edit.changes or {}).values() for edit in all]
    (edit,) = edits
    text = session.text(COMMON)
    start, end = (offset_of(text, place, session.encoding) for place in (edit.range.start, edit.range.end))
    assert text[:start] + edit.new_text + text[end:] == text.replace(WRONG, "%{lookup('company')}")


async def test_only_kinds_that_the_client_asks_for_are_offered(session: Session) -> None:
    found = await finding(session)
    assert len(await actions(session, found, ["quickfix"])) == 2
    assert [action.kind for action in await actions(session, found, [""])].count("quickfix") == 2
    assert await actions(session, found, ["source.organizeImports"]) == []


async def test_all_safe_fixes_of_a_file_are_one_action(session: Session) -> None:
    session.open(COMMON)
    await session.until_codes(COMMON)
    before = session.text(COMMON)
    session.replace(COMMON, ("\ncompany:", "\ntwice: {a: 1}\ntwice: {a: 1}\ncompany:"))
    all = await session.until_codes(COMMON, "duplicate-key")
    (found,) = [one for one in all if one.code == "duplicate-key"]
    (action,) = await actions(session, found, ["source.fixAll"])
    assert action.kind == "source.fixAll.hiera"
    assert applied(session, action) == {COMMON: before.replace("\ncompany:", "\ntwice: {a: 1}\ncompany:")}


async def test_a_place_without_a_finding_has_no_action(session: Session) -> None:
    session.open(COMMON)
    start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
    params = lsp.CodeActionParams(session.document(COMMON), start, lsp.CodeActionContext([], ["quickfix"]))
    assert not await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params)


ROLE = "data/roles/web.yaml"
POLICY = "profile::web::content_security_policy"
AUTOMATIC, INVOKED = lsp.CodeActionTriggerKind.Automatic, lsp.CodeActionTriggerKind.Invoked


async def refactorings(
    session: Session, file: str, needle: str, only: list[str] | None = None, trigger: lsp.CodeActionTriggerKind = INVOKED
) -> list[lsp.CodeAction]:
    place = session.position(file, needle, len(needle) - 1)
    context = lsp.CodeActionContext([], ["refactor", "source"] if only is None else only, trigger)
    params = lsp.CodeActionParams(session.document(file), lsp.Range(place, place), context)
    return await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params) or []


def applied(session: Session, action: lsp.CodeAction) -> dict[str, str]:
    """The texts of the files that an action changes or creates, as an editor would leave them."""
    edit = action.edit
    assert edit and not (edit.changes and edit.document_changes)
    texts: dict[str, str] = {}
    changes = [(uri, edits) for uri, edits in (edit.changes or {}).items()]
    for change in edit.document_changes or []:
        if isinstance(change, lsp.CreateFile):
            assert not session.path(session.place_of(change.uri)).exists()
            texts[session.place_of(change.uri)] = ""
        else:
            changes.append((change.text_document.uri, change.edits))
    for uri, edits in changes:
        file = session.place_of(uri)
        text = texts[file] if file in texts else session.text(file)
        for one in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
            start, end = (offset_of(text, place, session.encoding) for place in (one.range.start, one.range.end))
            text = text[:start] + one.new_text + text[end:]
        texts[file] = text
    return texts


async def test_the_kinds_of_actions_are_announced(session: Session) -> None:
    kinds = session.result.capabilities.code_action_provider.code_action_kinds
    assert list(kinds) == ["quickfix", "source.fixAll.hiera", "refactor.move", "refactor.override", "refactor.extract", "refactor.inline", "refactor.rewrite", "source.sortKeys"]


async def test_a_key_moves_to_a_level_that_exists(session: Session) -> None:
    session.open(ROLE)
    found = await refactorings(session, ROLE, f"\n{POLICY}", ["refactor.move"])
    assert all(action.kind == "refactor.move" for action in found)
    (move,) = [action for action in found if action.title.startswith(f"Move `{POLICY}` to {COMMON}")]
    before = session.text(ROLE)
    texts = applied(session, move)
    assert set(texts) == {ROLE, COMMON} and f"{POLICY}:" not in texts[ROLE]
    entry = before[before.index(f"{POLICY}:") :].split("\n\n")[0]
    assert entry.strip() in texts[COMMON]


async def test_a_file_is_created_where_the_client_can(session: Session, editor: str) -> None:
    session.open(ROLE)
    await session.select("web-01.kyoto.example.net")
    asked = [await refactorings(session, ROLE, f"\n{POLICY}", trigger=one) for one in (INVOKED, AUTOMATIC)]
    created = [[action for action in found if "the new file" in action.title] for found in asked]
    assert not created[1], "an editor that asks by itself is not told of files to create"
    for action in created[0]:
        texts = applied(session, action)
        (new,) = [file for file in texts if not session.path(file).exists()]
        assert texts[new].startswith("---\n") and f"{POLICY}:" in texts[new]


async def test_a_client_without_file_creation_is_offered_none(start, repo) -> None:
    def without(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.workspace.workspace_edit.resource_operations = []

    session = await start(repo, VSCODE, capabilities=without)
    session.open(ROLE)
    found = await refactorings(session, ROLE, f"\n{POLICY}")
    assert found and not any("new file" in action.title for action in found)


async def test_a_refused_refactoring_tells_its_reason_where_the_client_shows_it(session: Session, editor: str) -> None:
    session.open(COMMON)
    await session.select("web-01.kyoto.example.net")
    found = await refactorings(session, COMMON, "\nprofile::base::console_pin", ["refactor.move"])
    refused = [action.disabled.reason for action in found if action.disabled]
    assert all(action.edit is None for action in found if action.disabled)
    shows = editor == VSCODE
    assert refused == (["the value is Sensitive, and the change would repeat it"] if shows else [])
    assert "47kx" not in str(found)
