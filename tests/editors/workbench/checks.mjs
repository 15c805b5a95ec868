// What a user of VS Code sees of hiera-ls, on a copy of tests/control-repo with the packaged extension. Each check is one line of the output;
// the first that fails ends the run with status 1, a screenshot and the logs.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Host, until } from "./workbench.mjs";

const OUT = process.env.WORKBENCH_OUT;
const EXTENSION = "hiera-ls.hiera-ls";
const BUNDLED = process.env.WORKBENCH_BUNDLED;
const UNIVERSAL = process.env.WORKBENCH_UNIVERSAL;
const SAMPLE = path.resolve(import.meta.dirname, "../../control-repo");
const [NODE, COMMON] = ["data/nodes/web-01.oslo.example.net.yaml", "data/common.yaml"];

/** A copy of the sample repository, for one scenario to change. */
function repository(name) {
  const folder = path.join(OUT, "folders", name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.cpSync(SAMPLE, folder, { recursive: true });
  return folder;
}

/** The place of a text in a file, lines and columns from 1; a text that begins with a line end is at the start of a line. */
function place(folder, file, text) {
  const whole = fs.readFileSync(path.join(folder, file), "utf8");
  const at = whole.indexOf(text);
  if (at < 0) throw new Error(`${file} has no ${text}`);
  const before = whole.slice(0, at + (text.startsWith("\n") ? 1 : 0)).split("\n");
  return [before.length, before.at(-1).length + 1];
}

/** Changes a file before it is opened. */
function edit(folder, file, text, by) {
  const whole = fs.readFileSync(path.join(folder, file), "utf8");
  if (!whole.includes(text)) throw new Error(`${file} has no ${text}`);
  fs.writeFileSync(path.join(folder, file), whole.replace(text, by));
}

function check(condition, what, seen) {
  if (!condition) throw new Error(`${what}; seen: ${JSON.stringify(seen, null, 1)}`);
  console.log(`ok: ${what}`);
}

/** The servers that run for an editor: all that it starts has its home. */
function servers(host) {
  const read = (pid, what) => {
    try {
      return fs.readFileSync(`/proc/${pid}/${what}`, "utf8").split("\0");
    } catch {
      return []; // It has gone meanwhile.
    }
  };
  const pids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  const isServer = (pid) => path.basename(read(pid, "cmdline")[0] ?? "") === "hiera-ls" && read(pid, "cmdline")[1] === "server";
  return pids.filter((pid) => isServer(pid) && read(pid, "environ").includes(`HOME=${host.folder}/home`));
}

/** An extension of this folder as a package, made with what ours is made with. */
function packaged(name) {
  const [source, folder] = [path.join(import.meta.dirname, name), path.join(OUT, "folders", name)];
  const tool = (tool) => path.join(process.env.WORKBENCH_TOOLS, "node_modules/.bin", tool);
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(path.join(source, "package.json"), path.join(folder, "package.json"));
  const options = ["--bundle", "--external:vscode", "--format=cjs", "--platform=node", "--log-level=warning", `--outfile=${folder}/dist/extension.js`];
  const env = { ...process.env, NODE_PATH: path.join(process.env.WORKBENCH_TOOLS, "node_modules") };
  execFileSync(tool("esbuild"), [path.join(source, "extension.js"), ...options], { env });
  const allowed = ["--no-dependencies", "--allow-missing-repository", "--skip-license"];
  execFileSync(tool("vsce"), ["package", ...allowed, "--out", `${folder}.vsix`], { cwd: folder, stdio: "ignore" });
  return `${folder}.vsix`;
}

/** The configuration of a repository that begins with Hiera. */
const HIERA = "---\nversion: 5\nhierarchy:\n  - name: Common\n    path: common.yaml\n";

const UNWATCHED = { "files.watcherExclude": { "**": true } };

/** A window on a control repo without a hiera.yaml, and where that would be. The data beside it has two keys. */
async function beginning(host, name, config) {
  const folder = path.join(OUT, "folders", name);
  fs.rmSync(folder, { recursive: true, force: true });
  const data = path.join(path.dirname(config), "data");
  fs.mkdirSync(path.join(folder, data), { recursive: true });
  fs.writeFileSync(path.join(folder, "Puppetfile"), "mod 'puppetlabs-stdlib'\n");
  fs.writeFileSync(path.join(folder, data, "common.yaml"), "---\ngreeting: \"%{lookup('nobody')}\"\nname: x\n");
  const window = await host.open(folder);
  await window.go(path.join(data, "common.yaml"), 1, 1);
  await until("the extension", () => host.logs(EXTENSION).includes("no hiera.yaml in this workspace"));
  check(servers(host).length === 0, "without a hiera.yaml no server is started", servers(host));
  check((await window.status(EXTENSION)).length === 0, "and nothing is in the status bar", await window.status(EXTENSION));
  return [window, path.join(folder, config)];
}

/** Waits until the two keys of such a repository are known. */
function served(window) {
  return until("the server", async () => (await window.status(EXTENSION)).some((text) => text.includes("Hiera: 2 keys")));
}

const scenarios = {
  /** The main chain: hover, definition, findings, nodes, in one window. */
  async "a control repository"() {
    const host = await Host.start({ extensions: [BUNDLED], settings: { "editor.gotoLocation.multipleDefinitions": "goto" } });
    await within(host, async () => {
      const folder = repository("control-repo");
      const window = await host.open(folder);
      const { page } = window;

      // The picture of the README, about as large as it is shown. The line is low in the window, so that what is above the hover is seen, too.
      await window.resize(1180, 525);
      await window.reveal("Hiera");
      await window.go(COMMON, ...place(folder, COMMON, "\nchrony::servers"));
      await window.press(...Array(7).fill("Control+ArrowUp"));
      await until("the levels", async () => (await window.rows("Hierarchy")).length >= 9);
      const pictured = await window.hover();
      const groups = ["Array[String[1]]", "in all 3 known nodes", "ntp1.oslo.example.net", "in 2 nodes: db-01.oslo.example.net", "ntp.kyoto.example.net", "explain"];
      check(groups.every((text) => pictured.includes(text)), "the hover of the README's picture has the value of each group of nodes", pictured);
      await window.screenshot("readme", { clip: { x: 48, y: 36, width: 1132, height: 453 } });
      if (process.env.HIERA_LS_RECORD) fs.copyFileSync(path.join(OUT, "readme.png"), path.resolve(import.meta.dirname, "../../../editors/vscode/media/hover.png"));
      await until("the picture of the hover", async () => {
        await window.hover(); // The window may have hidden the one before.
        const box = await window.hovers.first().boundingBox({ timeout: 3000 });
        await window.picture("hover", { x: box.x - 4, y: box.y - 4, width: box.width + 5, height: box.height + 26 });
        return true;
      });
      await window.press("Escape");
      await window.resize(1280, 800);

      await window.go(NODE, ...place(folder, NODE, "profile::web::vhosts"));
      const hover = await window.hover();
      const wanted = ["node web-01.oslo.example.net", "keepalive: 75", "merged deep", "from 3 files: Node, Role, Common", "# Role"];
      check(wanted.every((text) => hover.includes(text)), "the hover shows the effective value with its levels", hover);
      await window.frame(3500);
      await window.screenshot("hover");

      await window.go(COMMON, ...place(folder, COMMON, "ntp_servers"));
      await window.frame(1500);
      const definition = await window.definition();
      const at = (file) => `${file}:${place(folder, file, "ntp_servers:").join(":")}`;
      check(definition === at("data/sites/oslo/network.yaml"), "F12 on an alias lands in the file and line of its key", definition);
      await window.frame(2000);
      await window.screenshot("definition");

      await window.go(COMMON, ...place(folder, COMMON, "%{alias('ntp_servers')}"));
      await window.page.keyboard.type("pool ");
      const [problem] = await until("the finding", async () => ((await window.problems()).length > 0 ? window.problems() : undefined));
      check(problem.includes("`alias` is only permitted") && problem.includes("line 76") && problem.includes("hiera-ls"), "a broken alias is in Problems", problem);
      await until("the underline", () => window.page.locator(".squiggly-error").first().isVisible());
      check(true, "and is underlined");
      await page.mouse.move(20, 450); // Over a tab it would show the file's path on this machine.
      await window.frame(2500);
      await window.screenshot("broken-alias");
      await window.go(COMMON, 76, place(folder, COMMON, "%{alias('ntp_servers')}")[1] + "pool ".length);
      await window.press(...Array(5).fill("Backspace"));
      await until("a file without findings", async () => (await window.problems()).length === 0 && (await window.page.locator(".squiggly-error").count()) === 0);
      check(true, "mending it clears both");

      // The entries of the status bar: the server's counts, and the node.
      const counts = await until("the counts", async () => (await window.status(EXTENSION)).find((text) => /Hiera: \d+ keys/.test(text)));
      check(/1 environment, \d+ files, \d+ keys, 3 nodes/.test(counts), "the status bar tells of the server and its index", counts);
      check((await window.toasts()).length === 0, "and a first start shows no notification", await window.toasts());
      await window.page.locator(`.statusbar-item[id="${EXTENSION}.server"]`).click();
      await until("the menu of the status bar", async () => (await window.picks()).some((pick) => pick.includes("Show the Governing hiera.yaml")));
      await window.screenshot("menu");
      const menu = await window.picks();
      const offered = ["Select Node", "Reach of Unsaved Edits", "Open Settings", "Show Output", "Show Version", "Restart Server"];
      check(offered.every((title) => menu.some((pick) => pick.includes(title))), "a click on the status bar offers the commands about the server", menu);
      await window.pick("Show the Governing hiera.yaml");
      const governing = await until("the page about the configs", async () => ((await window.text(1)).includes("hiera.yaml governs") ? window.text(1) : undefined));
      check(governing.includes("levels:"), "the status bar leads to the configs that govern", governing);
      await window.screenshot("config");
      await window.command("View: Close Editors in Other Groups");
      await window.page.locator(`.statusbar-item[id="${EXTENSION}.node"]`).click();
      const picks = await until("the nodes", async () => ((await window.picks()).length >= 4 ? window.picks() : undefined));
      check(picks.some((pick) => pick.includes("web-01.kyoto.example.net")), "the node's entry opens a picker", picks);
      await window.frame(1500);
      await window.screenshot("picker");
      await window.pick("web-01.kyoto.example.net");
      await until("the node in the status bar", async () => (await window.status(EXTENSION)).some((text) => text.includes("web-01.kyoto")));
      await window.go(COMMON, ...place(folder, COMMON, "\nprofile::web::vhosts"));
      const followed = await until("the hover of the other node", async () => {
        const hover = await window.hover();
        return hover.includes("node web-01.kyoto.example.net") ? hover : undefined;
      });
      check(followed.includes("kissaten.example.net") && !followed.includes("butikk"), "the hover follows the node", followed);
      await window.frame(3500);

      const levels = await until("the levels of the other node and key", async () => {
        const rows = await window.rows("Hierarchy");
        return rows.some((row) => row.startsWith("Node, data/nodes/web-01.kyoto.example.net.yaml, has the key; the value comes from it")) ? rows : undefined;
      });
      check(levels.some((row) => row.startsWith("Common, data/common.yaml, has the key")), "the Hierarchy view tells which files have the key", levels);
      check(levels.some((row) => row.startsWith("Operating system, data/os/") && row.includes("without the key")), "and which have not", levels);
      check(levels.some((row) => row.includes("no such file")), "and which do not exist", levels);
      // The view is as wide as VS Code makes it: rows leave out the folder of all files, and their tooltips have it.
      const described = await page.locator(".pane .monaco-list-row").filter({ hasText: /^Node/ }).first().innerText();
      check(described.includes("web-01.kyoto.example.net.yaml in nodes") && !described.includes("data/"), "a row of a level has the part of the path that differs", described);
      await window.screenshot("hierarchy");
      await window.widen(300);
      await window.screenshot("hierarchy-300");
      const seen = await window.seen("Hierarchy");
      const essential = ["Secrets of a node web-01.k", "Node web-01.kyoto.example.net", "Role at a site web.yaml", "Site network.yaml in sites/kyoto", "Tenants on the machine retail", "Operating system Debian.yaml"];
      check(essential.every((start) => seen.some((row) => row.startsWith(start))), "at 300 pixels each row of the view shows its level and its file", seen);
      await window.page.locator(".pane .monaco-list-row").filter({ hasText: /^Role\s*web\.yaml in roles/ }).first().click();
      const opened = await until("the place", async () => ((await window.where()).startsWith("data/roles/web.yaml") ? window.settled() : undefined));
      check(opened === `data/roles/web.yaml:${place(folder, "data/roles/web.yaml", "profile::web::vhosts").join(":")}`, "a click on a level opens the place", opened);

      await window.resize(1700, 1000);
      await window.command("Hiera: Explain Lookup of the Key at the Cursor");
      const story = await until("the page about the key", async () => ((await window.text(1)).includes("Places, in the order of the hierarchy") ? window.text(1) : undefined));
      check(/  port: 443 +# data\/common\.yaml:68/.test(story), "the page begins with the value, each part with its place", story);
      await until("the links", async () => (await window.page.locator(".detected-link").count()) > 0);
      const tabs = await window.page.locator(".tab .tab-label").evaluateAll((tabs) => tabs.map((tab) => tab.textContent));
      await window.screenshot("explained");
      await window.resize(1280, 800);
      await until("lines that are wrapped", async () => {
        const group = page.locator(".editor-group-container").nth(1);
        const [lines, numbers] = [await group.locator(".view-line").count(), await group.locator(".line-numbers").filter({ hasText: /\d/ }).count()];
        return lines > numbers + 3;
      });
      await window.screenshot("wrapped");
      check(true, "a long line of a narrow page goes on below its own beginning");
      check(tabs.includes("profile::web::vhosts explained") && story.includes("node web-01.kyoto"), "the story of the lookup is a document", [tabs, story]);
      await page.mouse.move(20, 450); // Over a tab it would show the file's path on this machine.
      await window.frame(3500);
      await window.command("Hiera: Show Effective Data of the Node");
      const data = await until("the data", async () => ((await window.text(1)).includes("# node web-01.kyoto") ? window.text(1) : undefined));
      check(data.includes("\nchrony::servers:") || data.includes("chrony::"), "the effective data of the node is a document", data);
      await window.screenshot("effective-data");
      await window.command("Hiera: Show Version");
      const toast = await until("the version", async () => (await window.toasts()).find((text) => text.includes("hiera-ls ")));
      check(/Hiera \d+\.\d+\.\d+, hiera-ls \d+\.\d+\.\d+ at /.test(toast), "the version is shown", toast);
      await window.command("Hiera: Show Output");
      const output = window.page.locator(".part.panel .output-view-content, .part.panel .view-lines").first();
      await until("the output", async () => (await output.innerText()).replaceAll("\u00a0", " ").includes("hiera-ls 0."));
      check(true, "and the output");
      await window.screenshot("output");
    });
  },

  /** What people do all day, in one window: each by the editor's own keys, and what is then to be seen. */
  async "a day's work"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = repository("day");
      edit(folder, COMMON, "vm.swappiness: 30", "vm.swappiness: thirty");
      edit(folder, COMMON, "%{lookup('profile::base::contact')}", "%{lookup('profile::base::contcat')}");
      const window = await host.open(folder);
      const { page } = window;
      await window.resize(1180, 760);
      const saved = async (file) => {
        await until(`${file} on the disk`, async () => {
          await window.press("Control+S");
          await page.waitForTimeout(300);
          return (await page.locator(".tab.active.dirty").count()) === 0;
        });
        return fs.readFileSync(path.join(folder, file), "utf8");
      };

      // The leaf of a merged hash that has a wrong type is underlined, and nothing else of the hash.
      await window.go(COMMON, ...place(folder, COMMON, "thirty"));
      await until("the underline", () => page.locator(".squiggly-error").first().isVisible());
      const underlined = await page.locator(".squiggly-error").first().boundingBox();
      const leaf = await page.locator(".view-line span span").filter({ hasText: /^thirty$/ }).first().boundingBox();
      check(Math.abs(underlined.x - leaf.x) < 3 && Math.abs(underlined.width - leaf.width) < 6, "a wrong leaf is underlined, and only it", [underlined, leaf]);
      const told = await window.hover();
      check(told.includes("parameter 'sysctl' entry 'vm.swappiness' expects an Integer value"), "its hover says what the parameter wants", told);

      // The code of a finding leads to the page of its rule: in the hover, and in Problems.
      const rulePage = async (code) => {
        const shown = await until(`the page of ${code}`, () => window.rendered(code));
        await window.screenshot(`page-${code}`);
        await window.command("View: Close Editor");
        await until("the end of the page", async () => (await window.rendered(code)) === undefined);
        return shown;
      };
      await until("a click on the code in the hover", async () => {
        await window.hover(); // Its parts come one after the other: what is clicked may give way to another.
        await window.hovers.locator("a").filter({ hasText: "parameter-type" }).first().click({ timeout: 3000 });
        return true;
      });
      const typed = await rulePage("parameter-type");
      check(["What it finds", "Why", "Better", "Source"].every((heading) => typed.includes(heading)), "a click on the code of a finding in its hover opens the page of the rule", typed);
      await window.problems();
      const row = page.locator(".markers-panel .monaco-list-row").filter({ hasText: "contcat" });
      await row.locator("a").filter({ hasText: "unknown-key" }).first().click();
      const unknown = await rulePage("unknown-key");
      const printed = execFileSync(process.env.WORKBENCH_SERVER, ["rules", "unknown-key"], { encoding: "utf8" });
      const paragraph = printed.split("\n\n")[2].replaceAll("`", "").replaceAll("\n", " ");
      check(unknown.replaceAll("\n", " ").includes(paragraph), "and in Problems, with the text that the program prints", [unknown, paragraph]);
      await window.command("View: Toggle Panel Visibility");

      // What only Hiera knows has colors of its own, which the editor's YAML gives to no part of a string; behind a token stands its value.
      const drawn = async (line, piece) => until(`${piece} on its own`, async () => {
        const found = await window.drawn(line, piece);
        return found?.text === piece ? found : undefined;
      });
      await window.go(COMMON, ...place(folder, COMMON, "contcat"));
      const known = await drawn("drift@", "domain");
      const around = await until("the string around it", () => window.drawn("drift@", "drift@"));
      const colors = [around, await drawn("drift@", "%{"), await drawn("drift@", "lookup"), known].map(({ color }) => color);
      check(new Set(colors).size === 4, "a token's braces, function and key have colors that the string around it has not", colors);
      const unknownKey = await drawn("Spørsmål", "profile::base::contcat");
      check(unknownKey.color !== known.color && unknownKey.fontStyle === "italic" && known.fontStyle === "normal", "a key that no level has is told apart", [unknownKey, known]);
      const hint = await drawn("drift@", "= example.net");
      check(!colors.includes(hint.color), "the value of a token is shown behind it", hint);
      await window.screenshot("colors");
      host.configure({ ...host.settings, "editor.semanticHighlighting.enabled": false, "editor.inlayHints.enabled": "off" });
      const plain = await until("colors without the server's", async () => {
        const found = await window.drawn("drift@", "domain");
        return found !== undefined && found.text !== "domain" && found;
      });
      check(plain.color === around.color, "without the server's colors the key looks like the string", plain);
      await until("no value", async () => (await window.drawn("drift@", "= example.net")) === undefined);
      check(true, "and without hints there is no value");
      host.configure(host.settings);

      // The picture of a finding: about as wide as it is shown.
      await window.resize(900, 760);
      await window.go(COMMON, ...place(folder, COMMON, "contcat"));
      await window.hover();
      const over = window.hovers.first();
      // Its parts come one after the other.
      await until("all of the hover", async () => {
        const text = (await over.innerText()).replaceAll("\u00a0", " ");
        return ["no level of any layer", "unknown-key", "No value is found", "Quick Fix"].every((part) => text.includes(part));
      });
      check(true, "the hover of a finding names its rule, the value, and the way to a fix");
      const at = await over.boundingBox();
      await window.picture("finding", { x: at.x - 4, y: at.y - 4, width: at.width + 5, height: at.height + 26 });
      await window.press("Escape");
      await window.resize(1180, 760);

      // A quick fix, by its keys.
      await window.go(COMMON, ...place(folder, COMMON, "contcat"));
      const fixes = await until("the quick fixes", async () => {
        await window.press("Control+.");
        await page.locator(".action-widget .monaco-list-row").first().waitFor({ timeout: 3000 });
        return page.locator(".action-widget .monaco-list-row").allInnerTexts();
      });
      check(fixes.some((text) => text.includes("Change to 'profile::base::contact'")), "a quick fix names the key that was probably meant", fixes);
      await window.screenshot("quick-fix");
      await window.press("Enter");
      await until("the end of the menu", async () => (await page.locator(".action-widget").filter({ visible: true }).count()) === 0);
      await until("the fix", async () => (await saved(COMMON)).includes("%{lookup('profile::base::contact')}"));
      check(true, "and Enter applies it");
      await until("the mended key", async () => {
        const mended = await drawn("Spørsmål", "profile::base::contact");
        return mended.color === known.color && mended.fontStyle === "normal";
      });
      check(true, "then the key is drawn like one that a level has");

      // Rename with its preview.
      await window.go("data/sites/oslo/network.yaml", ...place(folder, "data/sites/oslo/network.yaml", "ntp_servers"));
      const name = page.locator(".rename-box input");
      await until("the box for the name", async () => {
        await window.press("Escape", "F2");
        await name.waitFor({ timeout: 3000 });
        return true;
      });
      await name.fill("time_servers");
      await window.press("Control+Enter");
      const changes = page.locator(".bulk-edit-panel .monaco-list-row");
      const previewed = await until("the preview", async () => ((await changes.count()) >= 3 ? changes.evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label"))) : undefined));
      const files = ["data/common.yaml", "data/sites/kyoto/network.yaml", "data/sites/oslo/network.yaml"];
      check(previewed.filter((row) => /common\.yaml|network\.yaml/.test(row)).length >= 3, "rename previews the files that name the key", previewed);
      await window.screenshot("rename-preview");
      await page.locator(".bulk-edit-panel .monaco-button").filter({ hasText: "Apply" }).first().click();
      await until("the rename", async () => {
        await window.command("File: Save All");
        return files.every((file) => fs.readFileSync(path.join(folder, file), "utf8").includes("time_servers"));
      });
      check(files.every((file) => !fs.readFileSync(path.join(folder, file), "utf8").includes("ntp_servers")), "and applies it to every level and token");

      // A lens opens a peek with the other places. By themselves keys that are merged as the hierarchy has it have none.
      check((await page.locator(".codelens-decoration a").filter({ hasText: "merged" }).count()) === 0, "a plain merge has no lens by itself");
      fs.mkdirSync(path.join(folder, ".vscode"), { recursive: true });
      fs.writeFileSync(path.join(folder, ".vscode/settings.json"), JSON.stringify({ "hiera.codeLens.allOverrides": true }));
      await window.go(COMMON, ...place(folder, COMMON, "\nprofile::web::vhosts"));
      const lens = page.locator(".codelens-decoration a").filter({ hasText: /role|merged|overrid/ }).first();
      await lens.waitFor();
      await window.screenshot("lenses");
      const peek = page.locator(".peekview-widget");
      // VS Code may show lenses of an earlier answer, whose commands it has dropped, until the text is scrolled.
      await until("the peek of the lens", async () => {
        await window.go(COMMON, 1, 1);
        await window.go(COMMON, ...place(folder, COMMON, "\nprofile::web::vhosts"));
        await lens.click({ timeout: 3000 });
        await peek.waitFor({ timeout: 5000 });
        return true;
      });
      const peeked = page.locator(".peekview-widget .ref-tree .monaco-list-row");
      await until("its places", async () => (await peeked.count()) >= 2);
      await window.screenshot("lens-peek");
      check(true, "a click on a lens peeks at the places");
      await window.press("Escape");
      await until("the end of the peek", async () => (await peek.count()) === 0);

      // References.
      await window.go(COMMON, ...place(folder, COMMON, "\ndomain:"));
      await until("the references", async () => {
        await window.press("Shift+F12");
        await peek.waitFor({ timeout: 5000 });
        return true;
      });
      const references = await until("their files", async () => ((await peeked.count()) >= 2 ? peeked.evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? row.textContent)) : undefined));
      check(references.some((row) => row.includes("web.yaml")), "Shift+F12 peeks at the tokens that read a key", references);
      await window.screenshot("references");
      await window.press("Escape");
      await until("the end of the peek", async () => (await peek.count()) === 0);

      // The reach of an edit that is not saved.
      await window.go(COMMON, ...place(folder, COMMON, "\ndomain:"));
      await window.press("End");
      await page.keyboard.type("x");
      const reach = page.locator(".codelens-decoration a").filter({ hasText: "this edit changes" }).first();
      await reach.waitFor();
      const counted = (await reach.innerText()).replaceAll("\u00a0", " ");
      check(/^this edit changes \d keys on 3 of 3 nodes$/.test(counted), "a lens counts the keys and nodes of an edit that is not saved", counted);
      const total = page.locator(`.statusbar-item[id="${EXTENSION}.reach"]`);
      await until("the reach in the status bar", async () => (await total.innerText()).replaceAll("\u00a0", " ").includes(counted), 10000);
      check(true, "the status bar counts them, too");
      await window.screenshot("reach");
      const report = await until("the report", async () => {
        await reach.click({ timeout: 3000 });
        return until("its text", async () => ((await window.text(1)).includes("~ domain") ? window.text(1) : undefined), 5000);
      });
      check(report.includes("profile::base::contact"), "and leads to a report with the keys that ask for the edited one", report);
      await window.screenshot("reach-report");
      await window.resize(1760, 800);
      const above = await reach.boundingBox();
      await window.picture("reach-lens", { x: above.x - 50, y: above.y - 52, width: 560, height: 150 }, "docs/pictures");
      const beside = await page.locator(".editor-group-container").nth(1).boundingBox();
      await window.picture("reach-report", { ...beside, height: 330 }, "docs/pictures");
      await window.resize(1280, 800);
      await page.keyboard.type("y");
      await until("the report about the next edit", async () => (await window.text(1)).includes("example.netxy"));
      check(true, "which follows the next edit");
      await window.command("File: Revert File");
      await until("the end of the lens", async () => (await page.locator(".codelens-decoration a").filter({ hasText: "this edit" }).count()) === 0);
      await until("the end of the entry", async () => !(await total.isVisible()));
      await window.command("View: Close Other Editors in Group");
      await window.command("View: Close Editors in Other Groups");

      // Completion, accepted by key.
      await window.go(NODE, 1, 1);
      await window.press("Control+End");
      await page.keyboard.type("profile::web::w");
      const words = page.locator(".suggest-widget.visible .monaco-list-row");
      const offered = await until("the words", async () => {
        if ((await words.count()) === 0) await window.press("Control+Space");
        await words.first().waitFor({ timeout: 3000 });
        return words.evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label")));
      });
      check(offered[0].includes("profile::web::workers"), "a half-typed key is completed to what the class takes", offered);
      await window.screenshot("completion");
      await window.press("Enter");
      await page.keyboard.type("8");
      await window.press("Escape");
      const completed = await saved(NODE);
      check(/\nprofile::web::workers: ["']?8/.test(completed), "and Enter accepts it, with its colon", completed);

      // The parameter in the hover, and the jump to it.
      await window.go(NODE, ...place(folder, NODE, "profile::web::workers"));
      const hover = await window.hover();
      check(hover.includes("Integer[1]") && hover.includes("class profile::web"), "the hover of a key has the type and the class of its parameter", hover);
      await window.screenshot("parameter");
      await window.hovers.locator(".hover-contents a").filter({ hasText: "class profile::web" }).first().click();
      const manifest = "site-modules/profile/manifests/web.pp";
      const line = place(folder, manifest, "$workers")[0];
      const opened = await until("the manifest", async () => ((await window.where()).startsWith(manifest) ? window.settled() : undefined));
      check(opened.startsWith(`${manifest}:${line}:`), "and leads to it", opened);

      // The keys of a file, each with the levels that have it.
      await window.reveal("Hiera");
      await window.go(NODE, ...place(folder, NODE, "profile::base::packages"));
      const keys = page.locator(".pane .monaco-list-row").filter({ hasText: /^Keys/ });
      await keys.first().click();
      const key = page.locator(".pane .monaco-list-row").filter({ hasText: /^profile::base::packages/ });
      await until("the keys", async () => (await key.count()) > 0);
      await key.first().locator(".monaco-tl-twistie").click();
      const rows = await until("the levels of the key", async () => {
        const rows = await window.rows("Hierarchy");
        const from = rows.findIndex((row) => row.includes("profile::base::packages"));
        return from >= 0 && rows.slice(from).some((row) => row.startsWith("Node, ")) ? rows.slice(from) : undefined;
      });
      check(rows.some((row) => row.startsWith("Common, data/common.yaml, has the key")), "the Hierarchy view lists the keys of the file, each with the levels that have it", rows);
      await window.screenshot("keys");

      // What was done is ticked.
      await window.command("Hiera: Explain Lookup of the Key at the Cursor");
      await window.resize(1700, 760);
      await until("the page", async () => (await window.text(1)).includes("Places, in the order of the hierarchy"));
      await page.mouse.move(5, 755); // Nothing is said of what lies there.
      await until("the links", async () => (await page.locator(".detected-link").count()) > 0);
      const story = await page.locator(".editor-group-container").nth(1).boundingBox();
      await window.picture("explain", { x: story.x, y: story.y, width: 665, height: 376 });
      await window.resize(1180, 760);
      await window.command("Hiera: Select Node");
      await until("the nodes", async () => (await window.picks()).some((pick) => pick.startsWith("web-01.oslo")));
      await page.mouse.move(5, 755);
      await window.picture("node", await window.quick.boundingBox());
      await window.pick("web-01.oslo.example.net");
      await until("the node in the status bar", async () => (await window.status(EXTENSION)).some((text) => text.includes("web-01.oslo")));
      await window.command("View: Close All Editors");
      await window.command("Welcome: Open Walkthrough...");
      await until("the walkthrough", async () => (await window.picks()).some((pick) => pick.includes("Hiera")));
      await window.pick("Get Started with Hiera");
      const done = page.locator(".getting-started-step [data-done-step-id].complete");
      await until("its ticks", async () => (await done.count()) === 5);
      check(true, "all steps of the walkthrough that were done are ticked");
      await window.resize(1400, 900);
      for (const [number, name] of ["open", "node", "hover", "finding", "explain"].entries()) {
        await page.locator(".getting-started-step .step-title").nth(number).click();
        await page.waitForTimeout(2500);
        await window.screenshot(`walkthrough-${name}`);
      }
    });
  },

  /** What LSP 3.18 brings: a new key is named once, and the menu of actions has documentation. */
  async "a key that is extracted"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = repository("extracted");
      fs.appendFileSync(path.join(folder, COMMON), "first: {a: [x, y]}\nsecond: {a: [x, y]}\n");
      const window = await host.open(folder);
      const { page } = window;
      const rows = page.locator(".action-widget .monaco-list-row");
      const menu = async () => {
        await until("the menu", async () => {
          await window.press("Escape", "Control+.");
          await rows.filter({ hasText: "Extract the value, 2 times" }).first().waitFor({ timeout: 3000 });
          return true;
        });
      };
      await window.go(COMMON, ...place(folder, COMMON, "{a: [x, y]}"));
      await menu();
      await window.screenshot("menu");
      const documentation = page.locator(".action-widget").getByText("Which refactorings there are");
      check((await documentation.count()) > 0, "the menu of actions leads to their documentation", await page.locator(".action-widget").first().innerText());
      await documentation.first().click();
      const text = await until("the page", () => window.rendered("Refactorings"));
      check(text.includes("A value that a file repeats"), "which is a page of the server", text);
      await window.screenshot("documentation");

      // The name of the new key is typed once.
      await window.go(COMMON, ...place(folder, COMMON, "{a: [x, y]}"));
      await menu();
      await rows.filter({ hasText: "Extract the value, 2 times" }).first().click();
      await until("the new key", async () => (await window.text()).includes("shared_first"));
      await page.keyboard.type("common_ports");
      await window.screenshot("extracted");
      await window.press("Escape", "Escape");
      const written = await until("the file", async () => {
        await window.press("Control+S");
        const text = fs.readFileSync(path.join(folder, COMMON), "utf8");
        return text.includes("common_ports") ? text : undefined;
      });
      const lines = ["common_ports: {a: [x, y]}", "first: \"%{alias('common_ports')}\"", "second: \"%{alias('common_ports')}\""];
      check(lines.every((line) => written.includes(`\n${line}\n`)) && !written.includes("shared_first"), "the name of an extracted key is typed once, and stands at each of its places", written.slice(-400));
    });
  },

  /** "Override for…": a node or a file of a level is chosen, and the entry is written with its present value. */
  async "an entry for one node"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = repository("override");
      const window = await host.open(folder);
      const { page, quick } = window;
      await window.resize(1000, 640);
      await window.go(COMMON, ...place(folder, COMMON, "\ncompany:"));
      await window.hover();
      const rows = page.locator(".action-widget .monaco-list-row").filter({ hasText: "Override `company` for…" });
      const begin = async () => {
        await until("the menu", async () => {
          await window.press("Escape", "Control+.");
          await rows.first().waitFor({ timeout: 3000 });
          return true;
        });
        await rows.first().click();
        return until("the list", async () => ((await window.picks()).length > 4 ? window.picks() : undefined));
      };
      const listed = await begin();
      check(listed.some((row) => row.includes("data/roles/web.yaml, Role · 2 of 3 nodes · now Fjordkaffe")), "files of levels are listed with the present value", listed);
      await window.screenshot("targets");
      await page.keyboard.type("KYOTO");
      const filtered = await until("the nodes of a typed name", async () => {
        const picks = await window.picks();
        return picks.length > 0 && picks.every((row) => row.includes("kyoto")) ? picks : undefined;
      });
      const kyoto = filtered.find((row) => row.includes("web-01.kyoto.example.net"));
      check(kyoto?.includes("data/nodes/web-01.kyoto.example.net.yaml · now Fjordkaffe"), "a typed text filters files and nodes", filtered);
      check(filtered.some((row) => row.includes("kyoto/roles/web.yaml") && row.includes("new file")), "files that are missing are among them", filtered);
      await window.screenshot("filtered");
      await window.pick("web-01.kyoto.example.net");
      const places = await until("the files", async () => {
        const picks = await window.picks();
        return picks.some((row) => row.includes("changes nothing for the 3 known nodes")) ? picks : undefined;
      });
      check(places[0].includes("data/nodes/web-01.kyoto.example.net.yaml") && places[0].includes("governs 1 of 3 nodes"), "the file of the node comes first, with its reach", places);
      check(places.some((row) => row.includes("data/roles/web.yaml")), "and the files of its role follow", places);
      await window.screenshot("places");
      await page.mouse.move(2, 2); // A row at the pointer has a tooltip.
      const box = await quick.boundingBox();
      await window.picture("override", { x: box.x - 4, y: box.y - 4, width: box.width + 8, height: box.height + 8 }, "docs/pictures");
      await window.press("Enter");
      const NEW = "data/nodes/web-01.kyoto.example.net.yaml";
      const behind = `${NEW}:9:${"company: Fjordkaffe".length + 1}`;
      await until("the entry", async () => (await window.where()) === behind && (await window.text()).includes("company: Fjordkaffe"));
      check(true, "the entry is written into that file, which is shown");
      await page.keyboard.type("!");
      await until("the edited value", async () => (await window.text()).includes("company: Fjordkaffe!"));
      check(true, "with the cursor behind the value");
      const reach = page.locator(".codelens-decoration a").filter({ hasText: "on 1 of 3 nodes" });
      await reach.first().waitFor();
      check(true, "the reach of the edited value is that node");
      await window.screenshot("written");
      await window.command("File: Revert File");
      await window.go(COMMON, ...place(folder, COMMON, "\ncompany:"));
      await begin();
      await page.keyboard.type("kyoto/roles");
      await until("the file of a level", async () => (await window.picks()).every((row) => row.includes("kyoto/roles")));
      await window.pick("sites/kyoto/roles/web.yaml");
      await until("its reach", async () => (await window.picks()).some((row) => row.includes("changes nothing")));
      await window.press("Enter");
      const CREATED = "data/sites/kyoto/roles/web.yaml";
      await until("the new file", async () => (await window.where())?.startsWith(`${CREATED}:`) && (await window.text()).includes("company: Fjordkaffe"));
      check(fs.existsSync(path.join(folder, CREATED)), "a file that is missing is created", await window.text());
    });
  },

  /** One data file, opened without a folder. */
  async "a file without its folder"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = repository("alone");
      const window = await host.openFile(path.join(folder, NODE));
      await until("the server", async () => (await window.status(EXTENSION)).some((text) => text.includes("Hiera: 35 keys")));
      await window.page.locator(".view-line").filter({ hasText: "vhosts" }).first().click();
      const hover = await window.hover();
      check(hover.includes("keepalive: 75") && hover.includes("merged deep"), "a file that is opened without its folder is served from the hiera.yaml above it", hover);
      await window.screenshot("alone");
    });
  },

  /** A repository without settings and facts: the files of its node level are its nodes. */
  async "a repository without settings"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = path.join(OUT, "folders", "unprepared");
      fs.rmSync(folder, { recursive: true, force: true });
      const write = (file, text) => {
        fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
        fs.writeFileSync(path.join(folder, file), text);
      };
      const levels = ["nodes/%{trusted.certname}", "roles/%{role}", "common"].map((name) => `  - {name: ${name.split("/")[0]}, path: "${name}.yaml"}\n`);
      write("hiera.yaml", `version: 5\nhierarchy:\n${levels.join("")}`);
      for (const name of ["db-01", "web-01", "web-02"]) write(`data/nodes/${name}.yaml`, `serial: ${name}\n`);
      write("data/nodes/web-02.yaml", "serial: web-02\nport: 8080\n");
      write("data/roles/web.yaml", "workers: 4\n");
      write("data/roles/db.yaml", "workers: 1\n");
      write("data/common.yaml", "motd: hello\nport: 80\n");
      const window = await host.open(folder);
      await window.go("data/common.yaml", 2, 1);
      const status = await until("the nodes in the status bar", async () => (await window.status(EXTENSION)).find((text) => text.includes("3 nodes")));
      const sources = ["hiera.yaml governs 6 data files", "3 nodes, from data/nodes"];
      check(sources.every((text) => status.includes(text)), "the status bar tells which hiera.yaml governs, and the source of the nodes", status);
      const groups = await window.hover();
      const values = ["in all 3 known nodes", "80 in 2 nodes: db-01, web-01", "8080 in web-02 ← nodes data/nodes/web-02.yaml:2"];
      check(values.every((text) => groups.includes(text)), "the hover of a shared file tells which nodes get which value", groups);
      await window.screenshot("groups");
      await window.command("Hiera: Select Node");
      // Until the picker has taken its place, the list is that of the commands.
      const listed = (picks) => ["db-01", "web-01", "web-02"].every((name) => picks.some((text) => text.startsWith(name)));
      const picks = await until("the nodes", async () => (listed(await window.picks()) ? window.picks() : undefined));
      check(listed(picks), "the picker lists the nodes", picks);
      await window.pick("web-02");
      await until("the node in the status bar", async () => (await window.status(EXTENSION)).some((text) => text.includes("web-02")));
      const pinned = await until("the hover of the node", async () => {
        const hover = await window.hover();
        return hover.includes("node web-02") ? hover : undefined;
      });
      check(pinned.includes("8080") && !pinned.includes("db-01"), "a picked node changes the hover", pinned);
      await window.screenshot("pinned");
    });
  },

  /** The server dies: a new one is there, with all that the old one had. */
  async "a server that is killed"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = repository("killed");
      edit(folder, COMMON, "%{alias('ntp_servers')}", "pool %{alias('ntp_servers')}");
      const window = await host.open(folder);
      await window.go(COMMON);
      await until("the finding", async () => (await window.problems()).length === 1);
      await window.command("Hiera: Select Node");
      await window.pick("web-01.kyoto.example.net");
      await until("the node", async () => (await window.status(EXTENSION)).some((text) => text.includes("web-01.kyoto")));
      const [first, ...more] = servers(host);
      check(first !== undefined && more.length === 0, "one server runs", [first, ...more]);
      // A setting reaches it as soon as it is set; what is not set leaves the repository's own settings be, which name the nodes.
      host.configure({ ...host.settings, "hiera.rules": { "alias-not-whole-value": "off" } });
      await until("no finding", async () => (await window.problems()).length === 0);
      check((await window.status(EXTENSION)).some((text) => text.includes("3 nodes")), "a setting counts as soon as it is set, beside the repository's", await window.status(EXTENSION));
      host.configure(host.settings);
      await until("the finding again", async () => (await window.problems()).length === 1);
      process.kill(first, "SIGKILL");
      const second = await until("another server", () => servers(host).find((pid) => pid !== first));
      await until("the end of the first", () => !fs.existsSync(`/proc/${first}`));
      check(second !== first, "a server that is killed is started again, and leaves no zombie");
      await until("the finding again", async () => (await window.problems()).length === 1);
      await window.go(COMMON, ...place(folder, COMMON, "%{alias('ntp_servers')}"));
      await window.press(...Array("pool ".length).fill("Backspace"));
      await until("no finding", async () => (await window.problems()).length === 0);
      check(true, "the findings come back, and follow what is typed");
      await until("the node", async () => (await window.status(EXTENSION)).some((text) => text.includes("web-01.kyoto")));
      check(true, "the node is still selected");
      // The window goes, the editor stays.
      await window.command("Developer: Reload Window");
      // The system may remove the entry of an ended process later than the new window starts its server: an entry without
      // a command line is no server.
      await until("a third server alone", () => servers(host).length === 1 && servers(host)[0] !== second);
      check(true, "a window that is closed leaves no server");
      await until("the node", async () => (await window.status(EXTENSION)).some((text) => text.includes("web-01.kyoto")));
      check((await window.toasts()).length === 0, "the node is kept over the reload, without a notification", await window.toasts());
    });
  },

  /** With the YAML server that most people have, nothing is said twice. */
  async "yaml-language-server beside it"() {
    const yaml = packaged("yaml");
    const env = { YAML_LANGUAGE_SERVER: process.env.WORKBENCH_YAML_SERVER };
    const host = await Host.start({ extensions: [BUNDLED, yaml], env, settings: { "yaml.schemaStore.enable": false } });
    await within(host, async () => {
      const folder = repository("beside");
      const [role, os, site] = ["data/roles/web.yaml", "data/os/Debian.yaml", "data/sites/oslo/network.yaml"];
      fs.appendFileSync(path.join(folder, role), "classes: [profile::other]\n");
      fs.appendFileSync(path.join(folder, os), "broken: [1, 2\n");
      edit(folder, site, "site_name: Oslo", "site_name: \"%{lookup('compnay')} Oslo\"");
      const window = await host.open(folder);
      const said = async (file, wanted) => {
        await window.go(file);
        return until(`findings in ${file}`, async () => {
          const problems = await window.problems();
          await window.page.waitForTimeout(1500);
          // Both servers take their time: what is seen twice in a row is what there is.
          return problems.length > 0 && wanted(problems) && JSON.stringify(problems) === JSON.stringify(await window.problems()) ? problems : undefined;
        });
      };
      const by = (problems, source) => problems.filter((problem) => problem.includes(`generated by ${source}`)).length;
      const twice = await said(role, (problems) => by(problems, "YAML") > 0);
      check(twice.filter((problem) => /unique|twice|duplicate/i.test(problem)).length === 1, "a duplicate key is found once", twice);
      await window.press("Control+W");
      const broken = await said(os, (problems) => by(problems, "YAML") > 0);
      // Findings of the files that are closed are there, too.
      const ofOthers = (problem) => /duplicate key|compnay/.test(problem);
      check(by(broken.filter((problem) => !ofOthers(problem)), "hiera-ls") === 0, "broken syntax is one server's", broken);
      await window.screenshot("beside-yaml-language-server");
      await window.press("Control+W");
      const own = await said(site, (problems) => by(problems, "hiera-ls") > 0);
      check(own.filter((problem) => problem.includes("compnay")).length === 1, "what only Hiera knows is found all the same", own);
    });
  },

  /** Functions of levels run when the user asks, and agrees: not in Restricted Mode, and not by the workspace's settings. */
  async "custom backends"() {
    if (!process.env.PATH.split(":").some((folder) => fs.existsSync(path.join(folder, "puppet")))) {
      console.log("skipped: there is no puppet on PATH");
      return;
    }
    const folder = path.join(OUT, "folders", "backends");
    fs.rmSync(folder, { recursive: true, force: true });
    const write = (file, text) => {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), text);
    };
    const mark = path.join(folder, "it-ran");
    const source = "modules/t/lib/puppet/functions/t/store.rb";
    write("hiera.yaml", "version: 5\nhierarchy:\n  - name: Node\n    path: nodes/%{trusted.certname}.yaml\n  - name: Store\n    lookup_key: t::store\n  - name: Common\n    path: common.yaml\n");
    write(COMMON, "greeting: from common\nname: x\n");
    write("data/nodes/web01.yaml", "serial: 1\n");
    const body = "key == 'greeting' ? 'from the store' : context.not_found";
    write(source, `File.write('${mark}', Process.pid)\nPuppet::Functions.create_function(:'t::store') do\n  def store(key, options, context)\n    ${body}\n  end\nend\n`);
    write(".vscode/settings.json", JSON.stringify({ "hiera.runBackends.enabled": true }));
    write(".hiera-ls.yaml", "runBackends: {enabled: true}\n");
    const host = await Host.start({ extensions: [BUNDLED], trust: false });
    await within(host, async () => {
      const window = await host.open(folder);
      const { page } = window;
      const evaluating = () => page.locator(".action-widget .monaco-list-row").filter({ hasText: "Evaluate" });
      const offered = async () => {
        await window.go(COMMON, 1, 1);
        await until("the counts", async () => (await window.status(EXTENSION)).some((text) => text.includes("Hiera: 3 keys")));
        return until("the menu", async () => {
          await window.press("Escape", "Control+.");
          const rows = page.locator(".action-widget .monaco-list-row");
          // Where there is nothing, that is said.
          await rows.or(page.locator(".monaco-editor-overlaymessage")).first().waitFor({ timeout: 3000 });
          return rows.allInnerTexts();
        });
      };
      const isEvaluation = (text) => text.includes("custom backends");
      check(!(await offered()).some(isEvaluation), "the settings of a repository offer no evaluation");
      // What the user set does not count before the workspace is trusted.
      host.configure({ ...host.settings, "hiera.runBackends.enabled": true });
      await page.waitForTimeout(3000);
      check(!(await offered()).some(isEvaluation), "nor do the user's own in Restricted Mode");
      await window.press("Escape");
      check((await window.hover()).includes("cannot be evaluated here"), "the hover tells that the level is not evaluated");
      await window.command("Workspaces: Manage Workspace Trust");
      await page.locator(".workspace-trust-editor .monaco-button").filter({ hasText: "Trust" }).first().click({ timeout: 20_000 });
      const title = await until("the code action", async () => (await offered()).find(isEvaluation));
      check(title.includes("Evaluate 'greeting' with the custom backends, for web01"), "in a trusted workspace the user's setting offers it", title);
      await window.screenshot("evaluate");
      check(!fs.existsSync(mark), "until then nothing ran");
      await evaluating().first().click();
      const asked = await until("the question", async () => (await window.toasts()).find((text) => text.includes("Run the custom backends")));
      check(asked.includes(`t::store (${source})`) && asked.includes("run with your rights"), "a question names the function and its file", asked);
      check(!fs.existsSync(mark), "and nothing has run before it is answered");
      await window.screenshot("evaluate-question");
      await page.locator(".notifications-toasts .monaco-button").filter({ hasText: /^Run$/ }).first().click();
      await until("the outcome", async () => (await window.toasts()).some((text) => text.includes("'greeting' is evaluated for web01")));
      const bridge = Number(fs.readFileSync(mark, "utf8"));
      await window.command("Notifications: Clear All Notifications");
      await window.go(COMMON, 1, 1);
      const evaluated = await until("the value", async () => {
        const hover = await window.hover();
        return /as evaluated at \d\d:\d\d/.test(hover) ? hover : undefined;
      });
      check(evaluated.includes("from the store") && evaluated.includes("from Store hiera.yaml:6") && evaluated.includes("evaluate again"), "the hover shows the value as evaluated", evaluated);
      await window.screenshot("evaluated");
      // By the link in the hover, and with the function as it is by now: the user agreed to its former content.
      write(source, fs.readFileSync(path.join(folder, source), "utf8").replace("'from the store'", "'from another store'"));
      await until("the note", async () => (await window.hover()).includes("files have changed since"));
      check(true, "and tells when files have changed since");
      await window.hovers.locator(".hover-contents a").filter({ hasText: "evaluate again" }).first().click();
      const again = await until("the second question", async () => (await window.toasts()).find((text) => text.includes("Run the custom backends")));
      check(again.includes(`t::store (${source})`), "a function that has changed needs the user's consent again", again);
      await page.locator(".notifications-toasts .monaco-button").filter({ hasText: /^Run$/ }).first().click();
      await until("the other value", async () => {
        await window.go(COMMON, 1, 1);
        return (await window.hover()).includes("from another store");
      });
      check(!fs.existsSync(`/proc/${bridge}`), "the link in the hover evaluates it again, in a process that has the new code");
      await until("its end", async () => {
        host.configure(host.settings);
        return !fs.existsSync(`/proc/${fs.readFileSync(mark, "utf8")}`);
      });
      check(true, "and with the setting switched off no process is left");
    });
  },

  /** A package without a server, in a workspace that nobody trusts yet. */
  async "a server that is missing, or not to be trusted"() {
    const folder = repository("untrusted");
    const marker = path.join(OUT, "it-ran");
    fs.rmSync(marker, { force: true });
    const fake = path.join(folder, "fake-server");
    fs.writeFileSync(fake, `#!/bin/sh\ntouch '${marker}'\necho hiera-ls 0.0.1\n`, { mode: 0o755 });
    fs.mkdirSync(path.join(folder, ".vscode"));
    const own = { "hiera.server.path": fake, "hiera.eyaml.decrypt": true, "hiera.eyaml.reveal": true, "hiera.eyaml.privateKey": "/nowhere.pem" };
    fs.writeFileSync(path.join(folder, ".vscode/settings.json"), JSON.stringify(own));
    const host = await Host.start({ extensions: [UNIVERSAL], trust: false, env: { PATH: "/usr/bin:/bin" } });
    await within(host, async () => {
      const window = await host.open(folder);
      const missing = await until("the message", async () => (await window.toasts()).find((text) => text.includes("Hiera:")));
      check(missing.includes("hiera-ls was not found") && missing.includes("Open Settings"), "a missing server is told of", missing);
      check(!fs.existsSync(marker), "in Restricted Mode no program of the workspace runs");
      await window.screenshot("missing-server");
      check((await window.status(EXTENSION)).some((text) => text.includes("was not found")), "and the status bar shows it", await window.status(EXTENSION));
      await window.command("Notifications: Clear All Notifications");
      await window.command("Workspaces: Manage Workspace Trust");
      await window.page.locator(".workspace-trust-editor .monaco-button").filter({ hasText: "Trust" }).first().click({ timeout: 20_000 });
      const old = await until("the other message", async () => (await window.toasts()).find((text) => text.includes("too old")));
      check(/hiera-ls 0\.0\.1 at .*fake-server .*needs \d+\.\d+\.\d+ or newer/.test(old), "in a trusted one it does, and an old one is told of", old);
      await window.screenshot("old-server");
      // What the user sets counts at once.
      delete own["hiera.server.path"];
      fs.writeFileSync(path.join(folder, ".vscode/settings.json"), JSON.stringify(own));
      host.configure({ ...host.settings, "hiera.server.path": process.env.WORKBENCH_SERVER });
      await until("the server", async () => (await window.status(EXTENSION)).some((text) => /Hiera: \d+ keys/.test(text)));
      check(true, "a setting that names a server starts it");
      // A key that does not exist would make the lookup fail.
      await window.command("Notifications: Clear All Notifications");
      const secrets = "data/secrets/db-01.oslo.example.net.eyaml";
      await window.go(secrets, ...place(folder, secrets, "profile::database::backup_password"));
      const secret = await window.hover();
      check(secret.includes("redacted") && !secret.includes("fails"), "a workspace cannot switch decryption on, trusted or not", secret);
      host.configure({ ...host.settings, ...own, "hiera.server.path": process.env.WORKBENCH_SERVER });
      const tried = await until("the try", async () => ((await window.hover()).includes("fails") ? window.hover() : undefined));
      check(tried.includes("/nowhere.pem"), "its user can", tried);
      check((await window.toasts()).length === 0, "and a change of settings that needs another server makes no noise", await window.toasts());
    });
  },

  /** The task of the documentation, whose findings VS Code reads by the matcher of the extension. */
  async "a task"() {
    const host = await Host.start({ extensions: [UNIVERSAL], settings: { "hiera.server.path": "/nowhere/hiera-ls" } });
    await within(host, async () => {
      const folder = repository("task");
      edit(folder, COMMON, "vm.swappiness: 30", "vm.swappiness: thirty");
      const page = fs.readFileSync(path.resolve(import.meta.dirname, "../../../docs/checks.md"), "utf8");
      const tasks = JSON.parse(/```json\n([^`]*\$hiera-ls[^`]*)```/.exec(page)[1]);
      fs.mkdirSync(path.join(folder, ".vscode"));
      // A file tells when a run has ended.
      const ended = path.join(folder, ".vscode/ended");
      const script = path.join(folder, ".vscode/check.sh");
      fs.writeFileSync(script, `#!/bin/sh\n'${process.env.WORKBENCH_SERVER}' "$@"\nstatus=$?\ntouch '${ended}'\nexit $status\n`, { mode: 0o755 });
      tasks.tasks[0].command = script;
      fs.writeFileSync(path.join(folder, ".vscode/tasks.json"), JSON.stringify(tasks));
      const window = await host.open(folder);
      await until("the message", async () => (await window.toasts()).length > 0);
      await window.command("Notifications: Clear All Notifications");
      await window.go(COMMON, ...place(folder, COMMON, "thirty"));
      const run = async () => {
        await window.command("Tasks: Run Task");
        await until("the task", async () => (await window.picks()).some((pick) => pick.startsWith("hiera-ls check")));
        await window.pick("hiera-ls check");
      };
      const wrong = async () => (await window.problems()).filter((problem) => problem.includes("vm.swappiness"));
      check((await window.problems()).length === 0, "without a server there are no findings", await window.problems());
      // VS Code reads the output of a task until 100 ms after its end. A busy window loses findings, so that the task may run again.
      const [read, ...more] = await until("the finding of the task", async () => {
        fs.rmSync(ended, { force: true });
        await run();
        return until("findings", async () => ((await wrong()).length > 0 ? wrong() : undefined), 20_000);
      });
      const [line, column] = place(folder, COMMON, "thirty");
      const at = `at line ${line} and character ${column}. generated by hiera-ls`;
      check(more.length === 0 && read.startsWith("Error: parameter 'sysctl' entry 'vm.swappiness' expects an Integer") && read.endsWith(at), "the matcher reads a finding of a task, with its severity and its place", read);
      const row = await window.page.locator(".markers-panel .monaco-list-row").filter({ hasText: "vm.swappiness" }).innerText();
      check(row.includes("parameter-type"), "and its rule", row);
      await window.screenshot("task");
      await until("the underline", () => window.page.locator(".squiggly-error").first().isVisible());
      // The server has the same finding, with a link to the page of its rule.
      const rows = window.page.locator(".markers-panel .monaco-list-row").filter({ hasText: "vm.swappiness" });
      const links = rows.locator("a").filter({ hasText: "parameter-type" });
      host.configure({ ...host.settings, "hiera.server.path": process.env.WORKBENCH_SERVER });
      await until("the finding of the server", async () => (await links.count()) > 0);
      check((await rows.count()) === 1, "a server that starts replaces the findings of the task", await rows.allInnerTexts());
      // The findings of the task have no links. VS Code removes the server's findings when the task ends.
      fs.rmSync(ended);
      await run();
      await until("the end of the next run", () => fs.existsSync(ended));
      const staysOnce = async () => {
        for (let look = 0; look < 30; look++) {
          if ((await wrong()).length !== 1 || (await links.count()) !== 1) return false;
          await window.page.waitForTimeout(100);
        }
        return true;
      };
      await until("the finding of the server, once, after the next run", staysOnce);
      check(true, "the next run does not show a finding twice");
    });
  },

  /** A folder within an environment, and the walkthrough. */
  async "a folder below hiera.yaml"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = path.join(repository("below"), "data");
      const window = await host.open(folder);
      await window.go("roles/web.yaml", 9, 5);
      const hover = await window.hover();
      check(hover.includes("docroot: /srv/www/shop"), "a folder within an environment is served from its root", hover);
      const counts = await window.status(EXTENSION);
      check(counts.some((text) => text.includes("35 keys, 3 nodes")), "with the modules and the nodes that lie beside it", counts);
      await window.command("Welcome: Open Walkthrough...");
      await until("the walkthrough", async () => (await window.picks()).some((pick) => pick.includes("Hiera")));
      await window.pick("Get Started with Hiera");
      const steps = window.page.locator(".getting-started-step");
      await until("its steps", async () => (await steps.count()) === 5);
      check(true, "the walkthrough has five steps");
      await window.resize(1600, 900);
      await window.page.waitForTimeout(3000);
      await window.screenshot("walkthrough");
    });
  },

  /** Two repositories in one window: one server, each file for its own. */
  async "several folders"() {
    const [one, other] = [repository("several/one"), repository("several/other")];
    edit(other, NODE, "keepalive: 75", "keepalive: 99");
    // The same finding in both, until the settings of one folder switch its rule off.
    for (const folder of [one, other]) edit(folder, NODE, "keepalive: ", 'timeout: "%{lookup(\'timoeut\')}"\n    keepalive: ');
    const folders = [one, other].map((folder) => ({ path: path.basename(folder) }));
    const workspace = path.join(OUT, "folders/several/both.code-workspace");
    fs.writeFileSync(workspace, JSON.stringify({ folders }));
    // Here the server is the one on PATH, as Rust's installer sets that.
    const profile = `export PATH="${path.dirname(process.env.WORKBENCH_SERVER)}:$PATH"\n`;
    const host = await Host.start({ extensions: [UNIVERSAL], profile });
    await within(host, async () => {
      const window = await host.open(workspace);
      const counts = await until("both", async () => (await window.status(EXTENSION)).find((text) => /2 environments, \d+ files/.test(text)));
      check(servers(host).length === 1 && counts.includes("(PATH)"), "two folders have one server, the one on PATH", counts);
      for (const [name, keepalive] of [["one", 75], ["other", 99]]) {
        await window.go(`${name}/${NODE}`, ...place(path.join(OUT, "folders/several", name), NODE, "profile::web::vhosts"));
        const hover = await window.hover();
        check(hover.includes(`keepalive: ${keepalive}`), `a file of the folder ${name} has the values of that folder`, hover);
      }
      const problems = (count) =>
        until(`${count} findings`, async () => {
          const found = await window.problems();
          return found.length === count && found;
        });
      await problems(2);
      fs.mkdirSync(path.join(other, ".vscode"));
      fs.writeFileSync(path.join(other, ".vscode/settings.json"), JSON.stringify({ "hiera.rules": { "unknown-key": "off" } }));
      const left = await problems(1);
      check(true, "the settings of one folder switch a rule off in that folder alone", left);
      await window.screenshot("several-folders");
    });
  },

  /** A server that ends as soon as it is started. */
  async "a server that does not work"() {
    const folder = repository("ends");
    const fake = path.join(OUT, "fake-server");
    fs.writeFileSync(fake, "#!/bin/sh\n[ \"$1\" = --version ] && echo hiera-ls 0.1.0 && exit\necho 'out of coffee' >&2\nexit 3\n", { mode: 0o755 });
    const host = await Host.start({ extensions: [UNIVERSAL], settings: { "hiera.server.path": fake } });
    await within(host, async () => {
      const window = await host.open(folder);
      const told = await until("the state", async () => (await window.status(EXTENSION)).find((text) => text.includes("ended")));
      await until("what it said", () => host.logs(EXTENSION).includes("out of coffee"));
      // Until VS Code gives up, the entry changes with each of its tries.
      await until("the last try", () => host.logs(EXTENSION).includes("will not be restarted"));
      check(true, `the status bar tells of a server that ends, and the output what it said (${told})`);
      await window.page.locator(`.statusbar-item[id="${EXTENSION}.server"]`).click();
      const offer = await until("the offer", async () => {
        const rows = await window.picks();
        return rows.some((row) => row.includes("Restart Server")) && rows;
      });
      check(offer.length === 2, "a click on it offers a restart", offer);
      await window.screenshot("ended-server");
      const tries = () => host.logs(EXTENSION).split("out of coffee").length;
      const before = tries();
      await window.page.keyboard.press("Enter");
      await until("another try", () => tries() > before);
      check(true, "which starts it again");
      const slow = `${fake}-that-is-slow`;
      const real = process.env.WORKBENCH_SERVER;
      fs.writeFileSync(slow, `#!/bin/sh\n[ "$1" = --version ] || sleep 3\nexec '${real}' "$@"\n`, { mode: 0o755 });
      host.configure({ ...host.settings, "hiera.server.path": slow });
      await until("the start", async () => (await window.status(EXTENSION)).some((text) => text.includes("hiera-ls is starting")));
      await until("the server", async () => (await window.status(EXTENSION)).some((text) => /Hiera: \d+ keys/.test(text)));
      check(true, "another one is started when the setting names it, and the status bar tells that it is starting");
    });
  },

  /** A control repo may be without Hiera at first. */
  async "a control repo that begins with Hiera"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const [window, config] = await beginning(host, "beginning", "hiera.yaml");
      fs.writeFileSync(config, HIERA);
      await served(window);
      check(servers(host).length === 1, "when one is made it starts by itself", servers(host));
    });
  },

  /** VS Code does not always tell what happens to files: here it must not watch, but for the workspace's own folder. */
  async "a hiera.yaml that nobody watches"() {
    const host = await Host.start({ extensions: [BUNDLED], settings: UNWATCHED });
    await within(host, async () => {
      const [window, config] = await beginning(host, "unwatched", "production/hiera.yaml");
      fs.writeFileSync(config, HIERA);
      await served(window);
      check(true, "one that is made while the window starts is seen");
    });
  },

  async "a hiera.yaml that nobody watches, later"() {
    const host = await Host.start({ extensions: [BUNDLED], settings: UNWATCHED });
    await within(host, async () => {
      const [window, config] = await beginning(host, "unwatched-later", "production/hiera.yaml");
      // Until the extension does not look again by itself.
      await window.page.waitForTimeout(18_000);
      fs.writeFileSync(config, HIERA);
      await window.go("production/hiera.yaml", 1, 1);
      await served(window);
      check(true, "one that is opened is seen");
    });
  },

  /** Data that no hiera.yaml governs, although a test's reads it. */
  async "data without a governing hiera.yaml"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = path.join(OUT, "folders", "ungoverned");
      fs.rmSync(folder, { recursive: true, force: true });
      const write = (file, text) => {
        fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
        fs.writeFileSync(path.join(folder, file), text);
      };
      write("hiera.yaml", HIERA);
      write("data/common.yaml", "---\na: 1\nb: 2\n");
      write("hieradata/web.yaml", "---\nweb: 1\n");
      write("spec/fixtures/hiera.yaml", "version: 5\nhierarchy: [{name: Web, datadir: ../../hieradata, path: web.yaml}]\n");
      write(".hiera-ls.yaml", "# kept\npuppet: {version: 7}\n");
      const window = await host.open(folder);
      await window.go("data/common.yaml", 1, 1);
      await served(window);
      await window.go("hieradata/web.yaml", 1, 1);
      const warns = async () => (await window.status(EXTENSION)).some((text) => text.includes("no governing hiera.yaml"));
      await until("the warning", warns);
      check(true, "the status bar warns of data that no hiera.yaml governs");
      await window.command("Hiera: Choose the Governing hiera.yaml");
      const isCandidate = (picks) => picks.length === 1 && picks[0].includes("spec/fixtures/hiera.yaml");
      const picks = await until("the candidate", async () => (isCandidate(await window.picks()) ? window.picks() : undefined));
      check(isCandidate(picks), "the config of the tests is the candidate", picks);
      await window.pick("spec/fixtures/hiera.yaml");
      await window.page.locator(".monaco-dialog-box .monaco-button").filter({ hasText: "Write" }).click();
      const settings = () => fs.readFileSync(path.join(folder, ".hiera-ls.yaml"), "utf8");
      await until("the setting", () => settings().includes("hieraConfig"));
      check(settings() === '# kept\npuppet: {version: 7}\nhieraConfig: "spec/fixtures/hiera.yaml"\n', "the setting is written below the others", settings());
      await until("the end of the warning", async () => (await window.status(EXTENSION)).length > 0 && !(await warns()));
      check(true, "then the warning ends");
    });
  },

  /** Nothing is started for a folder that has nothing to do with Hiera. */
  async "a folder without hiera.yaml"() {
    const host = await Host.start({ extensions: [BUNDLED] });
    await within(host, async () => {
      const folder = path.join(OUT, "folders", "other");
      fs.rmSync(folder, { recursive: true, force: true });
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, "docker-compose.yaml"), "services:\n  web:\n    image: 'nginx:%{x'\n");
      const window = await host.open(folder);
      await window.go("docker-compose.yaml", 1, 1);
      // VS Code looks for what activates extensions when it has started; then it says so in its log.
      await until("the end of the activation", () => host.logs("nothing").includes("onStartupFinished"));
      await window.page.waitForTimeout(3000);
      // The log also lists what is installed.
      const activated = host.logs("nothing").split("\n").filter((line) => line.includes("_doActivateExtension"));
      check(activated.filter((line) => line.includes(EXTENSION)).every((line) => line.includes("onLanguage:yaml")), "only the YAML activates the extension", activated);
      check(servers(host).length === 0, "no server is started", servers(host));
      check((await window.status(EXTENSION)).length === 0, "nothing is in the status bar", await window.status(EXTENSION));

      // Then somebody begins with Hiera.
      fs.writeFileSync(path.join(folder, "hiera.yaml"), HIERA);
      fs.mkdirSync(path.join(folder, "data"));
      fs.writeFileSync(path.join(folder, "data/common.yaml"), "---\ngreeting: \"%{lookup('name')}\"\nname: x\n");
      await window.command("Hiera: Restart Server");
      await served(window);
      // The command itself is what activates the extension, which then starts the server once, and once more because it was asked to.
      await until("the server alone", () => servers(host).length === 1);
      check(true, "a hiera.yaml that is made later is served after a restart");
      fs.rmSync(path.join(folder, "hiera.yaml"));
      await until("the end of the server", async () => servers(host).length === 0 && (await window.status(EXTENSION)).length === 0);
      check(true, "without its hiera.yaml the server ends");
      fs.writeFileSync(path.join(folder, "hiera.yaml"), HIERA);
      await served(window);
      check(true, "and starts when it comes back");
    });
  },
};

/** Runs the body; if it fails, keeps what was to be seen. Closes the editor in any case, and sees to it that no server is left. */
async function within(host, body) {
  try {
    await body();
  } catch (error) {
    for (const [number, page] of host.browser.pages().entries()) {
      await page.screenshot({ path: path.join(OUT, `failed-${number}.png`) }).catch(() => {});
    }
    console.log(host.logs(EXTENSION));
    throw error;
  } finally {
    const left = servers(host);
    await host.close();
    const alive = () => left.filter((pid) => fs.existsSync(`/proc/${pid}`));
    await until("the end of the server", () => alive().length === 0);
    check(true, `no server is left (${left.length} ran)`);
  }
}

fs.mkdirSync(OUT, { recursive: true });
// By hand a part of a name is enough.
const only = process.argv[2] ?? "";
for (const [name, scenario] of Object.entries(scenarios)) {
  if (only in scenarios ? name !== only : !name.includes(only)) continue;
  const start = Date.now();
  console.log(`# ${name}`);
  await scenario();
  console.log(`# ${((Date.now() - start) / 1000).toFixed(1)} s`);
}
