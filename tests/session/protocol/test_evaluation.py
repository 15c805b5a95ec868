"""Functions of levels, which run when the user asks for a key, agrees, and has switched that on: and never otherwise."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import re
import shutil
from typing import Any, Callable

import pytest
from lsprotocol import types as lsp

from conftest import NEOVIM, VSCODE
from raw import RawServer
from session import PATIENCE, Session, plain

COMMAND = "hiera.runBackends"
COMMON = "data/common.yaml"
FUNCTION = "modules/t/lib/puppet/functions/t/store.rb"
ON = {"runBackends": {"enabled": True}}
AT = r"as evaluated at \d\d:\d\d"

needs_puppet = pytest.mark.skipif(
    shutil.which("puppet") is None and "puppet" not in os.environ.get("HIERA_LS_REQUIRE", ""), reason="needs Puppet"
)

CONFIG = """version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - name: Store
    lookup_key: t::store
  - {name: Common, path: common.yaml}
"""

DATA = """greeting: from common
above: 1
token: "%{lookup('greeting')}"
slow: 1
secret: 1
failing: 1
"""

# Each process that loads it leaves its number in the file `mark`.
SOURCE = """File.write('MARK', "#{Process.pid}\\n", mode: 'a')
Puppet::Functions.create_function(:'t::store') do
  def store(key, options, context)
    case key
    when 'greeting' then 'from the store'
    when 'slow'
      File.write('MARK.slow', 'begun')
      sleep
    when 'secret' then Puppet::Pops::Types::PSensitiveType::Sensitive.new('hunter2')
    when 'failing' then raise 'no such luck'
    else context.not_found
    end
  end
end
"""


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    """A repository with a level that a function of a module answers."""
    root = tmp_path.resolve() / "store"
    write(root, "hiera.yaml", CONFIG)
    write(root, COMMON, DATA)
    write(root, "data/nodes/web01.yaml", "above: 2\n")
    write(root, FUNCTION, SOURCE.replace("MARK", str(root / "mark")))
    return root


def write(root: pathlib.Path, file: str, text: str) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text, encoding="utf-8")


def processes(root: pathlib.Path) -> list[int]:
    """The numbers of the processes that have loaded the function, each once."""
    mark = root / "mark"
    return list(dict.fromkeys(int(line) for line in mark.read_text().split())) if mark.exists() else []


def runs(process: int) -> bool:
    try:
        return ") Z" not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


class User:
    """Answers the server's questions; does something else before each answer, if told to."""

    def __init__(self, session: Session, answer: str | None, before: Callable[[int], None] = lambda _: None) -> None:
        self.answer = answer
        self.questions: list[lsp.ShowMessageRequestParams] = []

        def asked(params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem | None:
            self.questions.append(params)
            before(len(self.questions))
            return next((action for action in params.actions or [] if action.title == self.answer), None)

        session.client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)(asked)


async def actions(session: Session, file: str, needle: str, only: list[str] | None = None) -> list[lsp.CodeAction]:
    place = session.position(file, needle)
    context = lsp.CodeActionContext([], ["hiera.evaluate"] if only is None else only, lsp.CodeActionTriggerKind.Invoked)
    params = lsp.CodeActionParams(session.document(file), lsp.Range(place, place), context)
    return await session.request(lsp.TEXT_DOCUMENT_CODE_ACTION, params) or []


async def choose(session: Session, file: str, needle: str) -> None:
    """Chooses the only action at a place, as an editor does: its command is sent back."""
    (action,) = await actions(session, file, needle)
    command = action.command
    assert command and command.command in session.result.capabilities.execute_command_provider.commands
    params = lsp.ExecuteCommandParams(command.command, command.arguments)
    assert await session.request(lsp.WORKSPACE_EXECUTE_COMMAND, params) is None


def told(session: Session) -> list[str]:
    return [one["params"]["message"] for one in session.client.received if one.get("method") == "window/showMessage"]


async def until_told(session: Session, count: int) -> str:
    await session.until("a message", lambda: len(told(session)) >= count)
    return told(session)[count - 1]


