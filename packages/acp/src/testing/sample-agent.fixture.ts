// An agent built on the protocol's own package. Each line of a prompt is a command of `acts`.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AgentContext,
  agent,
  type ContentBlock,
  methods,
  ndJsonStream,
  type PermissionOption,
  type PromptResponse,
  RequestError,
  type RequestPermissionResponse,
  type SessionConfigOption,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";

const can = new Set((process.env.SAMPLE_CAN ?? "embedded").split(","));
const state = process.env.SAMPLE_STATE;
const cancelled = new Map<string, AbortController>();

type Sessions = Record<string, { said: string[]; cost: number; effort?: string }>;
const sessions: Sessions = state && existsSync(state) ? (JSON.parse(readFileSync(state, "utf8")) as Sessions) : {};
const keep = () => {
  if (state) writeFileSync(state, JSON.stringify(sessions));
};
const known = (id: string) => {
  const session = sessions[id];
  if (!session) throw RequestError.resourceNotFound(id);
  return session;
};

/** Options of a session. */
const chosenIn = (id: string): { configOptions?: SessionConfigOption[] } => {
  if (!can.has("effort")) return {};
  const options = ["low", "high"].map((value) => ({ value, name: value === "low" ? "Little" : "Much" }));
  const currentValue = known(id).effort ?? "low";
  return {
    configOptions: [
      { type: "select", id: "thinking", name: "Thinking", category: "thought_level", currentValue, options },
    ],
  };
};

const OPTIONS: readonly PermissionOption[] = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

const over = () => {};

interface Work {
  readonly id: string;
  readonly client: AgentContext;
  readonly signal: AbortSignal;
  readonly cwd: string;
  tell(update: SessionUpdate): Promise<void>;
  say(text: string): Promise<void>;
  /** Resolves when the client has handled all updates: only then does it refuse this request. */
  heard(): Promise<void>;
  /** Asks for permission; returns the option's id, or `cancelled`. */
  leave(call: object, options?: readonly PermissionOption[], signal?: AbortSignal): Promise<string>;
}

