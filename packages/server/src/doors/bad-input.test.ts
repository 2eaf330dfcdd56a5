import { request } from "node:http";
import { methods, type RequestPermissionResponse } from "@agentclientprotocol/sdk/unstable";
import { connect } from "@banyan/client/node";
import { createId, defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { AgUiClient } from "../testing/ag-ui-client.fixture.ts";
import { headers } from "../testing/door-players.fixture.ts";
import { editorAt } from "../testing/editor.fixture.ts";
import { ask } from "../testing/request.fixture.ts";
import type { Served } from "../testing/served.fixture.ts";
import { serving, TOKEN } from "../testing/serving.fixture.ts";
import { TestClient } from "../testing/test-client.fixture.ts";

const { session } = methods.agent;

/** An editor at `banyan acp --attach`. */
const editorOf = ({ server, host: { workspace } }: Served, options: Parameters<typeof editorAt>[1] = {}) =>
  editorAt(
    { connect: (events = {}) => connect({ address: server.address, token: TOKEN, client: "a test" }, events) },
    { workspace, ...options },
  );

/** A wrong request to a door, and the door's error. */
type Wrong = readonly [door: string, what: string, wrong: (site: Served) => Promise<string>, says: RegExp];

const post = (path: string, body: object) => async (site: Served) => {
  const given = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await ask(site.server.address, path, given);
  return `${answer.status} ${answer.body}`;
};
const get = (path: string) => async (site: Served) => {
  const answer = await ask(site.server.address, path, { headers });
  return `${answer.status} ${answer.body}`;
};
const NO_ID = encodeURIComponent("\u0084");
const refused = (asked: Promise<unknown>) =>
  asked.then(
    () => "done",
    ({ code, message }) => `${code} ${message}`,
  );
const byEditor = (wrong: (editor: Awaited<ReturnType<typeof editorOf>>) => Promise<unknown>) => async (site: Served) =>
  refused(wrong(await editorOf(site)));

/** Bytes of a body that every door refuses, and of one of its chunks. */
const HUGE = 100 * 1024 * 1024;
const PIECE = "x".repeat(1024 * 1024);

/** Sends a body that announces no end, and returns the response, and that the server did not read all. */
const flood = (path: string) => async (site: Served) => {
  for (let tries = 1; ; tries++) {
    try {
      return await flooded(path, site);
    } catch (error) {
      // A client that is still writing may see the closed connection before the reason.
      const isCut = ["EPIPE", "ECONNRESET"].includes((error as NodeJS.ErrnoException).code ?? "");
      if (!isCut || tries === 5) throw error;
    }
  }
};

const flooded = (path: string, site: Served) =>
  new Promise<string>((resolve, reject) => {
    let sent = 0;
    const given = { method: "POST", headers, agent: false };
    const flooding = request(`${site.server.address}${path}`, given, async (response) => {
      let body = "";
      for await (const piece of response.setEncoding("utf8")) body += piece;
      flooding.destroy();
      resolve(`${response.statusCode} ${body} ${sent < HUGE ? "cut" : "taken whole"}`);
    });
    flooding.on("error", reject);
    const more = () => {
      if (flooding.destroyed || sent >= HUGE) return;
      sent += PIECE.length;
      flooding.write(PIECE, () => setTimeout(more, 10));
    };
    more();
  });

const aSaying = { id: "m1", role: "user", content: "hello" };
const aMessage = { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] };
const aRun = { threadId: "t1", runId: "r1", messages: [aSaying], tools: [], context: [] };

