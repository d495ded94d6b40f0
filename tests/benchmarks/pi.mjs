// NodeExecutionEnv.exec of @earendil-works/pi-agent-core, measured as tests/benchmarks/programs.py measures: REPORT SCRIPT
// Copied beside the node_modules that have it, since a module is looked for above the file that imports it.
import { readFileSync, writeFileSync } from "node:fs";

import { BACKGROUND_CONTEXT } from "@earendil-works/pi-agent-core/harness/context";
import { NodeExecutionEnv } from "@earendil-works/pi-agent-core/node";

const [report, script] = process.argv.slice(2);
const TICK = 0.01; // s; USER_HZ is 100 on every Linux that there is

/** Bytes. */
function peakMemory() {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
}

/** Seconds of user and system, of this process and of the children that it waited for. */
function cpu() {
  const fields = readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /s, "").split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK;
}

async function exec(command, onUpdate) {
  const options = { capture: { limits: { maxBytes: 51200, maxLines: 2000 }, spill: true }, onUpdate };
  const done = await new NodeExecutionEnv({ cwd: process.cwd() }).exec(command, options, BACKGROUND_CONTEXT);
  if (!done.ok) throw done.error;
  return done.value;
}

await exec("echo warm", () => {});
let updates = 0;
let bytes = 0;
const [memory, used, begin] = [peakMemory(), cpu(), performance.now()];
const result = await exec(script, (update) => {
  updates += 1;
  bytes += Buffer.byteLength(JSON.stringify(update));
});
const wall = (performance.now() - begin) / 1000;
writeFileSync(
  report,
  JSON.stringify({
    wall,
    cpu: cpu() - used,
    grown: peakMemory() - memory,
    updates,
    update_bytes: bytes,
    facts: { bytes: result.truncation.totalBytes },
  }),
);
