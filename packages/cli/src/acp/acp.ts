import { Readable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { serveAcp } from "@banyan/server/acp";
import manifest from "../../package.json" with { type: "json" };
import { type ExitCode, exitCodes, signalExits } from "../exit.ts";
import { oneLine } from "../show/plain-text.ts";
import type { AcpArguments } from "./arguments.ts";
import { joinedPlaces } from "./joined-places.ts";
import { OwnPlaces } from "./own-places.ts";

/** Bytes of the largest frame of an editor: a prompt may hold pictures. A larger one ends the connection. */
const LARGEST = 32 * 1024 * 1024;

/** Milliseconds between two looks for the process that started this one. */
const PARENT = 500;

/** Milliseconds that what runs has to end, with its facts in the log, before the process ends all the same. */
const PATIENCE = 2_000;

/**
 * `banyan acp`: serves an editor until it is gone, in whatever way: its end of the pipe is closed, a signal comes, or the
 * process that started this one (`starter`) is no more, as when an editor kills the `npx` around it and keeps the pipe.
 */
export async function acp(args: AcpArguments, starter: number): Promise<ExitCode> {
  const output = framesOnly();
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const places = args.attach === undefined ? new OwnPlaces(args) : joinedPlaces(args.attach);
  const connection = serveAcp(ndJsonStream(output, input, { maxMessageBytes: LARGEST }), {
    version: manifest.version,
    cwd: process.cwd(),
    open: (where, events) => places.open(where, events),
  });
  const exit = await Promise.race([
    connection.closed.then(() => endOf(connection.signal.reason)),
    told(),
    orphaned(starter),
  ]);
  connection.close();
  const closing = Promise.resolve(places[Symbol.asyncDispose]()).catch((error: unknown) => tell(error));
  await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  return exit;
}

/**
 * Standard output, for frames alone: what anything else writes there, a library that greets, say, goes to standard error, where
 * it breaks nothing.
 */
function framesOnly(): WritableStream<Uint8Array> {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write;
  // An editor that is gone shows at the other end too.
  stdout.on("error", () => {});
  return new WritableStream({
    write: (frame) =>
      new Promise((resolve, reject) => {
        write(frame, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

/** Why the connection ended; an editor that closed it has done nothing wrong. */
function endOf(reason: unknown): ExitCode {
  if (!(reason instanceof Error) || reason.name !== "MessageTooLargeError") return exitCodes.done;
  tell(reason);
  return exitCodes.failed;
}

function tell(error: unknown): void {
  process.stderr.write(`banyan: ${oneLine(error instanceof Error ? error.message : String(error))}\n`);
}

/** Resolves when the process is asked to end, with the exit code for that. Asked again, it ends at once. */
function told(): Promise<ExitCode> {
  return new Promise((resolve) => {
    let asked = false;
    for (const [signal, exit] of Object.entries(signalExits))
      process.on(signal, () => {
        if (asked) process.exit(exit);
        asked = true;
        resolve(exit);
      });
  });
}

/** Resolves when the process that started this one has ended: another one is its parent then. */
function orphaned(starter: number): Promise<ExitCode> {
  return new Promise((resolve) => {
    setInterval(() => process.ppid !== starter && resolve(exitCodes.hangup), PARENT).unref();
  });
}
