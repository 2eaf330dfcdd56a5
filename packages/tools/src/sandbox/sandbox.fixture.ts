import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { openSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";

/** Returns why this machine cannot test sandboxes; undefined if it can. */
export async function whyNoSandbox(): Promise<string | undefined> {
  using folder = new TestFolder();
  const opening = await openSandbox({ root: folder.root });
  if (!opening.available) return opening.reason;
  await opening.sandbox[Symbol.asyncDispose]();
  return undefined;
}

/** Opens a sandbox around a folder. Throws if no sandbox is possible. */
export async function sandboxOf(folder: TestFolder, options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const opening = await openSandbox({ root: folder.root, ...options });
  if (!opening.available) throw new Error(opening.reason);
  return opening.sandbox;
}

/** Starts a shell command in a sandbox, with pipes for all streams. `loopback`: the name of its shared network. */
export async function startIn(
  sandbox: Sandbox,
  folder: TestFolder,
  command: string,
  environment: Readonly<Record<string, string>> = { PATH: process.env.PATH ?? "" },
  loopback?: string,
): Promise<ChildProcess & AsyncDisposable> {
  const program = await sandbox.wrap({ file: "/bin/sh", args: ["-c", command], environment }, { loopback });
  const child = spawn(program.file, program.args, { cwd: folder.root, env: program.environment });
  const exited = once(child, "exit");
  return Object.assign(child, {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      program[Symbol.dispose]();
    },
  });
}

/** A web server on this machine that answers "hello". */
export async function helloServer(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((_, response) => response.end("hello"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
