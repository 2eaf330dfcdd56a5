import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from "@agentclientprotocol/sdk/unstable";
import { onTestFinished } from "vitest";
import { type Home, MAIN, type Running } from "./banyan.ts";

/** A `banyan acp` process, and the SDK's client connected to it. */
export interface EditorHere {
  readonly running: Running;
  readonly agent: ClientConnection["agent"];
  readonly updates: SessionNotification[];
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  /** Lines on standard output that are not protocol messages. */
  readonly strays: string[];
  say(sessionId: string, text: string): Promise<{ readonly stopReason: string }>;
  /** Text of the agent. */
  readonly said: string;
}

/** Starts `banyan acp` for the duration of the test, and initializes the connection. */
export async function editor(
  home: Home,
  args: readonly string[],
  {
    env = {},
    option = 0,
    permit = async ({ options }) => ({
      outcome: { outcome: "selected", optionId: options.at(option)?.optionId ?? "" },
    }),
  }: {
    readonly env?: Readonly<Record<string, string>>;
    /** Index of the option that the editor chooses in permission requests. */
    readonly option?: number;
    /** Answers permission requests instead. */
    readonly permit?: (asked: RequestPermissionRequest) => Promise<RequestPermissionResponse>;
  } = {},
): Promise<EditorHere> {
  const running = spawn(process.execPath, [MAIN, "acp", ...args], {
    cwd: home.workspace,
    env: { ...home.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void running.kill("SIGKILL"));
  running.stdin.on("error", () => {
    // The process may have ended.
  });
  const strays: string[] = [];
  const updates: SessionNotification[] = [];
  let rest = "";
  running.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (!/^\{"jsonrpc":"2\.0",/.test(line)) strays.push(line);
  });
  const connection = client({ name: "a test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => permit(params))
    .connect(ndJsonStream(Writable.toWeb(running.stdin), Readable.toWeb(running.stdout) as ReadableStream<Uint8Array>));
  onTestFinished(() => connection.close());
  await connection.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  return {
    running,
    updates,
    strays,
    agent: connection.agent,
    closed: connection.closed,
    say: (sessionId, text) =>
      connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    get said() {
      return updates
        .map(({ update }) =>
          update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
        )
        .join("");
    },
  };
}

/** Resolves with the exit code or signal of a process. */
export async function endOf(running: Running): Promise<number | string | null> {
  if (running.exitCode !== null || running.signalCode !== null) return running.exitCode ?? running.signalCode;
  const [code, signal] = await once(running, "exit");
  return code ?? signal;
}
