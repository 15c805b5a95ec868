"""Manifests that the editor has open: hover and definition, the effect of an edit of a header on data, and no findings of their own."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp

from session import Session, plain

COMMON = "data/common.yaml"
ROLE = "data/roles/web.yaml"
BASE = "site-modules/profile/manifests/base.pp"
SITE = "manifests/site.pp"
MOTD = "profile::base::motd"

# What a manifest looks like on the way from one to another: half-typed headers, wrong types, text that is no code.
BROKEN = [
    ("String $motd,", "String $motd"),
    ("String $motd,", "String $"),
    ("String $motd,", "Nope[ $motd,"),
    ("String $motd,", "String $motd = 'abc,"),
    ("class profile::base (", "class Profile::Base (("),
    ("$settings = $sysctl.map", "$settings == = lookup('nowhere', Nope) $sysctl.map"),
]


async def test_a_parameter_shows_its_value_and_leads_to_data(session: Session) -> None:
    session.open(BASE, language="puppet")
    text = await session.hover(BASE, "$motd", 2)
    assert text is not None and MOTD in plain(text) and "class profile::base" in plain(text)
    assert "Fjordkaffe" in text
    assert (COMMON, MOTD) in await session.definition(BASE, "$motd", 2)


async def test_a_use_leads_to_the_parameter_first(session: Session) -> None:
    session.open(BASE, language="puppet")
    found = await session.definition(BASE, "content => $motd", 12)
    assert found[0] == (BASE, "motd") and (COMMON, MOTD) in found


async def test_a_call_shows_the_value_and_leads_to_data(session: Session) -> None:
    session.open(BASE, language="puppet")
    session.replace(BASE, ("  include chrony", "  $x = lookup('company')\n  include chrony"))
    assert "Fjordkaffe" in (await session.hover(BASE, "lookup('company')", 10) or "")
    assert await session.definition(BASE, "lookup('company')", 10) == [(COMMON, "company")]
    assert await session.definition(BASE, "include chrony", 10) == [("site-modules/chrony/manifests/init.pp", "chrony")]


async def test_a_secret_stays_masked_in_code(session: Session) -> None:
    session.open(BASE, language="puppet")
    for needle in ("$console_pin,", "content => $console_pin"):
        assert "profile::base::console_pin" in plain(await session.hover(BASE, needle, len(needle) - 3) or "")
    assert "47kx" not in repr(session.client.received)


async def test_an_edit_of_a_header_changes_hover_and_findings_of_data(session: Session) -> None:
    session.open(COMMON)
    session.open(BASE, language="puppet")
    await session.until_codes(COMMON)
    session.replace(BASE, ("String $motd,", "Integer $motd,"))
    (finding,) = await session.until_codes(COMMON, "parameter-type")
    assert "expects an Integer value, got String" in finding.message
    assert "Integer" in plain(await session.hover(COMMON, f"{MOTD}:"))
    session.replace(BASE, ("Integer $motd,", "String $motd = 'hello', # a greeting"))
    await session.until_codes(COMMON)
    text = plain(await session.hover(COMMON, f"{MOTD}:"))
    assert "default 'hello'" in text.replace("`", "") and "a greeting" in text


@pytest.mark.parametrize(("old", "new"), BROKEN)
async def test_a_manifest_gets_no_findings(session: Session, old: str, new: str) -> None:
    session.open(BASE, language="puppet")
    session.replace(BASE, (old, new))
    await session.hover(BASE, "# What every machine gets.", 4)
    # Findings of data that is opened later have been sent behind those that the manifest would have.
    session.open(ROLE)
    await session.until("findings", lambda: session.findings(ROLE) is not None)
    assert not session.findings(BASE)
    params = lsp.DocumentSymbolParams(session.document(BASE))
    await session.request(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, params)
    assert not session.findings(BASE)
