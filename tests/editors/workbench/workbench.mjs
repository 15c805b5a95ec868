// VS Code's real workbench (code-server) in Chromium, driven as a user drives it: keys, clicks, and what is to be seen. Nothing here knows Hiera.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

/** How long anything may take to appear. */
export const PATIENCE = Number(process.env.HIERA_LS_PATIENCE ?? 60) * 1000;

const { chromium } = await import(process.env.WORKBENCH_PLAYWRIGHT);
const NODE = process.env.WORKBENCH_NODE;
const ENTRY = process.env.WORKBENCH_ENTRY;
const OUT = process.env.WORKBENCH_OUT;

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.editor.enablePreview": false,
  "workbench.colorTheme": "Default Light Modern",
  "extensions.autoCheckUpdates": false,
  "git.enabled": false,
  "telemetry.telemetryLevel": "off",
  "files.autoSave": "off",
  "chat.disableAIFeatures": true,
  "editor.wordBasedSuggestions": "off",
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false, // It hides half of a line in pictures.
  "workbench.reduceMotion": "on",
  "editor.occurrencesHighlight": "off",
  "window.menuBarVisibility": "hidden",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
};

/** Waits until `look` gives something, and returns it. */
export async function until(what, look, patience = PATIENCE) {
  let last;
  for (const end = Date.now() + patience; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`never came: ${what}${last ? ` (${last.message})` : ""}`);
}

/** One code-server with these extensions, of which nothing is left behind. */
export class Host {
  /** `profile` is what the user's shell does at login: VS Code takes its environment from there. */
  static async start({ extensions = [], settings = {}, trust = true, env = {}, profile = "" }) {
    const host = new Host();
    // Short, as sockets lie in it.
    host.folder = fs.mkdtempSync(path.join(os.tmpdir(), "wb-"));
    for (const folder of ["home", "tmp", "data/User", "data/Machine", "ext"]) fs.mkdirSync(path.join(host.folder, folder), { recursive: true });
    fs.writeFileSync(path.join(host.folder, "config.yaml"), "auth: none\n");
    fs.writeFileSync(path.join(host.folder, "home/.profile"), profile);
    host.settings = { ...SETTINGS, ...settings };
    host.configure(host.settings);
    const { folder } = host;
    host.env = { ...process.env, HOME: `${folder}/home`, TMPDIR: `${folder}/tmp`, EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:9"}', ...env };
    host.args = [ENTRY, "--config", `${folder}/config.yaml`, "--user-data-dir", `${folder}/data`, "--extensions-dir", `${folder}/ext`];
    const install = extensions.flatMap((extension) => ["--install-extension", extension]);
    if (install.length > 0) execFileSync(NODE, [...host.args, ...install], { env: host.env, stdio: ["ignore", "ignore", "inherit"] });
    host.port = await freePort();
    const options = ["--bind-addr", `127.0.0.1:${host.port}`, "--disable-telemetry", "--disable-update-check", "--ignore-last-opened"];
    if (trust) options.push("--disable-workspace-trust");
    const log = fs.openSync(path.join(folder, "server.log"), "w");
    host.process = spawn(NODE, [...host.args, ...options], { env: host.env, stdio: ["ignore", log, log], detached: true });
    await until("code-server", async () => (await fetch(`http://127.0.0.1:${host.port}/healthz`)).ok);
    const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
    args.push("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");
    // More pixels than needed: who looks at a picture may make it larger or smaller.
    const screen = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 };
    const executablePath = process.env.WORKBENCH_CHROMIUM;
    host.browser = await chromium.launchPersistentContext(`${folder}/chrome`, { executablePath, headless: true, ...screen, args });
    return host;
  }

  /** What the user set, in every place where VS Code looks for it. */
  configure(settings) {
    for (const place of ["User", "Machine"]) fs.writeFileSync(path.join(this.folder, "data", place, "settings.json"), JSON.stringify(settings));
  }

