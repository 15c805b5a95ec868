"""One editor session with `hiera-ls server`, spoken through a typed client that this project did not write.

Nothing here knows Hiera. What arrives is awaited, never slept for; what does not fit the protocol's own types is a complaint, and the
`start` fixture of conftest.py fails the test for it.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import pathlib
import re
from typing import Any, Callable, Iterator, Union
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

SERVER = [os.environ["HIERA_LS"], "server"]

# A session that is stuck fails its test; a slow machine must not.
PATIENCE = float(os.environ.get("HIERA_LS_PATIENCE", "60"))


def without_nulls(value: Any) -> Any:
    """To a client a null member and an absent one are the same."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return [without_nulls(item) for item in value]
    return value


def differences(sent: Any, understood: Any, where: str = "") -> Iterator[str]:
    """What of a message the protocol's types have no place for: a misspelt member, one in the wrong place, a wrong type."""
    if isinstance(sent, dict) and isinstance(understood, dict):
        for name, member in sent.items():
            if name in understood:
                yield from differences(member, understood[name], f"{where}/{name}")
            else:
                yield f"{where}/{name} is not in the protocol"
    elif isinstance(sent, list) and isinstance(understood, list) and len(sent) == len(understood):
        for number, (left, right) in enumerate(zip(sent, understood)):
            yield from differences(left, right, f"{where}/{number}")
    elif sent != understood:
        yield f"{where}: {sent!r} was understood as {understood!r}"


