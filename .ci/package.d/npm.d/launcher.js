#!/usr/bin/env node
// Runs the program that a package for this platform brings, with the same arguments, streams and exit status.

"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@hiera-ls/${platform}/bin/hiera-ls${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(
    `hiera-ls: the package @hiera-ls/${platform} is not installed. ` +
      "npm leaves it out with --omit=optional, and there is one for Linux, macOS and Windows on x64 and arm64 only.",
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// An editor or a shell may signal this process alone.
const passed = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of passed) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`hiera-ls: ${program} does not start: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => {
  if (signal) {
    passed.forEach((name) => process.removeAllListeners(name));
    process.kill(process.pid, signal);
  } else {
    process.exit(status);
  }
});
