import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Place, Running } from "./attack.ts";

const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

/** Creates a place for one attempt. */
export function newPlace(signal: AbortSignal): Place & AsyncDisposable {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-attack-")));
  const [folder, home] = [join(root, "workspace"), join(root, "home")];
  const state = join(home, ".banyan", "state");
  for (const path of [folder, state, join(root, "tmp")]) mkdirSync(path, { recursive: true });
  // Messages of the first start are not part of an attack.
  for (const said of ["welcomed", "memory-offered"]) writeFileSync(join(state, said), "");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    BANYAN_HOME: join(home, ".banyan"),
    BANYAN_NO_DISCOVERY: "1",
    TMPDIR: join(root, "tmp"),
    TERM: "xterm",
  };
  const undone: (() => unknown)[] = [];
  const place: Place = {
    folder,
    home,
    env,
    signal,
    defer: (undo) => void undone.push(undo),
    start(args, options = {}) {
      const running: Running = spawn(process.execPath, [MAIN, ...args], {
        cwd: options.cwd ?? folder,
        env: { ...env, ...options.env },
        stdio: ["pipe", "pipe", "pipe"],
        detached: true,
      });
      // The command may close its input before all of it was sent.
      running.stdin.on("error", () => {});
      place.defer(() => killFamily(running.pid));
      return running;
    },
    async banyan(args, { input, ...options } = {}) {
      const running = place.start(args, options);
      const closed = new Promise<number | null>((resolve) => running.on("close", resolve));
      running.stdin.end(input);
      const [stdout, stderr, code] = await Promise.all([text(running.stdout), text(running.stderr), closed]);
      return { code, stdout, stderr };
    },
  };
  return {
    ...place,
    async [Symbol.asyncDispose]() {
      for (const undo of undone.reverse()) await undo();
      rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

export function killFamily(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {}
}
