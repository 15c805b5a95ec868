// A program in a terminal as a user sees it: xterm.js in Chromium, over a pseudo-terminal. Nothing here knows Hiera.
import { spawn } from "node:child_process";
import path from "node:path";

const PACKAGES = process.env.TERMINAL_PACKAGES;
const PATIENCE = Number(process.env.HIERA_LS_PATIENCE ?? 60) * 1000;
const { chromium } = await import(path.join(PACKAGES, "playwright-core/index.mjs"));

/** Waits until `look` gives something, and returns it. */
export async function until(what, look) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await new Promise((go) => setTimeout(go, 30))) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`never came: ${what}`);
}

export class Terminal {
  /** Runs a command of the shell in a terminal of this size; `profile` is a folder for the browser. */
  static async run(command, { columns, rows, fontSize, theme, profile }) {
    const terminal = new Terminal();
    const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
    args.push("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND");
    const executablePath = process.env.TERMINAL_CHROMIUM;
    // Twice as many pixels: a page that shows the picture makes it smaller.
    const options = { executablePath, headless: true, viewport: { width: 1400, height: 1000 }, deviceScaleFactor: 2, args };
    terminal.browser = await chromium.launchPersistentContext(profile, options);
    terminal.page = terminal.browser.pages()[0];
    const { page } = terminal;
    await page.setContent('<body style="margin: 0"><div id="terminal" style="display: inline-block; padding: 6px"></div></body>');
    await page.addStyleTag({ path: path.join(PACKAGES, "@xterm/xterm/css/xterm.css") });
    await page.addScriptTag({ path: path.join(PACKAGES, "@xterm/xterm/lib/xterm.js") });

    // `script` makes the pseudo-terminal; it does not know how large it is to be.
    const child = spawn("script", ["--quiet", "--flush", "--return", "--command", `stty cols ${columns} rows ${rows}; exec ${command}`, "/dev/null"], {
      env: { ...process.env, TERM: "xterm-256color", COLORTERM: "truecolor" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    terminal.ended = new Promise((end) => child.once("exit", end));
    child.stdin.on("error", () => {}); // It may have ended before it was told everything.
    // Not only what is typed: a terminal answers questions of the program, too.
    await page.exposeFunction("typed", (text) => child.stdin.write(text));
    await page.evaluate(
      ({ columns, rows, fontSize, theme }) => {
        const terminal = new globalThis.Terminal({ cols: columns, rows, theme, fontSize, fontFamily: "DejaVu Sans Mono, monospace", cursorBlink: false });
        terminal.open(document.getElementById("terminal"));
        document.getElementById("terminal").style.background = theme.background;
        terminal.onData((text) => globalThis.typed(text));
        terminal.focus();
        globalThis.terminal = terminal;
      },
      { columns, rows, fontSize, theme },
    );
    child.stdout.on("data", (bytes) => {
      void page.evaluate((base64) => {
        globalThis.terminal.write(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
      }, bytes.toString("base64")).catch(() => {}); // The page may be closed by now.
    });
    terminal.child = child;
    return terminal;
  }

  /** Types text; line ends are Enter. */
  async type(text) {
    await this.page.evaluate((text) => globalThis.terminal.input(text), text.replaceAll("\n", "\r"));
  }

  /** What is on the screen, line by line. */
  async screen() {
    return this.page.evaluate(() => {
      const { active } = globalThis.terminal.buffer;
      return Array.from({ length: globalThis.terminal.rows }, (_, row) => active.getLine(active.viewportY + row).translateToString(true)).join("\n");
    });
  }

  /** Waits for these texts to be on the screen together, and returns it. */
  async shows(...texts) {
    let screen = "";
    const missing = () => texts.filter((text) => !screen.includes(text));
    const look = async () => {
      screen = await this.screen();
      return missing().length === 0;
    };
    await until("the texts", look).catch(() => {
      throw new Error(`${JSON.stringify(missing())} never came; seen:\n${screen}`);
    });
    return screen;
  }

  async screenshot(file) {
    await this.page.waitForTimeout(200);
    await this.page.locator("#terminal").screenshot({ path: file });
  }

  /** Closes the window, whatever runs in it: that loses its terminal. */
  async close() {
    this.child.kill("SIGKILL");
    await this.ended;
    await this.browser.close();
  }
}