class Recording:
    """The messages of a session, for `types.rs`: a file below HIERA_LS_MESSAGES, each message on a line with its sender."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        folder = os.environ.get("HIERA_LS_MESSAGES")
        self._file = open(pathlib.Path(folder) / f"{next(self._numbers)}.jsonl", "w", encoding="utf-8") if folder else None

    def add(self, sender: str, message: str | dict[str, Any]) -> None:
        if self._file:
            content = json.loads(message) if isinstance(message, str) else message
            # A text of UTF-8 has no half of a surrogate pair, which some tests send.
            body = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
            self._file.write(f'{{"from":"{sender}","message":{body}}}\n')
            self._file.flush()


class StrictProtocol(LanguageClientProtocol):
    """Turns each typed message back into JSON and compares: typing alone lets members pass that the protocol does not have."""

    _server: "Client"

    def structure_message(self, data: dict[str, Any]) -> Any:
        message = super().structure_message(data)
        if "jsonrpc" in data:  # It is called for each object within a message, too.
            self._server.recording.add("server", data)
            self._server.received.append(data)
            name = data.get("method", "an answer")
            again = self._converter.unstructure(message)
            self._server.complaints += [name + found for found in differences(without_nulls(data), without_nulls(again))]
            if "id" in data and data["id"] is None:
                # Only the answer to an unreadable message has no id, and this client sends none.
                self._server.complaints.append(f"{name} without an id: {data!r}")
        return message

    def _send_data(self, data: Any) -> None:
        if data:
            self._server.recording.add("client", json.dumps(data, default=self._serialize_message))
        super()._send_data(data)

    def handle_message(self, message: Any) -> None:
        super().handle_message(message)
        self._server.woken.set()


@functools.cache
def converter() -> Any:
    """The library's own converter, which reads every code action with a command as a bare command; the protocol distinguishes them by type.
    All clients share it: a converter compiles a function for each type that it meets."""
    own = default_converter()

    def command_or_action(value: Any, _: type) -> lsp.Command | lsp.CodeAction:
        return own.structure(value, lsp.Command if isinstance(value.get("command"), str) else lsp.CodeAction)

    own.register_structure_hook(Union[lsp.Command, lsp.CodeAction], command_or_action)
    return own


class Client(LanguageClient):
    """The typed client, with a record of the messages that arrived."""

    def __init__(self) -> None:
        super().__init__(converter_factory=converter, protocol_cls=StrictProtocol)
        self.complaints: list[str] = []
        self.received: list[dict[str, Any]] = []
        self.recording = Recording()
        self.registered: list[lsp.Registration] = []
        self.woken = asyncio.Event()
        register_lsp_features(self)
        self.feature(lsp.CLIENT_REGISTER_CAPABILITY)(register)


def register(client: Client, params: lsp.RegistrationParams) -> None:
    """Answers a request to watch something."""
    client.registered += params.registrations


class Session:
    """What a test does with the server, in few words. Files are named relative to the root."""

    def __init__(self, client: Client, root: pathlib.Path, result: lsp.InitializeResult) -> None:
        self.client = client
        self.root = root
        self.result = result
        self.encoding = result.capabilities.position_encoding or "utf-16"
        self._texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}

    # Files and places

    def path(self, file: str) -> pathlib.Path:
        return self.root / file

    def uri(self, file: str) -> str:
        return self.path(file).as_uri()

    def document(self, file: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri(file))

    def text(self, file: str) -> str:
        """The text as the editor has it, or else as it is on disk."""
        return self._texts.get(file) or self.path(file).read_text(encoding="utf-8")

    def position(self, file: str, needle: str, inside: int = 0, nth: int = 0) -> lsp.Position:
        """The place of a text (its nth occurrence) in a file, some characters further."""
        text, start = self.text(file), -1
        for _ in range(nth + 1):
            start = text.index(needle, start + 1)
        return position_of(text, start + inside, self.encoding)

    # Messages of an editor

    def open(self, file: str, text: str | None = None, language: str = "yaml", uri: str | None = None) -> None:
        self._texts[file] = self.path(file).read_text(encoding="utf-8") if text is None else text
        self._versions[file] = 1
        item = lsp.TextDocumentItem(uri or self.uri(file), language, 1, self._texts[file])
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def close(self, file: str) -> None:
        del self._texts[file]
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(self.document(file)))

    def save(self, file: str) -> None:
        """Writes the editor's text to disk and sends `didSave`."""
        self.path(file).write_text(self._texts[file], encoding="utf-8")
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(self.document(file)))

    def change(self, file: str, *changes: lsp.TextDocumentContentChangeEvent, version: int | None = None) -> None:
        """Sends changes as they are. The editor's own text is for the caller to keep: see `replace`."""
        self._versions[file] += 1
        identifier = lsp.VersionedTextDocumentIdentifier(version or self._versions[file], self.uri(file))
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, list(changes)))

    def replace(self, file: str, *pairs: tuple[str, str]) -> None:
        """Replaces the one occurrence of each text, all in one notification, each in the text that the ones before left."""
        changes = []
        for old, new in pairs:
            text = self._texts[file]
            assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
            start = text.index(old)
            changes.append(edit(text, start, start + len(old), new, self.encoding))
            self._texts[file] = text.replace(old, new)
        self.change(file, *changes)

    def insert(self, file: str, offset: int, new: str) -> None:
        """Inserts a text at a character offset."""
        text = self._texts[file]
        self.change(file, edit(text, offset, offset, new, self.encoding))
        self._texts[file] = text[:offset] + new + text[offset:]

    # What an editor asks

    async def request(self, method: str, params: Any) -> Any:
        return await asyncio.wait_for(self.client.protocol.send_request_async(method, params), PATIENCE)

    async def hover(self, file: str, needle: str | lsp.Position, inside: int = 0, nth: int = 0) -> str | None:
        """The text of the hover over a text of the file, or nothing."""
        position = needle if isinstance(needle, lsp.Position) else self.position(file, needle, inside, nth)
        answer = await self.request(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(self.document(file), position))
        return None if answer is None else answer.contents.value

    async def definition(self, file: str, needle: str, inside: int = 0, nth: int = 0) -> list[tuple[str, str]]:
        """The files that a definition leads to, relative to the root, each with the text that it marks."""
        position = self.position(file, needle, inside, nth)
        answer = await self.request(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(self.document(file), position))
        return [self.place(item) for item in answer or []]

    async def implementation(self, file: str, needle: str) -> list[tuple[str, str]]:
        """The files that an implementation leads to, relative to the root, each with the text that it marks."""
        params = lsp.ImplementationParams(self.document(file), self.position(file, needle))
        answer = await self.request(lsp.TEXT_DOCUMENT_IMPLEMENTATION, params)
        return [self.place(item) for item in answer or []]

    def place(self, item: lsp.Location | lsp.LocationLink) -> tuple[str, str]:
        linked = isinstance(item, lsp.LocationLink)
        uri, span = (item.target_uri, item.target_selection_range) if linked else (item.uri, item.range)
        name = self.place_of(uri)
        return name, slice_of(self.text(name), span, self.encoding)

    def place_of(self, uri: str) -> str:
        """Returns the file of an address. Addresses may escape different characters of the same path."""
        return pathlib.Path(unquote(uri.removeprefix("file://"))).relative_to(self.root).as_posix()

    async def nodes(self, file: str | None = None) -> Any:
        params = {"textDocument": {"uri": self.uri(file)}} if file else {}
        return await self.request("hiera/nodes", params)

    async def select(self, name: str | None) -> Any:
        return await self.request("hiera/selectNode", {"name": name})

    # Messages of the server

    async def until(self, what: str, condition: Callable[[], Any]) -> Any:
        """Waits for messages until the condition holds, and returns its value."""

        async def waiting() -> Any:
            while not (found := condition()):
                self.client.woken.clear()
                await self.client.woken.wait()
            return found

        try:
            return await asyncio.wait_for(waiting(), PATIENCE)
        except asyncio.TimeoutError:
            raise AssertionError(f"never came: {what}; findings are {self.all_codes()}") from None

    async def asks_until(self, what: str, ask: Callable[[], Any], condition: Callable[[Any], Any]) -> None:
        """Repeats a request until its answer fulfils the condition. The server waits a moment for a scan of the disk in progress, so on
        an idle machine the first answer does; on a busy one it may be from the state before the scan."""

        async def asking() -> None:
            while not condition(await ask()):
                pass

        try:
            await asyncio.wait_for(asking(), PATIENCE)
        except asyncio.TimeoutError:
            raise AssertionError(f"never came: {what}") from None

    def all_codes(self) -> dict[str, list[Any]]:
        return {uri: [finding.code for finding in findings] for uri, findings in self.client.diagnostics.items()}

    def findings(self, file: str) -> list[lsp.Diagnostic] | None:
        """What was last published for a file; nothing if nothing ever was."""
        found = self.client.diagnostics.get(self.uri(file))
        return None if found is None else list(found)

    def codes(self, file: str) -> list[Any] | None:
        found = self.findings(file)
        # The tests add keys that no manifest of the sample reads; other suites hold the rules about readers.
        about_readers = ("unread-key", "unknown-parameter")
        return None if found is None else [finding.code for finding in found if finding.code not in about_readers]

    async def until_codes(self, file: str, *codes: str) -> list[lsp.Diagnostic]:
        """Waits until the findings of a file have exactly these codes, beside those about readers of keys."""
        await self.until(f"{list(codes)} in {file}", lambda: self.codes(file) == list(codes))
        return self.findings(file) or []

    def messages(self) -> list[str]:
        """What the user was shown."""
        return [message.message for message in self.client.messages]


