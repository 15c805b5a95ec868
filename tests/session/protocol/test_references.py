"""References and document highlight, over data, options and code."""

from __future__ import annotations

from lsprotocol import types as lsp

from session import Session, slice_of

NODE = "data/nodes/web-01.oslo.example.net.yaml"
ROLE = "data/roles/web.yaml"
COMMON = "data/common.yaml"
BASE = "site-modules/profile/manifests/base.pp"


async def references(session: Session, file: str, needle: str, inside: int = 1, declarations: bool = True) -> list[tuple[str, str]]:
    params = lsp.ReferenceParams(
        context=lsp.ReferenceContext(include_declaration=declarations),
        text_document=session.document(file),
        position=session.position(file, needle, inside),
    )
    found = await session.request(lsp.TEXT_DOCUMENT_REFERENCES, params) or []
    return [session.place(one) for one in found]


async def test_a_key_has_definitions_and_tokens(session: Session) -> None:
    session.open(COMMON)
    found = await references(session, COMMON, "\ncompany:")
    assert (COMMON, "company") in found
    uses = await references(session, COMMON, "\ncompany:", declarations=False)
    assert uses and len(uses) < len(found)
    # From a token the same places are found.
    assert await references(session, COMMON, "lookup('company')", 10) == found


async def test_a_parameter_has_references_in_code(session: Session) -> None:
    session.open(COMMON)
    key = "profile::base::motd"
    found = await references(session, COMMON, f"\n{key}:")
    assert (BASE, "motd") in found
    assert (COMMON, key) in found
    session.open(BASE, language="puppet")
    assert await references(session, BASE, "$motd", 2) == found


async def test_options_that_match_are_references(session: Session) -> None:
    session.open(COMMON)
    found = await references(session, COMMON, "\nprofile::base::users:")
    assert (COMMON, '"^profile::\\\\w+::users$"') in found


async def test_an_unsaved_edit_counts(session: Session) -> None:
    session.open(COMMON)
    before = await references(session, COMMON, "\ndomain:")
    session.replace(COMMON, ("\ncompany: Fjordkaffe", "\ncompany: \"%{lookup('domain')}\""))
    assert len(await references(session, COMMON, "\ndomain:")) == len(before) + 1


async def test_highlights_tell_definitions_from_uses(session: Session) -> None:
    session.open(COMMON)
    params = lsp.DocumentHighlightParams(session.document(COMMON), session.position(COMMON, "\ndomain:", 2))
    found = await session.request(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, params)
    shown = [(slice_of(session.text(COMMON), one.range, session.encoding), one.kind) for one in found]
    assert ("domain", lsp.DocumentHighlightKind.Write) in shown
    assert ("domain", lsp.DocumentHighlightKind.Read) in shown


async def test_a_comment_has_neither(session: Session) -> None:
    session.open(COMMON)
    assert await references(session, COMMON, "# What holds", 5) == []