@pytest.mark.parametrize("editor", [VSCODE, NEOVIM])
@needs_puppet
async def test_a_key_is_evaluated_when_the_user_asks_and_agrees(start, repo: pathlib.Path, editor: str) -> None:
    session = await start(repo, editor, options=ON)
    user = User(session, "Run")
    session.open(COMMON)
    before = plain(await session.hover(COMMON, "greeting"))
    assert "t::store cannot be evaluated here" in before and not re.search(AT, before)
    (action,) = await actions(session, COMMON, "greeting")
    assert action.title == "Evaluate 'greeting' with the custom backends, for web01"
    assert action.kind == "hiera.evaluate" and action.edit is None
    assert processes(repo) == [] and user.questions == []
    await choose(session, COMMON, "greeting")
    assert await until_told(session, 1) == "Hiera: 'greeting' is evaluated for web01; its hover has the value"
    (question,) = user.questions
    assert [one.title for one in question.actions] == ["Run", "Cancel"]
    assert f"t::store ({FUNCTION})" in question.message and str(repo) in question.message
    assert len(processes(repo)) == 1
    only = plain(await session.hover(COMMON, "greeting"))
    assert re.search(rf"node web01\s+{AT}, with the variables that are known\s+from Store hiera.yaml:5", only), only
    assert "  from the store" in only or "\nfrom the store" in only, only
    await session.select("web01")
    own = plain(await session.hover(COMMON, "greeting"))
    assert re.search(rf"node web01\s+{AT}", own) and "from Store hiera.yaml:5" in own, own
    assert "  from the store" in own or "\nfrom the store" in own, own
    assert "Store: t::store has a value" in own and "overrides the value here: from common" in own, own
    page = await session.request("hiera/explain", {"textDocument": {"uri": session.uri(COMMON)}, "key": "greeting"})
    assert re.search(rf"node web01\n{AT}\n", page.text) and "from the function t::store" in page.text, page.text
    # Another key of the same functions is asked for without a question, in the same process.
    await choose(session, COMMON, "%{lookup('greeting')}")
    await until_told(session, 2)
    assert len(user.questions) == 1 and len(processes(repo)) == 1


@needs_puppet
async def test_each_node_has_its_own_value(start, repo: pathlib.Path) -> None:
    write(repo, "data/nodes/web02.yaml", "above: 2\ngreeting: from the node\n")
    write(repo, "data/nodes/web03.yaml", "above: 3\n")
    session = await start(repo, options=ON)
    User(session, "Run")
    session.open(COMMON)
    found = await actions(session, COMMON, "slow")
    assert [one.title.split(", ")[1] for one in found] == ["for web01", "for web02", "for web03"]
    found = await actions(session, COMMON, "greeting")
    for number, action in enumerate(found[:2], 1):
        await session.request(lsp.WORKSPACE_EXECUTE_COMMAND, lsp.ExecuteCommandParams(COMMAND, action.command.arguments))
        await until_told(session, number)
    hover = plain(await session.hover(COMMON, "greeting"))
    assert re.search(rf"- from the store in web01 ← Store hiera.yaml:5, {AT}", hover), hover
    assert re.search(rf"- from the node in web02 ← Node data/nodes/web02.yaml:2, {AT}", hover), hover
    assert "web03" not in hover.split("cannot be evaluated here")[-1], hover
    for _ in [0, 1]:
        (repo / "it.log").write_text("a file that is not read")
        tell(session, repo / "it.log")
        assert re.search(AT, plain(await session.hover(COMMON, "greeting")))


@needs_puppet
async def test_an_evaluation_is_out_of_date_when_a_file_changes(start, repo: pathlib.Path) -> None:
    session = await start(repo, options=ON)
    User(session, "Run")
    await session.select("web01")
    session.open(COMMON)
    await choose(session, COMMON, "greeting")
    await until_told(session, 1)
    assert re.search(AT, plain(await session.hover(COMMON, "greeting")))
    for count, change in enumerate([change_data, change_config, change_function], 2):
        change(session, repo)

        async def hover() -> str:
            return plain(await session.hover(COMMON, "greeting"))

        def is_out_of_date(text: str) -> bool:
            is_told = re.search(r"evaluated at \d\d:\d\d: files have changed since, evaluate it again", text)
            return is_told is not None and "from the store" not in text and "cannot be evaluated here" in text

        await session.asks_until(f"the note after {change.__name__}", hover, is_out_of_date)
        await choose(session, COMMON, "greeting")
        await until_told(session, count)
        assert re.search(AT, await hover())
    assert "from another store" in await hover()
    # Code that was loaded is not used for other files.
    assert [runs(process) for process in processes(repo)] == [False, False, False, True]


def change_data(session: Session, _: pathlib.Path) -> None:
    session.replace(COMMON, ("above: 1", "above: 3"))
    session.save(COMMON)