const all: readonly Wrong[] = [
  [
    ...(["the socket", "a version that there is not"] as const),
    async ({ server }) => {
      const client = new TestClient(server.address, headers);
      await new Promise((resolve) => client.socket.once("open", resolve));
      client.sendText(JSON.stringify({ type: "hello", protocol: "99.0", client: "a test" }));
      const { code } = await client.end();
      return `${code} ${JSON.stringify(client.frames.at(-1))}`;
    },
    /^4426 .*99\.0/,
  ],
  ["/v1", "a version that there is not", get("/v2/models"), /^404 /],
  ["/api/ag-ui", "a version that there is not", post("/api/ag-ui", { ...aRun, protocolVersion: "2.0" }), /^400 .*2\.0/],
  [
    ...(["banyan acp", "a version that is none"] as const),
    byEditor(({ agent }) => agent.request("initialize", { protocolVersion: "one" })),
    /^-32602 /,
  ],
  [
    ...(["the socket", "a conversation that there is not"] as const),
    async ({ server }) => {
      const client = await TestClient.connect(server);
      return refused(client.ask("turn.say", { conversation: "none", parts: [{ type: "text", text: "hello" }] }));
    },
    /^not-found .*none/,
  ],
  [
    ...(["/v1", "a response that there is not"] as const),
    post("/v1/responses", { model: "banyan", input: "hello", previous_response_id: "resp_none" }),
    /^404 \{"error":\{"message":"previous_response_id: .*"type":"invalid_request_error"/,
  ],
  ["/api/chat", "a chat that there is not", get("/api/chat/none"), /^404 \{"error":\{"code":"not-found"/],
  ["/api/chat", "a chat whose id is none", get(`/api/chat/${NO_ID}`), /^400 \{"error":\{"code":"malformed"/],
  ["/api/ag-ui", "the end of a thread whose id is none", post(`/api/ag-ui/${NO_ID}/stop`, {}), /^400 .*malformed/],
  [
    "/v1",
    "a method that means nothing",
    post("/v1/models", {}),
    /^405 \{"error":\{"message":"This address does not support POST. Use GET\."/,
  ],
  ["/api/chat", "a stream of a chat that there is not", get("/api/chat/none/stream"), /^404 .*not-found/],
  ["/api/chat", "the end of a chat that there is not", post("/api/chat/none/stop", {}), /^200 \{"interrupted":0\}$/],
  [
    "/api/ag-ui",
    "the end of a thread that there is not",
    post("/api/ag-ui/none/stop", {}),
    /^200 \{"interrupted":0\}$/,
  ],
  [
    ...(["banyan acp", "a session that there is not"] as const),
    byEditor(({ agent }) => agent.request(session.load, { sessionId: "none", cwd: "/a/workspace", mcpServers: [] })),
    /^-32002 /,
  ],
  [
    ...(["the socket", "a frame of 100 MB"] as const),
    async ({ server }) => {
      const client = await TestClient.connect(server);
      client.socket.on("error", () => {});
      client.sendText(PIECE.repeat(100));
      return String((await client.end()).code);
    },
    /^10(09|06)$/,
  ],
  ["/v1", "a body of 100 MB", flood("/v1/chat/completions"), /^413 \{"error":\{"message":".*bytes.* cut$/],
  ["/api/chat", "a body of 100 MB", flood("/api/chat"), /^413 \{"error":\{"code":"too-large".* cut$/],
  ["/api/ag-ui", "a body of 100 MB", flood("/api/ag-ui"), /^413 \{"error":\{"code":"too-large".* cut$/],
];

/** A frame of that size takes long. */
const wrong = all.filter(([, what]) => what !== "a frame of 100 MB" || process.env.BANYAN_LONG === "1");

describe("bad input gets the door's own error, nothing begins, and the door goes on", () => {
  test.each(wrong)("%s: %s", async (_door, _what, ask_, says) => {
    const site = await serving({ model: scriptedModel(["Hello."]) });
    expect(await ask_(site)).toMatch(says);
    expect(JSON.parse((await get("/api/v1/conversations?programs=true")(site)).slice(4))).toMatchObject({
      conversations: [],
    });
    expect(await post("/api/chat", { id: "later", messages: [aMessage] })(site)).toContain("Hello.");
  });
});

/** A turn in which a call asks, at a door that takes the answer. */
interface Asked {
  readonly conversation: string;
  /** Settles when the door has no work left. */
  answer(allowed: boolean): Promise<unknown>;
  /** The door's output about the turn, if the turn is interrupted without an answer. */
  left(): Promise<unknown>;
}

/** For each door with a user: begins a turn, and resolves when it asks. */
const asking: Readonly<Record<string, (site: Served) => Promise<Asked>>> = {
  async "the socket"({ server }) {
    const client = await TestClient.connect(server);
    const { conversation } = await client.ask("conversation.create", {});
    const { state } = await client.watch(conversation);
    await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "write" }] });
    const { question } = await client.item("call.approval-requested");
    const over = () => client.until(() => state.runs.size === 0);
    return {
      conversation,
      async answer(allowed) {
        const answer = { decision: allowed ? ("allow" as const) : ("deny" as const) };
        await client.ask("question.answer", { conversation, question, answer }).catch(() => {});
        return over();
      },
      left: over,
    };
  },

  async "/api/chat"(site) {
    const id = createId();
    const said = await post("/api/chat", { id, messages: [aMessage] })(site);
    const chunks = [...said.matchAll(/data: (\{.*\})$/gm)].map(([, chunk = ""]) => JSON.parse(chunk));
    const { approvalId } = chunks.find(({ type }) => type === "tool-approval-request");
    const { messageId } = chunks.find(({ type }) => type === "start");
    return {
      conversation: id,
      answer(approved) {
        const part = { type: "dynamic-tool", approval: { id: approvalId, approved } };
        return post("/api/chat", { id, messages: [{ id: messageId, role: "assistant", parts: [part] }] })(site);
      },
      // The stream ended at the question: a page that connects now gets the existing messages.
      left: () => get(`/api/chat/${id}/stream`)(site),
    };
  },

  async "/api/ag-ui"({ server }) {
    const client = new AgUiClient(server.address, createId());
    await client.say("write");
    const [interrupt] = client.pendingInterrupts;
    const interruptId = interrupt?.id ?? "";
    return {
      conversation: client.threadId,
      answer: (approved) =>
        client.runAgent({ resume: [{ interruptId, status: "resolved", payload: { approved } }] } as never),
      left: async () => client.runAgent().catch(() => {}),
    };
  },

  async "banyan acp"(site) {
    const shown = Promise.withResolvers<void>();
    const chosen = Promise.withResolvers<RequestPermissionResponse>();
    const editor = await editorOf(site, {
      permit(_asked, signal) {
        shown.resolve();
        return Promise.race([
          chosen.promise,
          new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
        ]);
      },
    });
    const conversation = await editor.begin();
    const saying = editor.say(conversation, "write");
    await shown.promise;
    return {
      conversation,
      answer(allowed) {
        chosen.resolve({ outcome: { outcome: "selected", optionId: allowed ? "once" : "no" } });
        return saying;
      },
      left: () => saying,
    };
  },
};

/** A server whose agent asks before it writes, a client that watches, and the record of writes. */
async function writing() {
  const did: string[] = [];
  const write = defineTool({
    name: "write",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: () => {
      did.push("written");
      return "written";
    },
  });
  const site = await serving({
    model: scriptedModel([[call("write")], "So be it.", "And on."]),
    tools: [write],
    permission: () => ({ decision: "ask" }),
  });
  return { site, did };
}

describe.each(Object.entries(asking))("a permission by %s", (_door, begin) => {
  test("a question without an answer blocks no other request; an interrupt ends it, and the conversation continues", async () => {
    const { site, did } = await writing();
    const { conversation, left } = await begin(site);
    const client = await TestClient.connect(site.server);
    const { state } = await client.watch(conversation);
    expect([state.questions.size, state.runs.size]).toEqual([1, 1]);
    await client.ask("run.interrupt", { conversation });
    await client.until(() => state.runs.size === 0);
    await left();
    expect([state.questions.size, did]).toEqual([0, []]);
    await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "and?" }] });
    await client.until(() => JSON.stringify([...state.messages.values()]).includes("So be it."));
  });

  test.each([true, false])(
    "two simultaneous answers: one counts, and both clients get the result (%s here)",
    async (allowed) => {
      const { site, did } = await writing();
      const { conversation, answer } = await begin(site);
      const client = await TestClient.connect(site.server);
      const { state } = await client.watch(conversation);
      const [question = ""] = [...state.questions.keys()];
      const other = { decision: allowed ? ("deny" as const) : ("allow" as const) };
      const [, second] = await Promise.all([
        answer(allowed),
        client.ask("question.answer", { conversation, question, answer: other }).then(
          () => "first",
          ({ code }) => code,
        ),
      ]);
      await client.until(() => state.runs.size === 0);
      const resolved = client.items.filter(({ type }) => type === "call.approval-resolved");
      expect(resolved).toHaveLength(1);
      const isAllowed = second === "first" ? !allowed : allowed;
      expect(resolved).toMatchObject([{ allowed: isAllowed }]);
      expect(did).toEqual(isAllowed ? ["written"] : []);
      expect(JSON.stringify([...state.messages.values()].at(-1))).toContain("So be it.");
    },
  );
});
