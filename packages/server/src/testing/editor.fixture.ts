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
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished } from "vitest";
import { Desk } from "../desk/desk.ts";
import { type CommandPlace, serveAcp } from "../doors/acp/index.ts";
import { AcpJudge } from "./acp-frames.fixture.ts";
import { hostOf } from "./served-host.fixture.ts";
import { temporaryDirectory } from "./serving.fixture.ts";

export const WORKSPACE = "/a/workspace";

/** What an editor of a test does with what it is asked, and what it can. */
export interface EditorOptions {
  readonly capabilities?: ClientCapabilities;
  permit?(asked: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  fillIn?(asked: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse>;
  read?(path: string): Promise<string>;
  readonly models?: Parameters<typeof hostOf>[2];
  /** Where its sessions are. */
  readonly workspace?: string;
  /** The directory of its store; a new one when absent. */
  readonly directory?: string;
}

/** An editor at the door, with a desk of its own behind that. */
export interface Editor {
  readonly agent: ClientConnection["agent"];
  /** What the agent said of itself. */
  readonly hello: InitializeResponse;
  readonly updates: SessionNotification[];
  /** The rules that the desk keeps for good. */
  readonly remembered: readonly string[];
  /** Another client at the same desk, as a page is. */
  readonly page: Client;
  /** A conversation for the editor. */
  begin(): Promise<string>;
  say(sessionId: string, text: string): Promise<{ readonly stopReason: string }>;
  /** The text of what came under a kind of update. */
  told(kind: SessionUpdate["sessionUpdate"], sessionId?: string): string;
  /** Updates of a kind. */
  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[];
  /** Ends the connection, and then the desk that is the editor's own. */
  end(): Promise<void>;
  /** Another editor at a door of its own, and the same desk. */
  another(options?: EditorOptions): Promise<Editor>;
}

/** An editor that is the SDK's own client, at a door to a real desk; each frame of both sides fits the protocol's schema. */
export async function editor(agent: AgentOptions, options: EditorOptions = {}): Promise<Editor> {
  const store = sqliteStore({ directory: options.directory ?? temporaryDirectory() });
  const { host, remembered } = hostOf(store, agent, options.models, WORKSPACE);
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
    },
    options,
  );
}

/** Where the clients of an editor are: at a desk, or at a server. */
export interface EditorsPlace {
  connect(events?: ClientEvents): Promise<Client>;
  close?(conversation: string): Promise<void>;
  /** Ends what belongs to the place. */
  end?(): Promise<void>;
  /** The rules that a desk of the test's own keeps for good. */
  readonly remembered?: readonly string[];
}

/** Another editor, wherever its clients are. */
export async function editorAt(place: EditorsPlace, options: EditorOptions = {}): Promise<Editor> {
  const { capabilities = {}, permit, fillIn, read, workspace = WORKSPACE } = options;
  const judge = new AcpJudge({ unstable: capabilities.subagents !== undefined });
  const [there, back] = [tapped("editor", judge), tapped("agent", judge)];
  const served = serveAcp(ndJsonStream(Writable.toWeb(back), webOf(there)), {
    version: "1.0",
    cwd: workspace,
    async open({ cwd }, events) {
      const own = await place.connect(events);
      await own.connected();
      return {
        client: own,
        workspace: cwd,
        notices: [],
        commands: { list: async () => [{ name: "here", description: "says where it is" }], run: command },
        close: async (conversation) => place.close?.(conversation),
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
  const page = await place.connect();
  onTestFinished(async () => {
    connection.close();
    served.close();
    page.close();
    // What the editor of a test says may be wrong on purpose.
    expect(judge.faults.filter((fault) => fault.startsWith("agent"))).toEqual([]);
  });
  const hello = await connection.agent.request(methods.agent.initialize, {
    ...{ protocolVersion: 1, clientCapabilities: capabilities },
  });
  return {
    agent: connection.agent,
    hello,
    updates,
    remembered: place.remembered ?? [],
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
      // What the door still says is said before the desk ends.
      await sleep(50);
      page.close();
      await place.end?.();
    },
    another: (more = {}) => editorAt(place, more),
  };
}

async function command(line: string, there: CommandPlace) {
  if (line.startsWith("/retry")) return { type: "retry" as const };
  if (!line.startsWith("/here")) return undefined;
  there.write(`leaf: ${there.leaf}`);
  return { type: "done" as const };
}

/** A pipe of which the judge sees each line. */
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
