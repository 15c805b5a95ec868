// What a user of Neovim 0.11 sees of hiera-ls, in a terminal, on a copy of tests/control-repo, with the lines of editors/nvim/README.md in
// init.lua. The first check that fails ends the run with status 1.
import fs from "node:fs";
import path from "node:path";
import { Terminal, until } from "./terminal.mjs";

const [NODE, COMMON] = ["data/nodes/db-01.oslo.example.net.yaml", "data/common.yaml"];
const OUT = process.env.TERMINAL_OUT;
const CONTROL_W = "\x17";

const size = { columns: 108, rows: 22, fontSize: 15 };
// Neovim draws its own background; this is what is around it.
const theme = { background: "#14161b" };
const terminal = await Terminal.run(`"${process.env.NEOVIM}" ${NODE}`, { ...size, theme, profile: path.join(OUT, "chromium") });
try {
  await terminal.shows("profile::base::sysctl:");
  // Before that, K would look for a page of man.
  await terminal.type(":lua vim.wait(9000, function() local client = vim.lsp.get_clients()[1]; return client and client.initialized end, 20)\n");
  await terminal.type(":echo 'attached'\n");
  await terminal.shows("attached");

  await terminal.type(":echo ''\n4GK");
  const lines = process.env.VALUE.split("\n");
  await terminal.shows("node db-01.oslo.example.net", ...lines, "# Node", "# Role", "# Common", `merged hash from 3 files: Node ${NODE}:4, Role data/roles/db.yaml:9`, `set in ${COMMON}:9`);
  await terminal.screenshot(path.join(OUT, "hover.png"));
  if (process.env.HIERA_LS_RECORD) fs.copyFileSync(path.join(OUT, "hover.png"), process.env.PICTURE);
  console.log("ok: the float shows the value that is printed, and its levels");

  await terminal.type(`:edit ${COMMON}\n:$s/"%/"pool %/\n`);
  await terminal.shows('chrony::servers: "pool %{alias');
  await until("the sign", async () => /^E +76 /m.test(await terminal.screen()));
  await terminal.type(`${CONTROL_W}d`);
  await terminal.shows("`alias` is only permitted when the token is the entire string");
  await terminal.screenshot(path.join(OUT, "finding.png"));
  console.log("ok: a broken alias has a sign at its line, and a float that tells why");
  await terminal.type("u");
  await until("the end of the sign", async () => !/^E +76 /m.test(await terminal.screen()));
  console.log("ok: mending it takes the sign away");

  await terminal.type(`:edit! ${NODE}\n4G:HieraHierarchy\n`);
  await terminal.shows("data/roles/db.yaml:9", "|Role ", "no such file");
  await terminal.screenshot(path.join(OUT, "hierarchy.png"));
  // The lens of an edit, its report, and the choice of a node for an entry.
  await terminal.type(`:lclose\n:edit! ${COMMON}\n/^company\n:HieraOverride kyoto\n`);
  await terminal.shows("Override company for what?", "web-01.kyoto.example.net (now Fjordkaffe", "1 of 3 nodes");
  await terminal.screenshot(path.join(OUT, "override-targets.png"));
  const rows = (await terminal.screen()).split("\n");
  const number = rows.find((row) => row.includes("web-01.kyoto.example.net (now")).match(/^\s*(\d+):/)[1];
  await terminal.type(`${number}\n`);
  await terminal.shows("in which file?", "changes nothing for the 3 known nodes");
  await terminal.screenshot(path.join(OUT, "override-places.png"));
  await terminal.type("1\n");
  await terminal.shows("company: Fjordkaffe", "web-01.kyoto.example.net.yaml");
  console.log("ok: an entry is written for a node that is chosen, with its reach before");
  await terminal.type(":edit!\n");
  await terminal.type(`:edit! ${NODE}\n4G:HieraExplain\n`);
  await terminal.shows("Places, in the order of the hierarchy");
  await terminal.screenshot(path.join(OUT, "explain.png"));
  await terminal.type("q:HieraData\n");
  await terminal.shows("hiera://data");
  await terminal.screenshot(path.join(OUT, "data.png"));
  await terminal.type("q:HieraStatus!\n");
  await terminal.shows("levels:");
  await terminal.screenshot(path.join(OUT, "config.png"));
  await terminal.type("q:HieraStatus\n");
  await terminal.screenshot(path.join(OUT, "status.png"));
  await terminal.type("\n:HieraNodes\n");
  await terminal.screenshot(path.join(OUT, "nodes.png"));
} catch (error) {
  await terminal.screenshot(path.join(OUT, "failed.png")).catch(() => {});
  throw error;
} finally {
  await terminal.close();
}