  /** A window that shows a folder, or the folders that a file `.code-workspace` lists. */
  async open(folder) {
    const page = await this.browser.newPage();
    page.on("dialog", (dialog) => void dialog.accept());
    const kind = folder.endsWith(".code-workspace") ? "workspace" : "folder";
    await page.goto(`http://127.0.0.1:${this.port}/?${kind}=${encodeURIComponent(folder)}`, { timeout: 3 * PATIENCE });
    await page.waitForSelector(".explorer-folders-view .monaco-list-row", { timeout: 3 * PATIENCE });
    return new Window(page, kind === "folder" ? folder : path.dirname(folder));
  }

  /** A window without a folder that shows a file. */
  async openFile(file) {
    const page = await this.browser.newPage();
    page.on("dialog", (dialog) => void dialog.accept());
    const payload = JSON.stringify([["openFile", `vscode-remote://127.0.0.1:${this.port}${file}`]]);
    await page.goto(`http://127.0.0.1:${this.port}/?ew=true&payload=${encodeURIComponent(payload)}`, { timeout: 3 * PATIENCE });
    await page.waitForSelector(".view-line", { timeout: 3 * PATIENCE });
    return new Window(page, path.dirname(file));
  }

  /** The text of all logs of extensions of this name, and what was said of their activation. */
  logs(name) {
    const all = fs.existsSync(`${this.folder}/data/logs`) ? fs.readdirSync(`${this.folder}/data/logs`, { recursive: true }) : [];
    const wanted = all.filter((file) => file.includes(name) || file.endsWith("remoteexthost.log"));
    return wanted.filter((file) => file.endsWith(".log")).map((file) => fs.readFileSync(path.join(this.folder, "data/logs", file), "utf8")).join("\n");
  }

