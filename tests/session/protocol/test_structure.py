"""What can be folded, selected and followed in a document."""

from __future__ import annotations

from lsprotocol import types as lsp

from conftest import VSCODE
from session import Session, slice_of

NODE = "data/nodes/web-01.oslo.example.net.yaml"
COMMON = "data/common.yaml"
VHOSTS = "profile::web::vhosts"
EYAML = "data/secrets/db-01.oslo.example.net.eyaml"


async def folds(session: Session, file: str) -> list[lsp.FoldingRange]:
    params = lsp.FoldingRangeParams(session.document(file))
    return list(await session.request(lsp.TEXT_DOCUMENT_FOLDING_RANGE, params) or [])


async def selections(session: Session, file: str, *needles: str) -> list[list[str]]:
    """The texts that a selection grows by, from each of these texts on."""
    positions = [session.position(file, needle, 1) for needle in needles]
    params = lsp.SelectionRangeParams(session.document(file), positions)
    found = await session.request(lsp.TEXT_DOCUMENT_SELECTION_RANGE, params)
    assert len(found) == len(positions)
    texts = []
    for selected in found:
        grown = []
        while selected:
            grown.append(slice_of(session.text(file), selected.range, session.encoding))
            selected = selected.parent
        texts.append(grown)
    return texts


async def links(session: Session, file: str) -> list[lsp.DocumentLink]:
    params = lsp.DocumentLinkParams(session.document(file))
    return list(await session.request(lsp.TEXT_DOCUMENT_DOCUMENT_LINK, params) or [])


async def test_entries_and_comments_fold(session: Session) -> None:
    session.open(COMMON)
    session.insert(COMMON, session.text(COMMON).index("company:"), "# one\n# two\n")
    lines = session.text(COMMON).split("\n")
    found = {lines[fold.start_line]: fold for fold in await folds(session, COMMON)}
    vhosts = found[f"{VHOSTS}:"]
    assert lines[vhosts.end_line].startswith(" ") and not lines[vhosts.end_line + 1].startswith(" ")
    assert found["lookup_options:"].kind is None
    assert [line for line, fold in found.items() if fold.kind == lsp.FoldingRangeKind.Comment] == ["# one"]
    for fold in found.values():
        assert fold.start_line < fold.end_line < len(lines)


async def test_encrypted_blocks_fold(session: Session) -> None:
    lines = session.text(EYAML).split("\n")
    blocks = [fold for fold in await folds(session, EYAML) if "ENC[" in lines[fold.start_line + 1]]
    assert blocks and all(lines[fold.start_line].endswith((">", "|", ">-")) for fold in blocks)


async def test_as_many_folds_as_a_client_wants(start, repo) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.text_document.folding_range.range_limit = 2

    session = await start(repo, capabilities=announce)
    assert len(await folds(session, COMMON)) == 2


async def test_a_selection_grows(session: Session) -> None:
    session.open(COMMON)
    first, second = await selections(session, COMMON, "company')}!", f"\n{VHOSTS}")
    assert first[:2] == ["company", "%{lookup('company')}"]
    assert second[:2] == ["profile", VHOSTS] and second[2].startswith(f"{VHOSTS}:\n  shop:")
    for grown in (first, second):
        assert grown[-1] == session.text(COMMON)
        assert [len(text) for text in grown] == sorted({len(text) for text in grown})


async def test_a_selection_grows_in_what_is_half_typed(session: Session) -> None:
    session.open(COMMON)
    session.insert(COMMON, 0, "half: [a, \"b %{look\n")
    (grown,) = await selections(session, COMMON, "look")
    assert grown[0] == "look" and grown[-1] == session.text(COMMON)


async def test_locations_lead_to_the_files_of_the_chosen_node(session: Session) -> None:
    assert NODE not in {session.place_of(link.target) for link in await links(session, "hiera.yaml")}
    await session.select("web-01.oslo.example.net")
    found = {session.place_of(link.target): link for link in await links(session, "hiera.yaml")}
    assert {NODE, COMMON} <= set(found)
    marked = slice_of(session.text("hiera.yaml"), found[NODE].range, session.encoding)
    assert "nodes/%{" in marked
    assert await links(session, COMMON) == []


async def test_tooltips_only_for_clients_that_show_them(start, repo) -> None:
    def announce(capabilities: lsp.ClientCapabilities) -> None:
        capabilities.text_document.document_link.tooltip_support = None

    plain = await start(repo, VSCODE, capabilities=announce)
    assert all(link.tooltip is None for link in await links(plain, "hiera.yaml"))
    rich = await start(repo, VSCODE)
    assert all(link.tooltip for link in await links(rich, "hiera.yaml"))
