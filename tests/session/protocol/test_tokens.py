"""Semantic tokens: all of a document, changes, ranges."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from conftest import VSCODE
from session import Session, encoding_name, unit

COMMON = "data/common.yaml"
EYAML = "data/secrets/db-01.oslo.example.net.eyaml"


def read(session: Session, file: str, data: Any) -> list[tuple[str, str, bool]]:
    """The text, the type and the modifier of each token."""
    legend = session.result.capabilities.semantic_tokens_provider.legend
    lines = session.text(file).split("\n")
    tokens, line, start = [], 0, 0
    for n in range(0, len(data), 5):
        line_delta, start_delta, length, kind, modifiers = data[n : n + 5]
        line, start = line + line_delta, start_delta + (0 if line_delta else start)
        raw = lines[line].encode(encoding_name(session.encoding))
        width = unit(session.encoding)
        text = raw[start * width : (start + length) * width].decode(encoding_name(session.encoding))
        tokens.append((text, legend.token_types[kind], bool(modifiers)))
    return tokens


async def full(session: Session, file: str) -> lsp.SemanticTokens:
    params = lsp.SemanticTokensParams(session.document(file))
    return await session.request(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, params)


async def delta(session: Session, file: str, since: str) -> lsp.SemanticTokens | lsp.SemanticTokensDelta:
    params = lsp.SemanticTokensDeltaParams(session.document(file), since)
    return await session.request(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, params)


def applied(data: list[int], edits: Any) -> list[int]:
    data = list(data)
    for edit in edits:
        data[edit.start : edit.start + edit.delete_count] = edit.data or []
    return data


async def test_tokens_functions_keys_and_variables_are_told_apart(session: Session) -> None:
    session.open(COMMON)
    answer = await full(session, COMMON)
    tokens = read(session, COMMON, answer.data)
    assert tokens[:4] == [
        ("%{", "operator", False),
        ("lookup", "function", False),
        ("company", "property", False),
        ("}", "operator", False),
    ]
    assert ("facts.os.release.major", "variable", False) in tokens
    assert ("literal", "function", False) in tokens and ("%", "string", False) in tokens


async def test_a_key_that_no_level_has_is_unresolved(session: Session) -> None:
    session.open(COMMON)
    session.replace(COMMON, ("lookup('company')", "lookup('compnay')"))
    tokens = read(session, COMMON, (await full(session, COMMON)).data)
    assert ("compnay", "property", True) in tokens


async def test_encrypted_blocks_are_split_into_lines(session: Session) -> None:
    tokens = read(session, EYAML, (await full(session, EYAML)).data)
    blocks = [text for text, kind, _ in tokens if kind == "macro"]
    assert blocks and blocks[0].startswith("ENC[") and "".join(blocks).count("]") == "".join(blocks).count("ENC[")
    assert not any(" " in text for text in blocks)


async def test_changes_since_the_last_answer(session: Session) -> None:
    session.open(COMMON)
    first = await full(session, COMMON)
    nothing = await delta(session, COMMON, first.result_id)
    assert isinstance(nothing, lsp.SemanticTokensDelta) and not nothing.edits
    session.insert(COMMON, session.text(COMMON).index("company:"), "x: '%{role}'\n")
    changed = await delta(session, COMMON, nothing.result_id)
    assert isinstance(changed, lsp.SemanticTokensDelta)
    assert sum(len(edit.data or []) for edit in changed.edits) < len(first.data) / 2
    anew = await full(session, COMMON)
    assert applied(list(first.data), changed.edits) == list(anew.data)


async def test_changes_since_an_answer_that_is_not_known_are_all_tokens(session: Session) -> None:
    session.open(COMMON)
    first = await full(session, COMMON)
    session.close(COMMON)
    session.open(COMMON)
    again = await delta(session, COMMON, first.result_id)
    assert isinstance(again, lsp.SemanticTokens) and list(again.data) == list(first.data)
    # What is not open has no identity to compare with.
    session.close(COMMON)
    assert (await full(session, COMMON)).result_id is None


async def test_the_tokens_of_a_range(start, repo) -> None:
    session = await start(repo, VSCODE)
    start_of, end_of = (session.position(COMMON, text) for text in ("profile::base::contact:", "profile::base::prompt:"))
    params = lsp.SemanticTokensRangeParams(session.document(COMMON), lsp.Range(start_of, end_of))
    answer = await session.request(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, params)
    assert [text for text, _, _ in read(session, COMMON, answer.data)] == ["%{", "lookup", "domain", "}"]