  /** Closes the editor as a whole. */
  async close() {
    await this.browser?.close().catch(() => {});
    // It has children: they are one group.
    if (this.process?.exitCode === null) {
      const gone = new Promise((go) => this.process.once("exit", go));
      try {
        process.kill(-this.process.pid);
      } catch {
        // It ended by itself.
      }
      await Promise.race([gone, new Promise((go) => setTimeout(go, 5000))]);
    }
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** A window of the workbench. */
export class Window {
  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
    this.quick = page.locator(".quick-input-widget");
  }

  async screenshot(name, options = {}) {
    await this.page.waitForTimeout(400); // Some parts are drawn a moment later.
    await this.page.screenshot({ path: path.join(OUT, `${name}.png`), ...options });
  }

  /** A picture of a part of the window for the walkthrough, or for another folder of the repository, where pictures are recorded. */
  async picture(name, { x, y, width, height }, folder = "editors/vscode/walkthrough") {
    const { width: right, height: bottom } = this.page.viewportSize();
    const [left, top] = [Math.max(0, x), Math.max(0, y)];
    const clip = { x: left, y: top, width: Math.min(width, right - left), height: Math.min(height, bottom - top) };
    await this.screenshot(`picture-${name}`, { clip });
    if (process.env.HIERA_LS_RECORD) fs.copyFileSync(path.join(OUT, `picture-${name}.png`), path.resolve(import.meta.dirname, `../../../${folder}/${name}.png`));
  }

  /** The next part of the moving picture, where pictures are recorded: the window, for so many milliseconds. */
  async frame(milliseconds) {
    if (!process.env.HIERA_LS_RECORD) return;
    const folder = path.join(OUT, "moving");
    fs.mkdirSync(folder, { recursive: true });
    const number = String(fs.readdirSync(folder).length).padStart(2, "0");
    await this.screenshot(`moving/${number}-${milliseconds}`);
  }

  async resize(width, height) {
    await this.page.setViewportSize({ width, height });
    await this.page.waitForTimeout(500);
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Runs a command of the palette. */
  async command(title) {
    await until(`the command ${title}`, async () => {
      await this.press("Escape", "F1");
      await this.quick.locator("input").first().fill(`>${title}`, { timeout: 2000 });
      const row = this.quick.locator(".monaco-list-row").filter({ hasText: title }).first();
      await row.waitFor({ timeout: 2000 });
      await this.page.waitForTimeout(150);
      await row.click({ timeout: 2000 });
      return true;
    });
  }

  /** The rows of the open picker. */
  async picks() {
    return this.quick.locator(".monaco-list-row").evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label")));
  }

  async pick(text) {
    await this.quick.locator(".monaco-list-row").filter({ hasText: text }).first().click({ timeout: PATIENCE });
  }

  /** Opens a file, the cursor at a line and column counted from 1. */
  async go(file, line = 1, column = 1) {
    await until(`${file}:${line}:${column}`, async () => {
      await this.press("Escape", "Control+P");
      await this.quick.locator("input").first().fill(`${path.join(this.folder, file)}:${line}:${column}`, { timeout: 2000 });
      await this.quick.locator(".monaco-list-row").filter({ hasText: path.basename(file) }).first().waitFor({ timeout: 3000 });
      await this.page.waitForTimeout(250);
      await this.press("Enter");
      await until("the cursor", async () => (await this.where()) === `${file}:${line}:${column}`, 3000);
      return true;
    });
  }

  /** Where the cursor is: `file:line:column`, the file relative to the folder. */
  async where() {
    // The label may go on: ", preview", " • 1 problem in this file".
    const tab = this.page.locator(".editor-group-container.active .tab.active .tab-label");
    const file = await tab.getAttribute("aria-label", { timeout: 1000 });
    const place = await this.page.locator("#status\\.editor\\.selection").innerText({ timeout: 1000 });
    const [, line, column] = /Ln (\d+), Col (\d+)/.exec(place);
    return `${path.relative(this.folder, (file ?? "").split(/, | • /)[0])}:${line}:${column}`;
  }

  /** Where the cursor has come to rest: the file and the line are shown by two parts, one after the other. */
  async settled() {
    const first = await this.where();
    await this.page.waitForTimeout(300);
    return until("rest", async () => ((await this.where()) === first ? first : this.settled()), 3000);
  }

  /** The hovers of the editor's text; a tooltip of the workbench, where the mouse rests, is none of them. */
  get hovers() {
    return this.page.locator(".monaco-hover:not(.hidden):not(.workbench-hover)");
  }

  /** The text of the hover at the cursor, once its last part is there. */
  async hover() {
    const shown = this.hovers.locator(".hover-contents");
    return until("the hover", async () => {
      await this.press("Escape", "Control+K", "Control+I"); // One that is there stays as it is.
      await shown.first().waitFor({ timeout: 3000 });
      const read = async () => (await shown.allInnerTexts()).join("\n");
      return until("the text of the hover", async () => {
        const text = await read();
        await this.page.waitForTimeout(150); // Its parts come one after the other.
        return text === "" || text.includes("Loading") || text !== (await read()) ? undefined : text;
      }, 5000);
    });
  }

  /** Goes to the definition of what is at the cursor; where that is. */
  async definition() {
    const from = await this.where();
    return until(`a definition of what is at ${from}`, async () => {
      await this.press("F12");
      return until("another place", async () => ((await this.settled()) === from ? undefined : this.settled()), 2000);
    });
  }

  /** The entries of the Problems panel (without those of files), which it opens. */
  async problems() {
    if (!(await this.page.locator(".markers-panel").first().isVisible().catch(() => false))) {
      await this.command("Problems: Focus on Problems View");
    }
    const rows = await this.page.locator(".markers-panel .monaco-list-row").evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
    return rows.filter((row) => / at line \d+/.test(row));
  }

  /** The texts of the status bar's entries of an extension. */
  async status(extension) {
    const items = this.page.locator(`.part.statusbar .statusbar-item[id^="${extension}."]`);
    const visible = items.filter({ visible: true });
    return visible.evaluateAll((items) => items.map((item) => item.getAttribute("aria-label") || item.textContent));
  }

  /** The toasts at the corner. */
  async toasts() {
    return this.page.locator(".notifications-toasts .notification-list-item").allInnerTexts();
  }

  /** The text of an editor beside others, counted from the left, as far as it is to be seen. */
  async text(number = 0) {
    const lines = this.page.locator(".editor-group-container").nth(number).locator(".view-line");
    const texts = await lines.evaluateAll((lines) => lines.sort((a, b) => parseInt(a.style.top) - parseInt(b.style.top)).map((line) => line.textContent));
    return texts.join("\n").replaceAll("\u00a0", " ");
  }

  /** The text of a web view, such as a preview of Markdown, that has this title: it lies in frames of its own. */
  async rendered(title) {
    for (const frame of this.page.frames()) {
      const heading = frame.locator("h1").filter({ hasText: title });
      if (await heading.first().isVisible().catch(() => false)) return frame.locator("body").innerText();
    }
    return undefined;
  }

  /** How a piece of a line is drawn, the line found by a text in it: the piece's own span, and what the browser makes of its classes. */
  async drawn(line, piece) {
    const spans = this.page.locator(".view-line").filter({ hasText: line }).first().locator("span span");
    return spans.evaluateAll((spans, piece) => {
      const span = spans.find((span) => span.textContent.replaceAll("\u00a0", " ").includes(piece));
      if (!span) return undefined;
      const { color, fontStyle } = getComputedStyle(span);
      if (color === "") return undefined; // The line has been drawn anew meanwhile.
      return { text: span.textContent.replaceAll("\u00a0", " "), color, fontStyle };
    }, piece);
  }

  /** Opens a container of views by its icon in the activity bar. */
  async reveal(title) {
    await this.page.locator(`.part.activitybar .action-label[aria-label^="${title}"]`).click({ timeout: PATIENCE });
    await this.page.locator(`.part.sidebar .composite.title .title-label[aria-label^="${title}"], .part.sidebar .composite.title h2:has-text("${title}")`).first().waitFor();
  }

  /** The rows of a view in the side bar, by the view's title. */
  async rows(title) {
    const pane = this.page.locator(".pane").filter({ has: this.page.locator(`.pane-header[aria-label^="${title}"]`) });
    return pane.locator(".monaco-list-row").evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
  }

  /** What is to be seen of the rows of a view in the side bar, by the view's title: a row that does not fit ends with an ellipsis. */
  async seen(title) {
    const pane = this.page.locator(".pane").filter({ has: this.page.locator(`.pane-header[aria-label^="${title}"]`) });
    const labels = pane.locator(".monaco-list-row .monaco-icon-label-container");
    return labels.evaluateAll((labels) =>
      labels.map((label) => {
        const isCut = label.scrollWidth > label.clientWidth;
        const right = label.getBoundingClientRect().right - (isCut ? 12 : 0); // The ellipsis has a place, too.
        const texts = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
        let seen = "";
        const range = document.createRange();
        while (texts.nextNode()) {
          const node = texts.currentNode;
          if (seen !== "") seen += " ";
          for (let at = 0; at < node.length; at += 1) {
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            if (range.getBoundingClientRect().right > right) return `${seen}…`;
            seen += node.data[at];
          }
        }
        return seen;
      }),
    );
  }

  /** Drags the edge of the side bar until it is so many pixels wide. */
  async widen(width) {
    const bar = this.page.locator(".part.sidebar");
    await until(`a side bar of ${width} pixels`, async () => {
      const { x, y, width: now, height } = await bar.boundingBox();
      if (now === width) return true;
      const middle = y + height / 2;
      await this.page.mouse.move(x + now, middle);
      await this.page.waitForTimeout(400); // The edge answers once the mouse has rested on it.
      await this.page.mouse.down();
      await this.page.mouse.move(x + width, middle, { steps: 5 });
      await this.page.mouse.up();
      return false;
    });
  }

  async close() {
    await this.page.close({ runBeforeUnload: true }).catch(() => {});
  }
}

function freePort() {
  return new Promise((found) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}
