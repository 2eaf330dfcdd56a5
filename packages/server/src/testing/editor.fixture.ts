import { PassThrough, Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { Client, type ClientEvents } from "@banyan/client";
import type { AgentOptions } from "@banyan/core";
import { Desk } from "@banyan/desk";
import { hostOf } from "@banyan/desk/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished } from "vitest";
import { type EditorCommandContext, serveAcp } from "../doors/acp/index.ts";
import { AcpJudge } from "./acp-frames.fixture.ts";
import { temporaryDirectory } from "./serving.fixture.ts";

export const WORKSPACE = "/a/workspace";

/** An editor's capabilities and its answers to requests. */
export interface EditorOptions {
  readonly capabilities?: ClientCapabilities;
  permit?(asked: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  fillIn?(asked: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse>;
  read?(path: string): Promise<string>;
  readonly models?: Parameters<typeof hostOf>[2];
  /** The directory of its sessions. */
  readonly workspace?: string;
  /** The directory of its store. Default: a new one. */
  readonly directory?: string;
}

/** An editor at a door with its own desk. */
export interface Editor {
  readonly agent: ClientConnection["agent"];
  /** The agent's answer to `initialize`. */
  readonly hello: InitializeResponse;
  readonly updates: SessionNotification[];
  /** The rules that the desk stores for good. */
  readonly remembered: readonly string[];
  /** Decides whether the test's own desk offers approval mode `sandbox`. */
  readonly modes: ReturnType<typeof hostOf>["modes"] | undefined;
  /** Another client of the same desk, like a page. */
  readonly page: Client;
  /** Creates a session. */
  begin(): Promise<string>;
  say(sessionId: string, text: string): Promise<{ readonly stopReason: string }>;
  /** The text of all updates of a kind. */
  told(kind: SessionUpdate["sessionUpdate"], sessionId?: string): string;
  /** All updates of a kind. */
  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[];
  /** Ends the connection, and then the editor's own desk. */
  end(): Promise<void>;
  /** Another editor with its own door at the same desk. */
  another(options?: EditorOptions): Promise<Editor>;
}

/** An editor with the SDK's client, at a door to a real desk. Each frame of both sides is checked with the protocol's schema. */
export async function editor(agent: AgentOptions, options: EditorOptions = {}): Promise<Editor> {
  const store = sqliteStore({ directory: options.directory ?? temporaryDirectory() });
  const { host, remembered, modes } = hostOf(store, agent, options.models, WORKSPACE);
  const desk = new Desk({ host });
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= desk.stop().then(() => store.close());
    return ended;
  };
  onTestFinished(end);
  return editorAt(
    {
      connect: async (events) => new Client(desk.link({ shares: true }), events),
      close: (conversation) => desk.close(conversation),
      end,
      remembered,
      modes,
    },
    options,
  );
}

/** The desk or server of an editor's clients. */
export interface EditorServer {
  connect(events?: ClientEvents): Promise<Client>;
  close?(conversation: string): Promise<void>;
  /** Ends everything that belongs to the server. */
  end?(): Promise<void>;
  /** The rules that the test's own desk stores for good. */
  readonly remembered?: readonly string[];
  /** Decides whether the test's own desk offers approval mode `sandbox`. */
  readonly modes?: ReturnType<typeof hostOf>["modes"];
}

/** Another editor, at any server. */
export async function editorAt(server: EditorServer, options: EditorOptions = {}): Promise<Editor> {
  const { capabilities = {}, permit, fillIn, read, workspace = WORKSPACE } = options;
  const judge = new AcpJudge({ unstable: capabilities.subagents !== undefined });
  const [there, back] = [tapped("editor", judge), tapped("agent", judge)];
  const served = serveAcp(ndJsonStream(Writable.toWeb(back), webOf(there)), {
    version: "1.0",
    cwd: workspace,
    async open({ cwd }, events) {
      const own = await server.connect(events);
      await own.connected();
      return {
        client: own,
        workspace: cwd,
        notices: [],
        commands: { list: async () => [{ name: "here", description: "says where it is" }], run: command },
        close: async (conversation) => server.close?.(conversation),
      };
    },
  });
  const updates: SessionNotification[] = [];
  const app = client({ name: "a test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      if (!permit) throw new Error("No test asks here.");
      return permit(params, signal);
    });
  if (fillIn) app.onRequest(methods.client.elicitation.create, ({ params, signal }) => fillIn(params, signal));
  if (read) app.onRequest(methods.client.fs.readTextFile, async ({ params }) => ({ content: await read(params.path) }));
  const connection = app.connect(ndJsonStream(Writable.toWeb(there), webOf(back)));
  const page = await server.connect();
  onTestFinished(async () => {
    connection.close();
    served.close();
    page.close();
    // A test's editor may send wrong frames on purpose.
    expect(judge.faults.filter((fault) => fault.startsWith("agent"))).toEqual([]);
  });
  const hello = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: capabilities,
  });
  return {
    agent: connection.agent,
    hello,
    updates,
    remembered: server.remembered ?? [],
    modes: server.modes,
    page,
    async begin() {
      return (await connection.agent.request(methods.agent.session.new, { cwd: workspace, mcpServers: [] })).sessionId;
    },
    say: (sessionId, text) =>
      connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    told: (kind, sessionId) =>
      updates
        .filter(({ update, sessionId: of }) => update.sessionUpdate === kind && (sessionId ?? of) === of)
        .map(({ update }) =>
          "content" in update && update.content && "text" in update.content ? update.content.text : "",
        )
        .join(""),
    of: (kind) => updates.map(({ update }) => update).filter((update) => update.sessionUpdate === kind) as never,
    async end() {
      connection.close();
      served.close();
      // The door sends its last updates before the desk ends.
      await sleep(50);
      page.close();
      await server.end?.();
    },
    another: (more = {}) => editorAt(server, more),
  };
}

async function command(line: string, there: EditorCommandContext) {
  if (line.startsWith("/retry")) return { type: "retry" as const };
  if (!line.startsWith("/here")) return undefined;
  there.write(`leaf: ${there.leaf}`);
  return { type: "done" as const };
}

/** A pipe whose lines the judge checks. */
function tapped(by: "editor" | "agent", judge: AcpJudge): PassThrough {
  let rest = "";
  const pipe = new PassThrough();
  const write = pipe.write.bind(pipe);
  pipe.write = ((chunk: Uint8Array, ...more: []) => {
    const lines = (rest + Buffer.from(chunk).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) judge.take(by, JSON.parse(line));
    return write(chunk, ...more);
  }) as typeof pipe.write;
  return pipe;
}

function webOf(pipe: PassThrough): ReadableStream<Uint8Array> {
  return Readable.toWeb(pipe) as ReadableStream<Uint8Array>;
}