const acts: Record<string, (work: Work, rest: string) => Promise<PromptResponse["stopReason"] | undefined | void>> = {
  say: ({ say }, text) => say(text),
  async think({ tell }, text) {
    await tell({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
  },
  effort: ({ say, id }) => say(`thinks ${known(id).effort ?? "low"}`),
  told: ({ say, id }) => say(known(id).said.join(" | ")),
  async read({ tell }, path) {
    const call = { toolCallId: randomUUID(), rawInput: { path } };
    await tell({
      sessionUpdate: "tool_call",
      ...call,
      title: `Read ${path}`,
      kind: "read",
      status: "pending",
      locations: [{ path }],
    });
    await tell({ sessionUpdate: "tool_call_update", ...call, status: "in_progress", content: [block("line 1")] });
    await tell({ sessionUpdate: "tool_call_update", ...call, content: [block("line 1\nline 2")] });
    await tell({ sessionUpdate: "tool_call_update", ...call, status: "completed" });
  },
  /** `edit PATH TEXT`: asks for permission first. */
  async edit({ tell, leave, say, cwd }, rest) {
    const [path = "", text = ""] = rest.split(" ");
    const file = join(cwd, path);
    const oldText = existsSync(file) ? readFileSync(file, "utf8") : null;
    const call = {
      toolCallId: randomUUID(),
      title: `Edit ${path}`,
      kind: "edit" as const,
      rawInput: { file_path: file },
    };
    const diff = { type: "diff" as const, path: file, oldText, newText: text };
    await tell({ sessionUpdate: "tool_call", ...call, status: "pending", content: [diff] });
    const option = await leave({ ...call, content: [diff] });
    if (option === "yes" || option === "always") writeFileSync(file, text);
    const status = option === "yes" || option === "always" ? "completed" : "failed";
    await tell({ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status });
    await say(`told: ${option}`);
  },
  /** `call JSON`: a call with these fields. sh runs `does` after a yes, or if `asks` or `obeys` is false; the last update has `later`. */
  async call({ tell, leave, say, heard, cwd }, json) {
    const { does = "", asks = true, obeys = true, later = {}, status = "completed", ...told } = JSON.parse(json);
    const call = { toolCallId: randomUUID(), title: "a call", ...told };
    await tell({ sessionUpdate: "tool_call", ...call, status: "pending" });
    if (!asks) await heard();
    const option = asks ? await leave(call) : "yes";
    const isDone = option === "yes" || !obeys;
    if (isDone) spawnSync("sh", ["-c", does], { cwd });
    const { toolCallId } = call;
    await tell({ sessionUpdate: "tool_call_update", toolCallId, ...later, status: isDone ? status : "failed" });
    await say(`told: ${option}`);
  },
  /** `overwrite PATH TEXT`: writes without permission. */
  async overwrite({ tell, heard, cwd }, rest) {
    const [path = "", text = ""] = rest.split(" ");
    const call = { toolCallId: randomUUID(), title: `Write ${path}`, kind: "edit" as const, rawInput: { path } };
    await tell({ sessionUpdate: "tool_call", ...call, status: "in_progress" });
    await heard();
    writeFileSync(join(cwd, path), text);
    const content = [{ type: "diff" as const, path: join(cwd, path), oldText: null, newText: text }];
    await tell({ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status: "completed", content });
  },
  async run({ tell, leave, say }, command) {
    const call = { toolCallId: randomUUID(), title: command, kind: "execute" as const, rawInput: { command } };
    await tell({ sessionUpdate: "tool_call", ...call, status: "pending" });
    const option = await leave(call);
    const [status, said] =
      option === "yes" ? (["completed", `ran ${command}`] as const) : (["failed", "not run"] as const);
    if (option !== "cancelled") {
      const content = [block(said)];
      await tell({ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status, content });
    }
    await say(`told: ${option}`);
  },
  /** `options KIND,KIND NAME`: asks about a call with these options. */
  async options({ leave, say }, rest) {
    const [kinds = "", name = ""] = rest.split(" ");
    const offered = kinds.split(",").map((kind, at) => ({
      optionId: `${kind}-${at}`,
      name: `${kind} ${at}`,
      kind: kind as PermissionOption["kind"],
    }));
    await say(`told: ${await leave({ toolCallId: randomUUID(), title: name, kind: "switch_mode" }, offered)}; `);
  },
  async twice({ tell, leave, say }) {
    const call = { toolCallId: "one", title: "ls", kind: "execute" as const, rawInput: { command: "ls" } };
    await tell({ sessionUpdate: "tool_call", ...call, status: "pending" });
    const answers = [await leave(call), await leave({ ...call, rawInput: { command: "ls -a" } })];
    const content = [block("listed")];
    await tell({ sessionUpdate: "tool_call_update", toolCallId: "one", status: "completed", content });
    await say(`told: ${answers.join(", ")}`);
  },
  async takeBack({ leave, say }) {
    const over = new AbortController();
    setTimeout(() => over.abort(), 200);
    const call = { toolCallId: randomUUID(), title: "rm", kind: "execute", rawInput: { command: "rm x" } };
    const answer = await leave(call, OPTIONS, over.signal).catch(() => "taken back");
    await say(`told: ${answer}`);
  },
  async together({ tell, say }) {
    const calls = ["a", "b"].map((name) => ({ toolCallId: `${name}-${randomUUID()}`, rawInput: { command: name } }));
    for (const call of calls)
      await tell({ sessionUpdate: "tool_call", ...call, title: "x", kind: "execute", status: "pending" });
    for (const call of [...calls].reverse())
      await tell({
        sessionUpdate: "tool_call_update",
        ...call,
        status: "completed",
        content: [block(call.rawInput.command)],
      });
    await say("both");
  },
  async nested({ tell, say }) {
    const outer = { toolCallId: randomUUID(), title: "Task", kind: "think" as const, rawInput: { prompt: "look" } };
    await tell({ sessionUpdate: "tool_call", ...outer, status: "in_progress" });
    await acts.read?.({ tell } as Work, "inner.txt");
    await say("meanwhile");
    const { toolCallId } = outer;
    await tell({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content: [block("looked")] });
    await say("after");
  },
  async forget({ tell, say }) {
    const call = { toolCallId: randomUUID(), title: "x", kind: "other" as const, name: "their_tool" };
    await tell({ sessionUpdate: "tool_call", ...call, rawInput: { a: 1 }, status: "in_progress" });
    await say("forgotten");
  },
  async plan({ tell }) {
    for (const status of ["in_progress", "completed"] as const) {
      const entries = [
        { content: "look", priority: "high" as const, status },
        { content: "mend", priority: "high" as const, status: "pending" as const },
      ];
      await tell({ sessionUpdate: "plan", entries });
    }
  },
  async spend({ tell, id }, amount) {
    const session = known(id);
    session.cost += Number(amount);
    await tell({ sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: session.cost, currency: "USD" } });
  },
  async ask({ client, say, id }) {
    const requestedSchema = {
      type: "object" as const,
      properties: { where: { type: "string" as const, title: "Where to" } },
      required: ["where"],
    };
    const params = { mode: "form" as const, sessionId: id, message: "Where shall it go?", requestedSchema };
    const response = await client.request(methods.client.elicitation.create, params);
    await say(`told: ${JSON.stringify(response)}`);
  },
  async files({ client, say, id }) {
    const asked = client.request(methods.client.fs.readTextFile, { sessionId: id, path: "/etc/passwd" });
    await say(
      await asked.then(
        ({ content }) => content,
        (error: RequestError) => `refused: ${error.code}`,
      ),
    );
  },
  async odd({ client, id, say }) {
    await client.notify("session/update", { sessionId: id, update: { sessionUpdate: "of_tomorrow", value: 1 } });
    await client.notify("session/update", {
      sessionId: "another",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "not mine" } },
    });
    await say("went on");
  },
  async hang({ signal, say }) {
    await say("waiting");
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  },
  deaf: async ({ say }) => {
    await say("deaf");
    await new Promise(() => {});
  },
  async die({ say }) {
    await say("dying");
    process.stderr.write("segmentation fault\n");
    process.exit(3);
  },
  async babble({ say }) {
    process.stdout.write('Loading...\n{not json\n{"jsonrpc":"1.0"}\n[1]\n\n');
    await say("heard");
  },
  async flood({ tell }, megabytes) {
    const text = "x".repeat(1024 * 1024);
    for (let sent = 0; sent < Number(megabytes); sent++)
      await tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  },
  async line(_, megabytes) {
    process.stdout.write("x".repeat(Number(megabytes) * 1024 * 1024));
    await sleep(60_000);
  },
  /** Starts a grandchild in its own session, which ignores SIGTERM and outlives its parent. */
  async child({ say }) {
    const script = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ["-e", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.unref();
    await say(String(child.pid));
  },
  /** `stuck COMMAND`: runs a command in a call that does not end. */
  async stuck(work, command) {
    const call = { toolCallId: randomUUID(), title: command, kind: "execute" as const, rawInput: { command } };
    await work.tell({ sessionUpdate: "tool_call", ...call, status: "in_progress" });
    await work.heard();
    await acts.secretly?.(work, command);
    await acts[command.endsWith("die") ? "die" : "hang"]?.(work, "");
  },
  secretly: async ({ cwd }, command) => void spawnSync("sh", ["-c", command], { cwd }),
  ends: async (_, reason) => reason as PromptResponse["stopReason"],
  async fail() {
    throw RequestError.internalError({ details: "the disk is full" });
  },
  async signIn() {
    throw RequestError.authRequired();
  },
};

