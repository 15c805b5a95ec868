"""Call hierarchy over lookups: the readers of a key, and the keys that its values read."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from session import Session, slice_of

COMMON = "data/common.yaml"
ROLE = "data/roles/web.yaml"
SITE = "manifests/site.pp"


async def prepared(session: Session, file: str, needle: str, inside: int = 0) -> lsp.CallHierarchyItem:
    params = lsp.CallHierarchyPrepareParams(session.document(file), session.position(file, needle, inside))
    [item] = await session.request(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, params)
    return item


async def readers(session: Session, item: lsp.CallHierarchyItem) -> dict[str, list[str]]:
    found = await session.request(lsp.CALL_HIERARCHY_INCOMING_CALLS, lsp.CallHierarchyIncomingCallsParams(item)) or []
    return {described(session, one.from_): marked(session, one.from_.uri, one.from_ranges) for one in found}


async def feeders(session: Session, item: lsp.CallHierarchyItem) -> dict[str, list[str]]:
    found = await session.request(lsp.CALL_HIERARCHY_OUTGOING_CALLS, lsp.CallHierarchyOutgoingCallsParams(item)) or []
    return {described(session, one.to): marked(session, item.uri, one.from_ranges) for one in found}


def described(session: Session, item: lsp.CallHierarchyItem) -> str:
    return f"{item.name} in {session.place_of(item.uri)}"


def marked(session: Session, uri: str, ranges: Any) -> list[str]:
    return [slice_of(session.text(session.place_of(uri)), span, session.encoding) for span in ranges]


async def test_keys_read_and_feed_each_other(session: Session) -> None:
    text = "town: Oslo\ncompany: \"Fjord in %{lookup('town')}\"\nmotd: \"%{lookup('company')}, %{alias('gone')}\"\n"
    session.open(COMMON, text)
    company = await prepared(session, COMMON, "company:")
    assert (company.name, session.place_of(company.uri)) == ("company", COMMON)
    assert (await readers(session, company))[f"motd in {COMMON}"] == ["company"]
    assert (await feeders(session, company))[f"town in {COMMON}"] == ["town"]
    # From a token it is the same key; a key that no level has is one, too.
    assert (await prepared(session, COMMON, "lookup('company", 9)).name == "company"
    motd = await prepared(session, COMMON, "motd")
    assert set(await feeders(session, motd)) >= {f"company in {COMMON}", f"gone in {COMMON}"}
    gone = await prepared(session, COMMON, "gone')")
    assert gone.detail == "no level defines it"
    assert await readers(session, gone) == {f"motd in {COMMON}": ["gone"]}


async def test_classes_and_files_read_keys(session: Session) -> None:
    vhosts = await prepared(session, ROLE, "profile::web::vhosts")
    assert "profile::web in site-modules/profile/manifests/web.pp" in await readers(session, vhosts)
    session.path(SITE).write_text("$c = lookup('company')\n", encoding="utf-8")
    session.open(SITE)
    session.save(SITE)

    async def ask() -> dict[str, list[str]]:
        return await readers(session, await prepared(session, COMMON, "company: "))

    await session.asks_until("the call in code", ask, lambda found: f"site.pp in {SITE}" in found)


async def test_options_decide_a_value(session: Session) -> None:
    session.open(COMMON, "lookup_options:\n  users: {merge: hash}\n  '^us': {merge: deep}\nusers: {a: 1}\n")
    users = await prepared(session, COMMON, "users: {a")
    assert set(await feeders(session, users)) == {f"lookup_options: users in {COMMON}", f"lookup_options: ^us in {COMMON}"}


async def test_code_has_no_sides(session: Session) -> None:
    vhosts = await prepared(session, ROLE, "profile::web::vhosts")
    found = await session.request(lsp.CALL_HIERARCHY_INCOMING_CALLS, lsp.CallHierarchyIncomingCallsParams(vhosts))
    code = next(one.from_ for one in found if one.from_.kind == lsp.SymbolKind.Class)
    assert await readers(session, code) == {} and await feeders(session, code) == {}


async def test_nothing_is_prepared_where_no_key_is(session: Session) -> None:
    session.open(COMMON, "# a comment\ncompany: x\n")
    params = lsp.CallHierarchyPrepareParams(session.document(COMMON), lsp.Position(0, 4))
    assert await session.request(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, params) is None