async def refused(answer: Any) -> int:
    """The code of the error that a request is answered with."""
    try:
        result = await answer
    except JsonRpcException as error:
        return error.code
    raise AssertionError(f"was answered with {result!r}, not with an error")


def position_of(text: str, offset: int, encoding: str) -> lsp.Position:
    """The place of a character offset, columns counted as the session counts them."""
    before = text[:offset]
    line = before.rpartition("\n")[2]
    return lsp.Position(before.count("\n"), len(line.encode(encoding_name(encoding))) // unit(encoding))


def offset_of(text: str, position: lsp.Position, encoding: str) -> int:
    lines = text.split("\n")
    line = lines[position.line].encode(encoding_name(encoding))[: position.character * unit(encoding)]
    return sum(len(other) + 1 for other in lines[: position.line]) + len(line.decode(encoding_name(encoding)))


def slice_of(text: str, span: lsp.Range, encoding: str) -> str:
    return text[offset_of(text, span.start, encoding) : offset_of(text, span.end, encoding)]


def edit(text: str, start: int, end: int, new: str, encoding: str) -> lsp.TextDocumentContentChangePartial:
    span = lsp.Range(position_of(text, start, encoding), position_of(text, end, encoding))
    return lsp.TextDocumentContentChangePartial(span, new)


def encoding_name(encoding: str) -> str:
    return {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]


def unit(encoding: str) -> int:
    return {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]


def plain(hover: str | None) -> str:
    """A hover's text without the marks of Markdown. A link whose text is no place is followed by its path and line."""

    def place(link: re.Match[str]) -> str:
        text, uri, line = link.groups()
        return text if text.endswith(f":{line}") else f"{text} {uri}:{line}"

    without_links = re.sub(r"\[([^\]]*)\]\(([^)#]*)#L(\d+)\)", place, hover or "")
    return without_links.replace("\\", "").replace("**", "").replace("`", "")
