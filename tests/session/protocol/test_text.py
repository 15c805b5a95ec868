"""Text as it is typed: columns in each encoding, many changes, places that are no longer there."""

from __future__ import annotations

import random

import pytest
from lsprotocol import types as lsp

from session import Session, edit, position_of, slice_of

NODE = "data/nodes/web-01.oslo.example.net.yaml"
KYOTO = "data/nodes/web-01.kyoto.example.net.yaml"
COMMON = "data/common.yaml"
PROMPT = "profile::base::prompt"

Partial = lsp.TextDocumentContentChangePartial


async def prompt(session: Session) -> str:
    """The prompt's value in Kyoto, as the hover has it."""
    return await session.hover(KYOTO, PROMPT)


async def test_columns_after_characters_of_four_bytes(session: Session) -> None:
    session.open(KYOTO)
    position = session.position(KYOTO, "facts.networking", 3)
    answer = await session.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(session.document(KYOTO), position))
    assert slice_of(session.text(KYOTO), answer.range, session.encoding) == "facts.networking.hostname"


async def test_edits_beside_characters_of_four_bytes(session: Session) -> None:
    session.open(KYOTO)
    text = session.text(KYOTO)
    for offset, new in [(text.index("🍵"), "🫖"), (text.index("🍵") + 2, "茶"), (text.index(" 京都") + 4, "ö𝄞")]:
        session.insert(KYOTO, offset, new)
    assert "🫖🍵茶 京ö𝄞都 web-01" in await prompt(session)
    session.replace(KYOTO, ("🫖🍵", "🍶"), ("𝄞", ""))
    assert "🍶茶 京ö都 web-01" in await prompt(session)


async def test_findings_are_placed_after_characters_of_four_bytes(session: Session) -> None:
    session.open(KYOTO)
    session.replace(KYOTO, ("%{facts.networking.hostname}", "%{lookup('nowhere')}"))
    (finding,) = await session.until_codes(KYOTO, "unknown-key")
    assert "nowhere" in slice_of(session.text(KYOTO), finding.range, session.encoding)
    assert "🍵" not in slice_of(session.text(KYOTO), finding.range, session.encoding)


async def test_changes_of_one_notification_build_on_each_other(session: Session) -> None:
    session.open(KYOTO)
    session.replace(KYOTO, ("🍵", "🍵\n  🍶"), ("京都", "one"), ("one", "two 🍵🍵"), ("two 🍵🍵", "three"), ("\n  🍶", " x "))
    assert "🍵 x  three web-01" in await prompt(session)


async def test_a_change_without_a_range_is_the_whole_text(session: Session) -> None:
    session.open(KYOTO)
    text = f"{PROMPT}: whole\n"
    session.change(KYOTO, lsp.TextDocumentContentChangeWholeDocument(text), edit(text, 0, 0, "# 🍵\n", session.encoding))
    session._texts[KYOTO] = "# 🍵\n" + text
    assert "whole" in await prompt(session)


async def test_a_column_beyond_its_line_is_the_end_of_the_line(session: Session) -> None:
    session.open(KYOTO)
    line = session.position(KYOTO, PROMPT).line
    far = lsp.Position(line, 100_000)
    session.change(KYOTO, Partial(lsp.Range(far, far), "  # more"))
    session._texts[KYOTO] = session.text(KYOTO).replace('hostname}"', 'hostname}"  # more')
    session.replace(KYOTO, ("# more", "# 🍵 still in step"), ("京都", "step"))
    assert "🍵 step web-01" in await prompt(session)


async def test_a_line_beyond_the_text_is_its_end(session: Session) -> None:
    session.open(KYOTO)
    far = lsp.Position(100_000, 7)
    session.change(KYOTO, Partial(lsp.Range(far, far), "profile::base::contact: the end\n"))
    session._texts[KYOTO] += "profile::base::contact: the end\n"
    assert "the end" in await session.hover(KYOTO, "profile::base::contact")


async def test_a_column_within_a_character(session: Session) -> None:
    """Half of a surrogate pair, or a byte in the middle of four: nothing that is right can come of it, but the session goes on."""
    session.open(KYOTO)
    tea = session.position(KYOTO, "🍵")
    half = lsp.Position(tea.line, tea.character + 1)
    session.change(KYOTO, Partial(lsp.Range(half, half), "x"))
    session.change(KYOTO, lsp.TextDocumentContentChangeWholeDocument(f"{PROMPT}: mended\n"))
    session._texts[KYOTO] = f"{PROMPT}: mended\n"
    assert "mended" in await prompt(session)
    await session.hover(KYOTO, half)


async def test_a_range_that_ends_before_it_starts(session: Session) -> None:
    session.open(KYOTO)
    session.change(KYOTO, Partial(lsp.Range(lsp.Position(3, 2), lsp.Position(1, 0)), "x"))
    session.change(KYOTO, lsp.TextDocumentContentChangeWholeDocument(f"{PROMPT}: mended\n"))
    session._texts[KYOTO] = f"{PROMPT}: mended\n"
    assert "mended" in await prompt(session)


