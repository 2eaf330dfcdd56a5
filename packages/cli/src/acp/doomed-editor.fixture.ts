import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * An editor whose end a test causes. It starts `banyan acp`, directly or through a wrapper with its own pipes (like
 * npx), which runs a command. Arguments: the program, `alone` or `wrapped`, the command, and the path of the pipe. It
 * writes the process ids `{acp, wrapper?}`: at once, or after the reply if wrapped, because a program learns its
 * parent only once its code runs. A line on standard input closes its pipes.
 */
const [main = "", way, command, pipe = ""] = process.argv.slice(2);
const args = [main, "acp", "--model", "demo/offline"];
const wrapper = `
  const it = require("node:child_process").spawn(process.execPath, ${JSON.stringify(args)}, { stdio: "inherit" });
  process.send(it.pid);`;
// Use an own pipe: Node closes its pipes when the child has ended, and then no pipe would stay open.
spawnSync("mkfifo", [pipe]);
const read = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
const input = openSync(pipe, constants.O_WRONLY);
const it = spawn(process.execPath, way === "wrapped" ? ["-e", wrapper] : args, {
  stdio: [read, "pipe", "ignore", ...(way === "wrapped" ? (["ipc"] as const) : [])],
});
closeSync(read);
let started: object = { acp: it.pid };
if (way === "wrapped")
  it.once("message", (acp) => {
    started = { acp, wrapper: it.pid };
  });
else console.log(JSON.stringify(started));

const say = (frame: object) => writeSync(input, `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
say({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
const output = it.stdout ?? process.stdin;
createInterface({ input: output }).on("line", (line) => {
  const { id, method, result } = JSON.parse(line);
  if (id === 1 && way === "wrapped") console.log(JSON.stringify(started));
  if (id === 1) say({ id: 2, method: "session/new", params: { cwd: process.cwd(), mcpServers: [] } });
  const prompt = [{ type: "text", text: `run \`${command}\`` }];
  if (id === 2) say({ id: 3, method: "session/prompt", params: { sessionId: result.sessionId, prompt } });
  if (method === "session/request_permission")
    say({ id, result: { outcome: { outcome: "selected", optionId: "once" } } });
});
process.stdin.once("data", () => {
  closeSync(input);
  output.destroy();
});
