"""Completion as a user types: each context, with clients that have snippets and one that has none."""

from __future__ import annotations

import json

from lsprotocol import types as lsp

from conftest import EMACS, NEOVIM, VSCODE
from session import Session

COMMON = "data/common.yaml"
ROLE = "data/roles/web.yaml"
INVENTORY = "data/inventory.json"
CONFIG = "hiera.yaml"
SETTINGS = ".hiera-ls.yaml"


async def complete(session: Session, file: str, typed: str, trigger: str | None = None) -> lsp.CompletionList | None:
    """The answer behind a text that is typed at the end of a file, on lines of its own."""
    if file in session._texts:
        session.close(file)
    text = session.path(file).read_text(encoding="utf-8")
    session.open(file, text)
    before, _, after = typed.partition("$0")
    session.insert(file, len(text), before + after)
    place = session.position(file, text, len(text) + len(before))
    context = lsp.CompletionContext(lsp.CompletionTriggerKind.TriggerCharacter, trigger) if trigger else None
    return with_edits(await session.request(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionParams(session.document(file), place, context=context)
    ))


def with_edits(found: lsp.CompletionList | None) -> lsp.CompletionList | None:
    """As a client reads a list: an item without an edit replaces the list's own range."""
    for item in found.items if found else []:
        if item.text_edit is None:
            text = item.label if item.text_edit_text is None else item.text_edit_text
            item.text_edit = lsp.TextEdit(found.item_defaults.edit_range, text)
    return found


async def items(session: Session, file: str, typed: str, trigger: str | None = None) -> dict[str, lsp.CompletionItem]:
    found = await complete(session, file, typed, trigger)
    return {item.label: item for item in found.items} if found else {}


def accepted(session: Session, file: str, item: lsp.CompletionItem) -> str:
    """The text after the edit of an item; places of snippets as they are."""
    text = session.text(file)
    lines = text.splitlines(keepends=True) + [""]

    def offset(position: lsp.Position) -> int:
        line = lines[position.line].encode("utf-16-le" if session.encoding == "utf-16" else "utf-8")
        unit = 2 if session.encoding == "utf-16" else 1
        before = line[: position.character * unit].decode("utf-16-le" if session.encoding == "utf-16" else "utf-8")
        return sum(len(each) for each in lines[: position.line]) + len(before)

    span = item.text_edit.range
    return text[: offset(span.start)] + item.text_edit.new_text + text[offset(span.end) :]


def words(item: lsp.CompletionItem) -> str:
    """The explanation of an item; a client without formats gets a string."""
    return item.documentation if isinstance(item.documentation, str) else item.documentation.value


async def test_what_is_announced(session: Session) -> None:
    provider = session.result.capabilities.completion_provider
    assert provider.resolve_provider
    # A dash begins a list, and a blank a value: the editor's YAML is not disturbed there.
    assert list(provider.trigger_characters) == [":", "{", ".", "'", '"']


async def test_keys_of_class_parameters_and_of_other_files(session: Session) -> None:
    found = await items(session, ROLE, "profile::database::")
    assert found, "the class of another role has parameters"
    first = next(iter(found.values()))
    assert first.kind == lsp.CompletionItemKind.Property
    assert first.detail.endswith("required"), "required parameters come first"
    # Keys that the file has are not offered again.
    assert "profile::web::vhosts" not in await items(session, COMMON, "profile::web::")


async def test_the_edit_covers_the_whole_word_and_counts_columns_as_the_client(session: Session) -> None:
    found = await items(session, ROLE, 'x: {"ä☕𝄞": "%{lookup(\'profile::base::con')
    new = accepted(session, ROLE, found["profile::base::contact"])
    assert new.endswith("x: {\"ä☕𝄞\": \"%{lookup('profile::base::contact')}")
    found = await items(session, ROLE, "profile::database::lis$0ten_addr: x\n")
    assert all(item.text_edit.new_text == label for label, item in found.items())


async def test_a_key_is_explained_when_it_is_looked_at(session: Session) -> None:
    found = await items(session, ROLE, "a: \"%{lookup('profile::base::con$0')}\"")
    item = found["profile::base::contact"]
    assert item.documentation is None, "nothing is looked up while words are listed"
    explained = await session.request(lsp.COMPLETION_ITEM_RESOLVE, item)
    assert "drift@example.net" in words(explained)
    assert explained.label == item.label and explained.text_edit == item.text_edit
    pin = (await items(session, ROLE, "a: \"%{lookup('profile::base::console$0')}\""))["profile::base::console_pin"]
    explained = await session.request(lsp.COMPLETION_ITEM_RESOLVE, pin)
    assert "47kx" not in words(explained) and "47kx" not in (pin.detail or "")