async def test_two_hundred_changes_at_once(session: Session) -> None:
    """They are sent without waiting for anything; the hover after them is about the last text. (The framework runs handlers side by
    side, and keeps no order that they do not keep themselves.)"""
    session.open(KYOTO)
    start = session.text(KYOTO).index("🍵")
    typed = "".join(random.Random(7).choice("abcæøå京🍵") for _ in range(200))
    for number, character in enumerate(typed):
        session.insert(KYOTO, start + number, character)
    assert f"{typed}🍵 京都 web-01" in await prompt(session)
    for number in range(200):
        session.replace(KYOTO, (session.text(KYOTO)[start : start + 201 - number], session.text(KYOTO)[start + 1 : start + 201 - number]))
    assert "🍵 京都 web-01" in await prompt(session)
    assert typed[-3:] not in await prompt(session)


async def test_random_edits_keep_in_step(session: Session) -> None:
    """After hundreds of edits at any place the server's text is the editor's: a key that is added at the end is found at its place."""
    session.open(KYOTO, "# 🍵 comments\n")
    rng = random.Random(20)
    text = session.text(KYOTO)
    pieces = ["x", "京", "🍵", "é", "\n# ", "\r\n# ", "e\u0301", "\u2028# ", "\u0085# ", "🍵🍶\n# ö"]
    for _ in range(400):
        start = rng.randrange(2, len(text))
        end = min(len(text) - 1, start + rng.randrange(3))
        # What is typed stays within comments: neither a line break nor the "# " after it is taken apart. (To YAML, U+2028 and
        # U+0085 are line breaks. To the protocol they are not.)
        if set(text[start - 2 : end]) & set("\r\n#\u2028\u0085"):
            continue
        new = rng.choice(pieces)
        session.change(KYOTO, edit(text, start, end, new, session.encoding))
        text = text[:start] + new + text[end:]
    session._texts[KYOTO] = text
    session.insert(KYOTO, len(text), f"{PROMPT}: in step 🍵\n")
    assert text.count("\n") > 10 and "\u2028" in text
    assert "in step 🍵" in await prompt(session)


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
async def test_line_endings(session: Session, ending: str) -> None:
    session.open(KYOTO, session.text(KYOTO).replace("\n", ending))
    position = session.position(KYOTO, PROMPT)
    answer = await session.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(session.document(KYOTO), position))
    assert "🍵 京都 web-01" in answer.contents.value
    assert slice_of(session.text(KYOTO), answer.range, session.encoding) == PROMPT


async def test_characters_that_end_no_line(session: Session) -> None:
    """U+2028, U+0085, vertical tab and form feed end no line in the protocol, although they do in other places."""
    session.open(KYOTO, f"# a\u2028b\u0085c\n{PROMPT}: below\n")
    assert position_of(session.text(KYOTO), session.text(KYOTO).index(PROMPT), session.encoding) == lsp.Position(1, 0)
    assert "below" in await prompt(session)


async def test_findings_belong_to_the_last_version(session: Session) -> None:
    session.open(COMMON)
    await session.until_codes(COMMON)
    for number in range(30):
        old, new = ("pool ", "") if number % 2 else ("", "pool ")
        session.replace(COMMON, (f"\"{old}%{{alias('ntp_servers')}}\"", f"\"{new}%{{alias('ntp_servers')}}\""))
    session.replace(COMMON, ("company: Fjordkaffe", "company: '%{lookup(\"nowhere\")}'"))
    await session.until_codes(COMMON, "unknown-key")
    published = [message["params"] for message in session.client.received if message.get("method", "").endswith("publishDiagnostics")]
    versions = [params["version"] for params in published if params["uri"] == session.uri(COMMON) and "version" in params]
    assert versions == sorted(versions)
    assert versions[-1] == 32


async def test_closing_brings_back_what_is_on_disk(session: Session) -> None:
    session.open(NODE)
    session.replace(NODE, ("keepalive: 75", "keepalive: 91"))
    session.open(COMMON)
    await session.select("web-01.oslo.example.net")
    assert "keepalive: 91" in await session.hover(COMMON, "profile::web::vhosts:", nth=1)
    session.close(NODE)
    assert "keepalive: 75" in await session.hover(COMMON, "profile::web::vhosts:", nth=1)
    # Closed, changed: a change without a document is no reason to fall over.
    session._texts[NODE], session._versions[NODE] = "x", 9
    session.change(NODE, lsp.TextDocumentContentChangeWholeDocument("profile::web::vhosts: {shop: {keepalive: 13}}\n"))
    assert "keepalive: 75" in await session.hover(COMMON, "profile::web::vhosts:", nth=1)
