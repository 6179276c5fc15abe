#!/usr/bin/env node
// Runs the program for this platform, which comes in a package of its own.
"use strict";
const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");

const carrier = `@inferometer/${process.platform}-${process.arch}`;
const program = find(process.platform === "win32" ? "inferometer.exe" : "inferometer");
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// The terminal sends Ctrl-C to both processes, and the program takes a second one as "stop at once". Without a
// terminal, whoever sends a signal to this process means the program.
const terminal = [0, 1, 2].some((fd) => isatty(fd));
const passed = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of passed) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || !terminal) child.kill(signal);
  });
}

child.on("error", (err) => stop(`cannot start ${program}: ${err.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // Whoever waits for this process should see how the program ended.
  for (const name of passed) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});

function find(file) {
  try {
    return require.resolve(`${carrier}/bin/${file}`);
  } catch {
    return stop(
      `the package ${carrier} is not installed: install again with optional dependencies (npm install --include=optional), ` +
        "or see https://github.com/inferometer/inferometer for other ways to install",
    );
  }
}

function stop(why) {
  console.error(`inferometer: ${why}`);
  process.exit(1);
}
