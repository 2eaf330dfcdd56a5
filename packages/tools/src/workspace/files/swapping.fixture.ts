import { spawn } from "node:child_process";
import { once } from "node:events";

const SWAP = `
const { renameSync, symlinkSync, rmSync } = require("node:fs");
const [folder, target, ready] = process.argv.slice(1);
const [kept, link] = [folder + ".kept", folder + ".link"];
symlinkSync(target, link);
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 8);
process.send("ready");
for (;;) {
  try { renameSync(folder, kept); renameSync(link, folder); } catch {}
  pause();
  try { renameSync(folder, link); renameSync(kept, folder); } catch {}
  pause();
}`;

/** Starts a process that swaps a folder for a link and back at random moments, until it is disposed of. */
export async function swapping(folder: string, target: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ["-e", SWAP, folder, target], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(child, "message");
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
