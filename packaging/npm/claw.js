#!/usr/bin/env node
// Starts the program that the package of this platform carries. Node stays beside it only to hand
// signals and the exit code on.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `claw-agent-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/claw`);
} catch {
  console.error(
    `claw: the package ${name} is not installed. Either there is no claw for this platform, or ` +
      "optional dependencies were left out; install again with `npm install -g claw-agent --include=optional`.",
  );
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  // A terminal sends SIGINT to both; the program decides what it means.
  process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
}
child.on("error", (error) => {
  console.error(`claw: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
