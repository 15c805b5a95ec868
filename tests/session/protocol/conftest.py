"""Fixtures: a copy of the control repository, and sessions as VS Code, Neovim and Emacs begin them."""

from __future__ import annotations

import asyncio
import copy
import functools
import pathlib
import shutil
from typing import Any, Awaitable, Callable

import pytest
import pytest_asyncio
from lsprotocol import types as lsp
from pytest_lsp import client_capabilities

from session import PATIENCE, SERVER, Client, Session

CONTROL_REPO = pathlib.Path(__file__).resolve().parents[2] / "control-repo"

# VS Code counts UTF-16 and watches files; Neovim prefers UTF-8 and watches none; Emacs offers three encodings.
CLIENTS = ["visual-studio-code@latest", "neovim@v0.11.0", "emacs@v29.1"]
VSCODE, NEOVIM, EMACS = CLIENTS


@functools.cache
def known_capabilities(editor: str) -> lsp.ClientCapabilities:
    """The capabilities of an editor. To read them takes as long as most tests do."""
    return client_capabilities(editor)


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the control repository that the test may change."""
    return shutil.copytree(CONTROL_REPO, tmp_path.resolve() / "control-repo")


@pytest_asyncio.fixture
async def start() -> Any:
    """Starts sessions, and ends each of them as it should be ended. A message that does not fit the protocol fails the test."""
    clients: list[Client] = []

    async def session(
        root: pathlib.Path,
        editor: str = VSCODE,
        *,
        folders: list[pathlib.Path] | None = None,
        root_uri: pathlib.Path | None = None,
        options: Any = None,
        configuration: Any = None,
        capabilities: Callable[[lsp.ClientCapabilities], None] = lambda capabilities: None,
    ) -> Session:
        client = Client()
        clients.append(client)
        if configuration is not None:
            client.set_configuration(configuration, section="hiera")
        announced = copy.deepcopy(known_capabilities(editor))
        capabilities(announced)
        await client.start_io(*SERVER)
        folders = [root] if folders is None else folders
        params = lsp.InitializeParams(
            capabilities=announced,
            root_uri=root_uri.as_uri() if root_uri else None,
            workspace_folders=[lsp.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders] or None,
            initialization_options=options,
        )
        return Session(client, root, await asyncio.wait_for(client.initialize_session(params), PATIENCE))

    yield session
    for client in clients:
        assert client.error is None, client.error
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
        assert client._server.returncode == 0, "shutdown and exit end the server with status 0"
        await client.stop()
        assert client.complaints == []


@pytest.fixture(params=CLIENTS)
def editor(request: pytest.FixtureRequest) -> str:
    """The capabilities of a real editor."""
    return request.param


@pytest_asyncio.fixture
async def session(start: Callable[..., Awaitable[Session]], repo: pathlib.Path, editor: str) -> Session:
    """A session of each of the editors in the control repository."""
    return await start(repo, editor)
