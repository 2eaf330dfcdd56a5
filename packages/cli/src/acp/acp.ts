import { Readable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { errorMessage } from "@banyan/core/shown";
import { serveAcp } from "@banyan/server/acp";
import manifest from "../../package.json" with { type: "json" };
import { type ExitCode, exitCodes, signalExits } from "../program/exit.ts";
import { plainLine } from "../show/plain-text.ts";
import type { AcpArguments } from "./arguments.ts";
import { serverWorkspaces } from "./joined-workspaces.ts";
import { OwnWorkspaces } from "./own-workspaces.ts";

/** Maximum bytes of an editor's message, which may contain images. A larger message ends the connection. */
const LARGEST = 32 * 1024 * 1024;

const PARENT = 500;

/** Milliseconds for runs to end and to be logged before the process exits anyway. */
const PATIENCE = 2_000;

/**
 * `banyan acp`: serves an editor until the pipe closes, a signal arrives, or the parent process (`starter`) ends. An
 * editor may kill the `npx` that started this process, and keep the pipe open.
 */
export async function acp(args: AcpArguments, starter: number): Promise<ExitCode> {
  const output = framesOnly();
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const workspaces = args.attach === undefined ? new OwnWorkspaces(args) : serverWorkspaces(args.attach);
  const connection = serveAcp(ndJsonStream(output, input, { maxMessageBytes: LARGEST }), {
    version: manifest.version,
    cwd: process.cwd(),
    open: (where, events) => workspaces.open(where, events),
  });
  const exit = await Promise.race([
    connection.closed.then(() => exitCodeAfter(connection.signal.reason)),
    untilSignal(),
    orphaned(starter),
  ]);
  connection.close();
  const closing = Promise.resolve(workspaces[Symbol.asyncDispose]()).catch((error: unknown) => writeError(error));
  await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  return exit;
}

/** Standard output for protocol messages only. Other output, such as a library's greeting, goes to standard error. */
function framesOnly(): WritableStream<Uint8Array> {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write;
  stdout.on("error", () => {});
  return new WritableStream({
    write: (frame) =>
      new Promise((resolve, reject) => {
        write(frame, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

function exitCodeAfter(reason: unknown): ExitCode {
  if (!(reason instanceof Error) || reason.name !== "MessageTooLargeError") return exitCodes.done;
  writeError(reason);
  return exitCodes.failed;
}

function writeError(error: unknown): void {
  process.stderr.write(`banyan: ${plainLine(errorMessage(error))}\n`);
}

/** Resolves with the exit code when a signal arrives. A second signal exits at once. */
function untilSignal(): Promise<ExitCode> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const [signal, exit] of Object.entries(signalExits))
      process.on(signal, () => {
        if (isAsked) process.exit(exit);
        isAsked = true;
        resolve(exit);
      });
  });
}

/** Resolves when the parent process has ended: the process then gets another parent. */
function orphaned(starter: number): Promise<ExitCode> {
  return new Promise((resolve) => {
    setInterval(() => process.ppid !== starter && resolve(exitCodes.hangup), PARENT).unref();
  });
}
