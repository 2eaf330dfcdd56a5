import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { LLMock } from "@copilotkit/aimock";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect } from "vitest";

/** Starts one of the programs in a new folder, against a provider on this machine. */
interface Place {
  readonly mock: LLMock;
  start(...args: readonly string[]): ChildProcessWithoutNullStreams;
  /** Runs the program with these lines of standard input, and returns what the program prints. */
  run(args?: readonly string[], input?: string): Promise<string>;
}

/** Runs `check` with a place for the program `file`, which is a file of the sources or of an installed project. */
export async function inPlace(file: string, check: (place: Place) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "compared-"));
  const mock = new LLMock({ port: 0, chunkSize: 6, logLevel: "silent" });
  await mock.start();
  const started: ChildProcessWithoutNullStreams[] = [];
  const wire = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${mock.url}/v1` };
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, [file, ...args], { cwd, env: { ...process.env, ...wire } });
    started.push(child);
    return child;
  };
  const run = async (args: readonly string[] = [], input = "") => {
    const child = start(...args);
    child.stdin.end(input);
    const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (errors !== "") throw new Error(errors);
    return printed.trimEnd();
  };
  try {
    await check({ mock, start, run });
  } finally {
    for (const child of started) child.kill("SIGKILL");
    await mock.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
}

const requests = (mock: LLMock) => mock.getRequests().map(({ body }) => JSON.stringify(body));

/** The checks of each program: its output, and the requests that it sends. */
export const CHECKS: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  async smallest({ mock, run }) {
    mock.on({ userMessage: "leaves" }, { content: "Because of chlorophyll." });
    expect(await run()).toBe("Because of chlorophyll.");
  },

  async approval({ mock, run }) {
    mock.on({ hasToolResult: false }, { toolCalls: [{ name: "refund", arguments: '{"order":"7"}' }] });
    mock.on({ toolResultContains: "Order 7 is paid back" }, { content: "I have paid it back." });
    expect(await run()).toBe("waiting");
    expect(await run(["yes"])).toBe("answered I have paid it back.");
  },

  async desk({ mock, start, run }) {
    mock.on({ userMessage: "oak", systemMessage: "verse" }, { content: "An oak of old. " });
    mock.on({ userMessage: "verse", systemMessage: "verse" }, { content: "A verse of gold. " });
    mock.on({ userMessage: "verse" }, { toolCalls: [{ name: "hand_off_to_writer", arguments: "{}" }] });
    mock.on({ userMessage: "long" }, { content: "On and on and on. ".repeat(200) }, { latency: 20 });
    mock.on({ userMessage: "ask" }, { content: "You asked for a verse." });
    expect(await run([], "I need a verse.\nAbout an oak.\n")).toMatch(/^A verse of gold\.\s+An oak of old\.$/);
    const child = start();
    child.stdin.write("Tell me a long story.\n");
    await once(child.stdout, "data");
    child.kill("SIGINT");
    child.stdin.end("What did I ask first?\n");
    expect(await text(child.stdout)).toMatch(/You asked for a verse\.$/);
    expect(requests(mock).at(-1)).toMatch(/You write verse.*About an oak\./s);
  },

  async "read-aloud"({ mock, run }) {
    mock.on({ hasToolResult: false }, { toolCalls: [{ name: "read_aloud", arguments: "{}" }] });
    mock.on({ hasToolResult: true }, { content: "A banyan is a fig. Its roots become trunks." });
    expect(await run()).toBe("(aloud) A banyan is a fig.\n(aloud) Its roots become trunks.");
  },

  async research({ mock, run }) {
    const tasks = ["fig", "oak", "elm"].map((tree) => ({ task: `State facts: ${tree}.` }));
    const launches = tasks.map((task) => ({ name: "researcher", arguments: JSON.stringify(task) }));
    mock.on({ userMessage: "State facts" }, { content: "About 3,000 years." });
    mock.on({ userMessage: "oldest", hasToolResult: false }, { toolCalls: launches });
    mock.on({ userMessage: "oldest" }, { content: '{"oldest":"fig","years":3000}' });
    expect(await run()).toBe("fig, 3000 years");
    expect(requests(mock)).toHaveLength(5);
    // A sub-agent that uses more than the budget ends the editor's turn.
    const usage = { input_tokens: 60_000, output_tokens: 1 };
    mock.reset();
    mock.on({ userMessage: "State facts" }, { content: "Thinking.", usage });
    mock.on({ userMessage: "oldest" }, { toolCalls: launches });
    await expect(run()).rejects.toThrow(/50,?000 tokens/);
  },

  async "use-chat"({ mock, start }) {
    mock.on({ userMessage: "story" }, { content: "A banyan grows. ".repeat(20) }, { latency: 20 });
    const child = start();
    const [port] = await once(child.stdout, "data");
    const api = `http://127.0.0.1:${String(port).trim()}/api/chat`;
    const headers = { cookie: "user=ada" };
    const transport = new DefaultChatTransport<UIMessage>({ api, headers });
    const messages: UIMessage[] = [{ id: "1", role: "user", parts: [{ type: "text", text: "Tell me a story." }] }];
    const how = { chatId: "story", trigger: "submit-message", messageId: undefined, abortSignal: undefined } as const;
    const page = (await transport.sendMessages({ ...how, messages })).getReader();
    await page.read();
    // The page is reloaded in the middle of the answer.
    await page.cancel();
    const resumed = await transport.reconnectToStream({ chatId: "story" });
    expect(await lastText(resumed)).toBe("A banyan grows. ".repeat(20));
    const history = (await (await fetch(`${api}/story`, { headers })).json()) as { messages: UIMessage[] };
    expect(history.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await fetch(`${api}/story`)).status).toBe(401);
  },

  async fork({ mock, run }) {
    mock.on({ userMessage: "Name" }, { content: "A banyan." });
    mock.on({ userMessage: "Why", model: "gpt-5-mini" }, { content: "It is large." });
    const models = ["gpt-5", "gpt-5-nano", "gpt-4.1"];
    for (const model of models) mock.on({ userMessage: "Why", model }, { content: `${model} likes its roots.` });
    expect(await run()).toBe(models.map((model) => `${model}: ${model} likes its roots.`).join("\n"));
    const forks = requests(mock).filter((body) => models.some((model) => body.includes(`"${model}"`)));
    expect(forks.map((body) => body.includes("A banyan.") && !body.includes("likes"))).toEqual([true, true, true]);
  },
};

async function lastText(stream: ReadableStream<UIMessageChunk> | null): Promise<string> {
  let last: UIMessage | undefined;
  if (stream) for await (const message of readUIMessageStream({ stream })) last = message;
  return (last?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}