async def test_tokens(session: Session) -> None:
    found = await items(session, COMMON, 'x: "%{', "{")
    assert list(found)[:2] == ["lookup", "alias"]
    assert "alias" not in await items(session, COMMON, 'x: "y %{')
    families = await items(session, COMMON, 'x: "%{facts.os.', ".")
    explained = await session.client.completion_item_resolve_async(families["family"])
    assert families["family"].detail is None and "Debian" in words(explained)
    assert accepted(session, COMMON, families["family"]).endswith('x: "%{facts.os.family}')
    assert "profile::web::vhosts" in await items(session, COMMON, "x: \"%{alias('profile::we", "'")
    assert "shop" in await items(session, COMMON, "x: \"%{lookup('profile::web::vhosts.")


async def test_members_and_values(session: Session) -> None:
    assert "docroot" in await items(session, ROLE, "profile::web::vhosts:\n  shop:\n    d")
    assert "mode" in await items(session, ROLE, "profile::base::log_dir:\n  ")
    found = await items(session, ROLE, "profile::base::log_dir: {mode: ")
    assert found["0750"].text_edit.new_text == "'0750'", "it is a text, and no number"


async def test_lookup_options(session: Session) -> None:
    start = "lookup_options:\n  company:\n    "
    assert list(await items(session, ROLE, start)) == ["merge", "convert_to"]
    assert list(await items(session, ROLE, start + "merge: ")) == ["first", "unique", "hash", "deep"]
    assert "knockout_prefix" in await items(session, ROLE, start + "merge: {strategy: deep, ")


async def test_hiera_yaml_and_settings(session: Session) -> None:
    found = await items(session, CONFIG, "\n  - name: New\n    ")
    assert {"path", "glob", "lookup_key"} <= set(found)
    assert "roles/web.yaml" in await items(session, CONFIG, "\n  - name: New\n    path: ")
    assert "yaml_data" in await items(session, CONFIG, "\n  - name: New\n    data_hash: y")
    assert "certname" in await items(session, CONFIG, "\n  - name: New\n    path: \"%{trusted.")
    found = await items(session, SETTINGS, "puppet:\n  ")
    assert "version" in found and found["version"].documentation is not None
    assert list(await items(session, SETTINGS, "puppet:\n  version: ")) == ["7", "8", "9"]


async def test_json(session: Session) -> None:
    session.open(INVENTORY)
    text = session.text(INVENTORY)
    start = text.index('"')
    session.insert(INVENTORY, start, '"profile::web::wor", ')
    place = session.position(INVENTORY, "profile::web::wor", 17)
    params = lsp.CompletionParams(session.document(INVENTORY), place)
    found = with_edits(await session.request(lsp.TEXT_DOCUMENT_COMPLETION, params))
    item = next(item for item in found.items if item.label == "profile::web::workers")
    assert item.text_edit.new_text.startswith('"profile::web::workers": ')


async def test_nothing_in_comments_and_where_the_editor_has_its_own(session: Session) -> None:
    for typed in ["# profile::", "x: 1 # %{lookup('", "x: |\n  profile::"]:
        assert await items(session, COMMON, typed) == {}, typed
    # A quote that begins a value asks for nothing.
    assert await items(session, COMMON, "profile::base::prompt: '", "'") == {}


async def test_a_client_without_snippets_gets_plain_text(start, repo) -> None:
    plain = await start(repo, EMACS, capabilities=without_snippets)
    for item in (await items(plain, ROLE, "profile::")).values():
        assert item.insert_text_format in (None, lsp.InsertTextFormat.PlainText)
        assert "$" not in item.text_edit.new_text
    full = await start(repo, VSCODE)
    kinds = {item.insert_text_format for item in (await items(full, COMMON, 'x: "%{')).values()}
    assert lsp.InsertTextFormat.Snippet in kinds


def without_snippets(capabilities: lsp.ClientCapabilities) -> None:
    capabilities.text_document.completion.completion_item.snippet_support = False


async def test_the_range_comes_once_where_the_client_takes_it_so(start, repo) -> None:
    sizes = []
    for editor in (NEOVIM, VSCODE):
        session = await start(repo, editor)
        found = await complete(session, ROLE, "profile::")
        answer = next(message for message in session.client.received if "isIncomplete" in (message.get("result") or {}))
        sent = answer["result"]
        assert ("itemDefaults" in sent) == (editor == NEOVIM)
        assert all(("textEdit" in item) == (editor == VSCODE) for item in sent["items"]), "they all replace the same bytes"
        sizes.append((len(found.items), len(json.dumps(sent["items"]))))
    (few, short), (many, long) = sizes
    assert few == many and short < 0.7 * long, sizes


async def test_typing_on_asks_again_and_finds_less(start, repo) -> None:
    session = await start(repo, NEOVIM)
    wide = await items(session, ROLE, "p")
    narrow = await items(session, ROLE, "profile::database::")
    assert set(narrow) <= set(wide) or len(wide) == 50
    assert all(label.startswith("profile::database::") for label in narrow)