def change_config(session: Session, root: pathlib.Path) -> None:
    write(root, "hiera.yaml", CONFIG.replace("name: Common", "name: Last"))
    tell(session, root / "hiera.yaml")


def change_function(session: Session, root: pathlib.Path) -> None:
    write(root, FUNCTION, (root / FUNCTION).read_text().replace("'from the store'", "'from another store'"))
    tell(session, root / FUNCTION)


def tell(session: Session, path: pathlib.Path) -> None:
    change = lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Changed)
    session.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))


@pytest.mark.parametrize("answer", ["Cancel", None])
async def test_nothing_runs_unless_the_user_agrees(start, repo: pathlib.Path, answer: str | None) -> None:
    session = await start(repo, options=ON)
    user = User(session, answer)
    session.open(COMMON)
    for asked in [1, 2]:
        await choose(session, COMMON, "greeting")
        await session.until("the question", lambda: len(user.questions) == asked)
    hover = plain(await session.hover(COMMON, "greeting"))
    assert not re.search(AT, hover) and processes(repo) == []


HELP = "modules/t/lib/puppet_x/t/help.rb"
OPTIONS = CONFIG.replace("lookup_key: t::store", "lookup_key: t::store\n    options: {store: 1}")


@needs_puppet
async def test_the_consent_is_to_the_code_and_the_options(start, repo: pathlib.Path) -> None:
    source = "require 'puppet_x/t/help'\n" + (repo / FUNCTION).read_text()
    write(repo, FUNCTION, source)
    write(repo, HELP, "HELP = 1\n")
    session = await start(repo, options=ON)
    user = User(session, "Run")
    session.open(COMMON)
    count = asked = 0
    for file, text, asks in [
        (None, "", True),
        ("data/nodes/web01.yaml", "above: 3\n", False),
        ("modules/t/lib/puppet_x/t/other.rb", "OTHER = 1\n", False),
        (FUNCTION, source + "# more\n", True),
        (HELP, "HELP = 2\n", True),
        ("hiera.yaml", OPTIONS, True),
        ("hiera.yaml", OPTIONS.replace("store: 1", "store: 2"), True),
        ("hiera.yaml", "# a comment\n" + OPTIONS.replace("store: 1", "store: 2"), False),
        (FUNCTION, source, True),
    ]:
        if file:
            write(repo, file, text)
            tell(session, repo / file)
        count += 1
        asked += asks
        await choose(session, COMMON, "greeting")
        assert "is evaluated" in await until_told(session, count)
        assert len(user.questions) == asked, (file, text)
        assert f"t::store ({FUNCTION}), and what they load: {HELP}" in user.questions[-1].message


@needs_puppet
@pytest.mark.parametrize("file", [FUNCTION, HELP, "hiera.yaml"])
async def test_an_answer_to_an_outdated_question_runs_nothing(start, repo: pathlib.Path, file: str) -> None:
    source = "require 'puppet_x/t/help'\n" + (repo / FUNCTION).read_text()
    write(repo, FUNCTION, source)
    write(repo, HELP, "HELP = 1\n")
    session = await start(repo, options=ON)
    text = OPTIONS if file == "hiera.yaml" else (repo / file).read_text() + f"File.write('{repo}/changed', '')\n"

    def before(question: int) -> None:
        if question == 1:
            write(repo, file, text)
            tell(session, repo / file)
        else:
            user.answer = None

    user = User(session, "Run", before)
    session.open(COMMON)
    await choose(session, COMMON, "greeting")
    await session.until("the second question", lambda: len(user.questions) == 2)
    # The next request is asked about, too, and nothing ran in between.
    await choose(session, COMMON, "greeting")
    await session.until("the third question", lambda: len(user.questions) == 3)
    assert processes(repo) == [] and not (repo / "changed").exists() and told(session) == []


@needs_puppet
async def test_a_file_that_only_running_code_names_is_asked_about(start, repo: pathlib.Path) -> None:
    source = "require ['puppet_x', 't', 'help'].join('/')\n" + (repo / FUNCTION).read_text()
    write(repo, FUNCTION, source)
    write(repo, HELP, f"File.write('{repo}/helped', '')\n")
    session = await start(repo, options=ON)
    answers = {1: "Run", 2: None, 3: "Run"}
    user = User(session, None, lambda question: setattr(user, "answer", answers[question]))
    session.open(COMMON)
    await choose(session, COMMON, "greeting")
    assert f"{HELP} was not loaded: it is not among the files that may run" in await until_told(session, 1)
    assert HELP not in user.questions[0].message and HELP in user.questions[1].message
    assert not (repo / "helped").exists()
    for count in [2, 3]:
        await choose(session, COMMON, "greeting")
        assert "is evaluated" in await until_told(session, count) and len(user.questions) == 3
    assert HELP in user.questions[2].message and (repo / "helped").exists()


