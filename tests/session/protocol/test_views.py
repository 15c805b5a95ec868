"""The messages of our own that editors build views of: the hierarchy, the story of a lookup, all data of a node, the status."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types as lsp

from conftest import VSCODE
from session import Session, refused, slice_of

NODE = "data/nodes/web-01.oslo.example.net.yaml"
ROLE = "data/roles/web.yaml"
COMMON = "data/common.yaml"
VHOSTS = "profile::web::vhosts"


async def view(session: Session, message: str, file: str, at: str | None = None, **more: Any) -> Any:
    params: dict[str, Any] = {"textDocument": {"uri": session.uri(file)}, **more}
    if at:
        place = session.position(file, at)
        params["position"] = {"line": place.line, "character": place.character}
    return await session.request(f"hiera/{message}", params)


def marked(session: Session, file: str, span: Any) -> str:
    """The text that a range of a file marks."""
    start, end = (lsp.Position(place.line, place.character) for place in (span.start, span.end))
    return slice_of(session.text(file), lsp.Range(start, end), session.encoding)


def is_announced(client: lsp.ClientCapabilities) -> None:
    client.experimental = {"hiera": {"status": True}}


async def test_each_message_that_is_advertised_is_answered(session: Session) -> None:
    announced = session.result.capabilities.experimental["hiera"]
    assert announced == dict.fromkeys(["config", "effectiveData", "explain", "hierarchy", "nodes", "override", "overrideTargets", "reach", "selectNode", "status"], True)
    for message in announced.keys() - {"status"}:
        place = session.position(COMMON, "\ncompany:", 1)
        params = {"textDocument": {"uri": session.uri(COMMON)}, "position": place, "key": "a", "name": None, "node": "web-01.oslo.example.net"}
        assert await session.request(f"hiera/{message}", params) is not None, message


async def test_the_hierarchy_of_a_node_with_the_key_at_the_cursor(session: Session) -> None:
    session.open(NODE)
    shown = await view(session, "hierarchy", NODE, VHOSTS)
    assert (shown.scope, shown.key) == ("node web-01.oslo.example.net", VHOSTS)
    own = [level for level in shown.levels if level.layer == "environment"]
    assert [level.name for level in own][:4] == ["Secrets of a node", "Node", "Role at a site", "Role"]
    states = {location.path: location.state for level in own for location in level.locations}
    assert states[NODE] == states[ROLE] == states[COMMON] == "value"
    assert states["data/os/Debian.yaml"] == "file"
    assert states["data/secrets/web-01.oslo.example.net.eyaml"] == "missing"
    # Each place is one that an editor can open.
    for level in own:
        assert level.config.uri == session.uri("hiera.yaml")
        assert "%{" in marked(session, "hiera.yaml", level.config.range) or "." in marked(session, "hiera.yaml", level.config.range)
        for location in level.locations:
            if location.state == "value":
                assert location.uri == session.uri(location.path)
                assert marked(session, location.path, location.key) == VHOSTS
    assert "module profile" in [level.layer for level in shown.levels]


async def test_the_hierarchy_follows_the_node_and_the_text(session: Session) -> None:
    session.open(COMMON)
    await session.select("db-01.oslo.example.net")
    shown = await view(session, "hierarchy", COMMON, VHOSTS)
    assert shown.scope == "node db-01.oslo.example.net"
    paths = [location.path for level in shown.levels for location in level.locations]
    assert "data/roles/db.yaml" in paths and ROLE not in paths
    session.replace(COMMON, ("profile::web::vhosts:\n  shop", "profile::web::other:\n  shop"))
    shown = await view(session, "hierarchy", COMMON, "profile::web::other")
    assert shown.key == "profile::web::other"


async def test_the_hierarchy_without_a_place_or_a_node(session: Session) -> None:
    shown = await view(session, "hierarchy", ROLE)
    assert shown.key is None and shown.scope.startswith("for nodes with role = web")
    (undetermined,) = [level.locations[0] for level in shown.levels if level.name == "Node"]
    assert undetermined.state == "undetermined" and undetermined.uri is None
    assert "data/nodes/web-01.oslo.example.net.yaml" in [candidate.path for candidate in undetermined.candidates]
    assert await view(session, "hierarchy", "README.md") is None


async def test_the_story_of_a_lookup(session: Session) -> None:
    session.open(COMMON)
    story = await view(session, "explain", COMMON, "ntp_servers")
    assert story.key == "ntp_servers"
    story = await view(session, "explain", NODE, key=f"{VHOSTS}.shop.port")
    assert (story.key, story.scope) == (f"{VHOSTS}.shop.port", "node web-01.oslo.example.net")
    assert f'Searching for "{VHOSTS}.shop.port"' in story.text and "443" in story.text
    # The value and its places come first, and each place is a link.
    lines = story.text.splitlines()
    assert lines[:2] == [f"{VHOSTS}.shop.port", "node web-01.oslo.example.net"]
    assert lines.index("  443  # data/common.yaml:68") < lines.index("Places, in the order of the hierarchy")
    first = next(link for link in story.links if link.range.start.line == lines.index("  443  # data/common.yaml:68"))
    assert lines[first.range.start.line][first.range.start.character : first.range.end.character] == "data/common.yaml:68"
    assert first.target.uri.endswith("/data/common.yaml") and first.target.range.start.line == 67
    # No place and no key; a text that is no key; a place without one; a file without any.
    assert await refused(view(session, "explain", COMMON)) == -32602
    assert await refused(view(session, "explain", COMMON, key="a..b")) == -32602
    assert await view(session, "explain", COMMON, "# What holds") is None
    assert await view(session, "explain", "README.md", key="a") is None


async def test_the_governing_configs(session: Session) -> None:
    page = (await session.request("hiera/config", {})).text
    assert "hiera.yaml" in page and "  common.yaml" in page, page


async def test_all_data_of_a_node_without_its_secrets(session: Session) -> None:
    await session.select("web-01.oslo.example.net")
    data = await view(session, "effectiveData", COMMON)
    assert data.scope == "node web-01.oslo.example.net"
    assert f"\n# merged deep: {NODE}:3, {ROLE}:9, {COMMON}:65\n{VHOSTS}:\n" in data.text
    assert "\ncompany: Fjordkaffe\n" in data.text and "47kx" not in data.text and "ENC[PKCS7" not in data.text
    assert await view(session, "effectiveData", "README.md") is None


async def test_the_status_is_told_to_whom_announces_it(start: Any, repo: Any) -> None:
    session = await start(repo, VSCODE, capabilities=is_announced)

    def told() -> list[Any]:
        return [message["params"] for message in session.client.received if message.get("method") == "hiera/status"]

    await session.until("a status", lambda: [status for status in told() if status.state == "ready"])
    first = told()[-1]
    assert {status.state for status in told()[:-1]} <= {"reading"}
    assert (first.state, first.environments, first.nodes, first.selected) == ("ready", 1, 3, None)
    assert first.files > 10 and first.keys > 20
    await session.select("web-01.oslo.example.net")
    await session.until("the node", lambda: told()[-1].selected == "web-01.oslo.example.net")
    session.open(COMMON)
    session.insert(COMMON, len(session.text(COMMON)), "\nan::entirely::new_key: 1\n")
    await session.until("the key", lambda: told()[-1].keys == first.keys + 1)
    await session.until("the reach", lambda: told()[-1].reach == "this edit changes 1 key on 3 of 3 nodes")
    # An unchanged status is not sent again.
    assert all(one != other for one, other in zip(told(), told()[1:]))


async def test_the_status_names_the_configs_for_open_data_without_one(start: Any, repo: Any) -> None:
    (repo / "hieradata").mkdir()
    (repo / "hieradata/web.yaml").write_text("web::port: 80\n")
    (repo / "spec/fixtures").mkdir(parents=True, exist_ok=True)
    config = "version: 5\nhierarchy: [{name: Web, datadir: ../../hieradata, path: web.yaml}]\n"
    (repo / "spec/fixtures/hiera.yaml").write_text(config)
    session = await start(repo, VSCODE, capabilities=is_announced)

    def told() -> list[Any]:
        return [message["params"] for message in session.client.received if message.get("method") == "hiera/status"]

    await session.until("a status", lambda: [status for status in told() if status.state == "ready"])
    session.open(COMMON)
    assert told()[-1].withoutConfig == []
    session.open("hieradata/web.yaml")
    await session.until("the file", lambda: told()[-1].withoutConfig)
    [file] = told()[-1].withoutConfig
    assert (file.uri, file.settings) == (session.uri("hieradata/web.yaml"), session.uri(".hiera-ls.yaml"))
    [candidate] = [one for one in file.candidates if one.readsFile]
    wanted = (session.uri("spec/fixtures/hiera.yaml"), "spec/fixtures/hiera.yaml", 1)
    assert (candidate.uri, candidate.hieraConfig, candidate.dataFiles) == wanted
    assert file.candidates[0] == candidate
    session.close("hieradata/web.yaml")
    await session.until("no file", lambda: told()[-1].withoutConfig == [])


@pytest.mark.parametrize("announced", [None, {}, {"hiera": {}}, {"hiera": {"status": False}}, {"hiera": 5}, [], "status"])
async def test_the_status_is_told_to_nobody_else(start: Any, repo: Any, announced: Any) -> None:
    session = await start(repo, VSCODE, capabilities=lambda client: setattr(client, "experimental", announced))
    session.open(COMMON)
    await session.until_codes(COMMON)
    await session.select("web-01.oslo.example.net")
    assert not [message for message in session.client.received if message.get("method") == "hiera/status"]