function block(text: string) {
  return { type: "content" as const, content: { type: "text" as const, text } };
}

function textOf(content: ContentBlock): string {
  if (content.type === "text") return content.text;
  if (content.type === "resource")
    return "text" in content.resource ? `<${content.resource.uri}>${content.resource.text}` : content.resource.uri;
  return `<${content.type}>`;
}

if (process.env.SAMPLE_STUBBORN) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
}

agent({ name: "sample" })
  .onRequest(methods.agent.initialize, async ({ params }) => {
    acts.client = ({ say }) => say(JSON.stringify(params.clientInfo));
    if (process.env.SAMPLE_SILENT) await new Promise(() => {});
    return {
      protocolVersion: Number(process.env.SAMPLE_VERSION ?? 1),
      agentInfo: { name: "sample", version: "1.0.0" },
      authMethods: [{ id: "login", name: "Log in", description: "run `sample login`" }],
      agentCapabilities: {
        loadSession: can.has("load"),
        promptCapabilities: { image: can.has("image"), embeddedContext: can.has("embedded") },
        sessionCapabilities: {
          ...(can.has("fork") && { fork: {} }),
          ...(can.has("resume") && { resume: {} }),
          ...(can.has("delete") && { delete: {} }),
        },
      },
    };
  })
  .onRequest(methods.agent.session.new, () => {
    const sessionId = randomUUID();
    sessions[sessionId] = { said: [], cost: 0 };
    keep();
    return { sessionId, ...chosenIn(sessionId) };
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    known(params.sessionId).effort = String(params.value);
    keep();
    return { configOptions: chosenIn(params.sessionId).configOptions ?? [] };
  })
  .onRequest(methods.agent.session.fork, ({ params }) => {
    const sessionId = randomUUID();
    sessions[sessionId] = { said: [...known(params.sessionId).said, "(fork)"], cost: 0 };
    keep();
    return { sessionId, ...chosenIn(sessionId) };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    known(params.sessionId).said.push("(resume)");
    return chosenIn(params.sessionId);
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    const content = { type: "text" as const, text: "of the past" };
    await client.notify(methods.client.session.update, {
      sessionId: params.sessionId,
      update: { sessionUpdate: "agent_message_chunk", content },
    });
    known(params.sessionId).said.push("(load)");
    return chosenIn(params.sessionId);
  })
  .onRequest(methods.agent.session.delete, ({ params }) => {
    delete sessions[params.sessionId];
    keep();
    return {};
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.abort())
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId: id, prompt } = params;
    const said = prompt.map(textOf);
    known(id).said.push(said.join(" + "));
    keep();
    const controller = new AbortController();
    cancelled.set(id, controller);
    const tell = (update: SessionUpdate) => client.notify(methods.client.session.update, { sessionId: id, update });
    const work: Work = {
      id,
      client,
      signal: controller.signal,
      cwd: process.cwd(),
      tell,
      say: (text) => tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }),
      heard: () => client.request(methods.client.fs.readTextFile, { sessionId: id, path: "/" }).then(over, over),
      async leave(toolCall, options = OPTIONS, signal) {
        const request = { sessionId: id, toolCall: toolCall as { toolCallId: string }, options: [...options] };
        const { outcome } = await client.request<RequestPermissionResponse>(
          methods.client.session.requestPermission,
          request,
          signal ? { cancellationSignal: signal } : {},
        );
        return outcome.outcome === "selected" ? outcome.optionId : "cancelled";
      },
    };
    const commands = (said.at(-1) ?? "").split("\n").filter((line) => line.trim() !== "");
    for (const command of commands) {
      const [name = "", ...rest] = command.split(" ");
      const stop = await (acts[name] ?? acts.say)?.(work, rest.join(" "));
      keep();
      if (controller.signal.aborted) return { stopReason: "cancelled" as const };
      if (stop) return { stopReason: stop };
    }
    const usage = { totalTokens: 135, inputTokens: 20, outputTokens: 15, cachedReadTokens: 100 };
    return { stopReason: "end_turn" as const, usage };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