@needs_puppet
async def test_secrets_and_errors_of_functions(start, repo: pathlib.Path) -> None:
    session = await start(repo, options=ON)
    User(session, "Run")
    await session.select("web01")
    session.open(COMMON)
    await choose(session, COMMON, "secret")
    await until_told(session, 1)
    hover = plain(await session.hover(COMMON, "secret"))
    assert re.search(AT, hover) and "Sensitive [value redacted]" in hover, hover
    await choose(session, COMMON, "failing")
    assert "fails: no such luck" in await until_told(session, 2)
    assert "The lookup fails: no such luck" in plain(await session.hover(COMMON, "failing"))
    assert "hunter2" not in json.dumps(session.client.received)


@needs_puppet
async def test_the_user_cancels_the_progress(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, options={"runBackends": {"enabled": True, "timeout": 1000}})
    User(session, "Run")
    session.open(COMMON)
    await choose(session, COMMON, "slow")

    def begun() -> Any:
        reports = [one["params"] for one in session.client.received if one.get("method") == "$/progress"]
        return [one for one in reports if "custom backends" in one["value"].get("title", "")]

    (report,) = await session.until("the progress", begun)
    assert report["value"]["cancellable"] is True
    await until(lambda: (repo / "mark.slow").exists())
    session.client.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(report["token"]))
    ended = {"token": report["token"], "value": {"kind": "end"}}
    await session.until("its end", lambda: any(one.get("params") == ended for one in session.client.received))
    (process,) = processes(repo)
    await until(lambda: not runs(process))
    assert not re.search("evaluated at", plain(await session.hover(COMMON, "slow")))
    # The next one has a process of its own.
    await choose(session, COMMON, "greeting")
    await until_told(session, 1)
    assert len(processes(repo)) == 2


