"""Code actions: quick fixes of findings."""

from __future__ import annotations

from lsprotocol import types as lsp

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
    (action,) = await actions(session, found)
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
    assert len(await actions(session, found, ["quickfix"])) == 1
    assert len(await actions(session, found, [""])) == 1
    assert await actions(session, found, ["refactor"]) == []


async def test_a_place_without_a_finding_has_no_action(session: Session) -> None:
    session.open(COMMON)
    start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
    params = lsp.CodeActionParams(session.document(COMMON), start, lsp.CodeActionContext([]))
    assert not await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params)