@needs_puppet
async def test_a_removed_folder_takes_its_functions_along(start, repo: pathlib.Path) -> None:
    session = await start(repo, VSCODE, options={"runBackends": {"enabled": True, "timeout": 1000}})
    User(session, "Run")
    session.open(COMMON)
    await choose(session, COMMON, "slow")
    await until(lambda: (repo / "mark.slow").exists())
    (process,) = processes(repo)
    assert runs(process)
    folder = lsp.WorkspaceFolder(repo.as_uri(), "repo")
    event = lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folder])
    session.client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))
    await until(lambda: not runs(process))


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition outside of the session."""

    async def waiting() -> None:
        while not condition():
            await asyncio.sleep(0.02)

    await asyncio.wait_for(waiting(), PATIENCE)


@needs_puppet
@pytest.mark.parametrize("end", ["shutdown", "exit", "input", "killed"])
async def test_no_process_outlives_the_session(repo: pathlib.Path, end: str) -> None:
    server = await RawServer.start()
    options = {"runBackends": {"enabled": True, "timeout": 1000}}
    server.send("initialize", {"processId": None, "rootUri": repo.as_uri(), "capabilities": {}, "initializationOptions": options}, id=1)
    await server.answer(1)
    server.send("initialized", {})
    argument = {"uri": (repo / COMMON).as_uri(), "key": "slow"}
    server.send("workspace/executeCommand", {"command": COMMAND, "arguments": [argument]}, id=2)
    while message := await server.read():
        if message.get("method") == "window/showMessageRequest":
            break
    server.write(framed({"jsonrpc": "2.0", "id": message["id"], "result": {"title": "Run"}}))
    await until(lambda: (repo / "mark.slow").exists())
    (process,) = processes(repo)
    assert runs(process)
    match end:
        case "shutdown":
            server.send("shutdown", id=3)
            await server.answer(3)
            assert not runs(process), "the answer to shutdown tells that nothing runs"
            server.send("exit")
        case "exit":
            server.send("exit")
        case "input":
            server.process.stdin.close()
        case "killed":
            server.process.kill()
    await asyncio.wait_for(server.process.wait(), PATIENCE)
    await until(lambda: not runs(process))


def framed(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


# Every file of a repository that could hold the setting, and those that some clients read as settings.
DOORS = {
    ".hiera-ls.yaml": "runBackends: {enabled: true}\nbackends: {t::store: {files: []}}\n",
    ".vscode/settings.json": json.dumps({"hiera.runBackends.enabled": True, "hiera": ON}),
    ".neoconf.json": json.dumps({"lspconfig": {"hiera_ls": {"init_options": ON}}}),
    ".dir-locals.el": '((nil . ((eglot-workspace-configuration . (:hiera (:runBackends (:enabled t)))))))\n',
    "hiera.yaml": CONFIG.replace("lookup_key: t::store", "lookup_key: t::store\n    options: {runBackends: {enabled: true}}"),
    COMMON: "# hiera-ls: runBackends\n" + DATA,
}


@pytest.mark.parametrize("door", [*DOORS, "pulled", "pushed"])
async def test_no_file_of_the_repository_switches_it_on(start, repo: pathlib.Path, door: str) -> None:
    if door in DOORS:
        write(repo, door, DOORS[door])
    session = await start(repo, VSCODE, configuration=ON if door == "pulled" else None)
    user = User(session, "Run")
    if door == "pushed":
        session.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"hiera": ON}))
    assert session.result.capabilities.execute_command_provider is None, "nothing is announced"
    kinds = session.result.capabilities.code_action_provider.code_action_kinds
    assert "hiera.evaluate" not in kinds
    session.open(COMMON)
    session.open("hiera.yaml")
    assert await actions(session, COMMON, "greeting") == []
    assert [one for one in await actions(session, COMMON, "greeting", [""]) if one.command] == []
    assert "evaluate with" not in plain(await session.hover(COMMON, "greeting"))
    argument = {"uri": session.uri(COMMON), "key": "greeting"}
    with pytest.raises(Exception, match=f"there is no command {COMMAND}"):
        await session.request(lsp.WORKSPACE_EXECUTE_COMMAND, lsp.ExecuteCommandParams(COMMAND, [argument]))
    session.save(COMMON)
    await session.hover(COMMON, "greeting")
    assert user.questions == [] and processes(repo) == []


async def test_all_but_the_command_runs_nothing(start, repo: pathlib.Path) -> None:
    session = await start(repo, options=ON)
    user = User(session, "Run")
    session.open(COMMON)
    session.open("hiera.yaml")
    for file, needle in [(COMMON, "greeting"), (COMMON, "lookup('greeting"), ("hiera.yaml", "t::store")]:
        await session.hover(file, needle)
        await session.definition(file, needle)
        place = lsp.TextDocumentPositionParams(session.document(file), session.position(file, needle))
        at = (place.text_document, place.position)
        await session.request(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionParams(*at))
        await session.request(lsp.TEXT_DOCUMENT_REFERENCES, lsp.ReferenceParams(lsp.ReferenceContext(True), *at))
        await session.request(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, lsp.DocumentHighlightParams(*at))
        await actions(session, file, needle, [""])
        await session.request("hiera/explain", {"textDocument": place.text_document, "position": place.position})
        await session.request("hiera/hierarchy", {"textDocument": place.text_document, "position": place.position})
        await session.request("hiera/effectiveData", {"textDocument": place.text_document})
        await session.request(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensParams(session.document(file)))
    session.replace(COMMON, ("above: 1", "above: 3"))
    session.save(COMMON)
    await session.hover(COMMON, "greeting")
    assert user.questions == [] and processes(repo) == []


async def test_a_command_about_nothing_is_told(start, repo: pathlib.Path) -> None:
    session = await start(repo, options=ON)
    User(session, "Run")
    for number, argument in enumerate([{"uri": "file:///nowhere/x.yaml", "key": "a"}, {"uri": session.uri(COMMON), "key": "a", "node": "db99"}], 1):
        await session.request(lsp.WORKSPACE_EXECUTE_COMMAND, lsp.ExecuteCommandParams(COMMAND, [argument]))
        assert await until_told(session, number) == "Hiera: there is no key of Hiera here, or no such node"
    with pytest.raises(Exception, match="either a position or a key must be given"):
        await session.request(lsp.WORKSPACE_EXECUTE_COMMAND, lsp.ExecuteCommandParams(COMMAND, [{"uri": session.uri(COMMON)}]))
    assert processes(repo) == []
