import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, Session, say, type Tool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "./testing/free-port.fixture.ts";
import { TestServers } from "./testing/surroundings.fixture.ts";

// Servers of the protocol's authors.
const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const FILES = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
const signal = new AbortController().signal;

type Wanted = readonly [tool: string, input?: Parameters<typeof call>[1]];

/** Returns the results of parallel calls for the model. */
async function told(tools: readonly Tool[], ...wanted: readonly Wanted[]): Promise<string[]> {
  const model = scriptedModel([wanted.map(([tool, input]) => call(tool, input)), "done"]);
  await new Agent({ model, tools }).send("go");
  const answered = model.requests[1]?.messages.at(-1);
  if (answered?.role !== "assistant") throw new Error("The model was told nothing.");
  return answered.results.map(({ output, failed }) => (failed ? `failed: ${output}` : output));
}

test("B47: an agent works with the files of server-filesystem", async () => {
  await using opened = new TestServers({ files: { command: process.execPath, args: [FILES, "."] } });
  const { workspace, servers } = opened;
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\n");
  await servers.settled();
  const [read, written, refused, wrong] = await told(
    servers.tools,
    ["mcp_files_read_text_file", { path: join(workspace, "a.txt") }],
    ["mcp_files_write_file", { path: join(workspace, "b.txt"), content: "three" }],
    ["mcp_files_read_text_file", { path: "/etc/passwd" }],
    ["mcp_files_read_text_file", { file: "a.txt" }],
  );
  expect(read).toBe("one\ntwo\n");
  expect(written).toMatch(/^Successfully wrote to /);
  expect(readFileSync(join(workspace, "b.txt"), "utf8")).toBe("three");
  expect(refused).toMatch(/^failed: The tool failed: Access denied/);
  expect(wrong).toMatch(/^failed: The arguments of "mcp_files_read_text_file" do not match its schema: .*path/);
});

describe.each(["standard input and output", "streamable HTTP"])("B47: server-everything over %s", (way) => {
  let program: ChildProcess | undefined;
  let opened: TestServers;

  beforeAll(async () => {
    if (way === "streamable HTTP") {
      const port = await freePort();
      program = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
        env: { ...process.env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"],
      });
      await until(program, "listening");
      opened = await TestServers.settled({ every: { url: `http://127.0.0.1:${port}/mcp` } });
    } else opened = await TestServers.settled({ every: { command: process.execPath, args: [EVERYTHING, "stdio"] } });
    expect(opened.statuses).toEqual(["every: ready"]);
  });

  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    if (program === undefined) return;
    const ended = once(program, "exit");
    program.kill("SIGKILL");
    await ended;
  });

  test("an agent calls the server's tools, and gets all results in words", async () => {
    const [sum, weather, image, links, reference, wrong] = await told(
      opened.servers.tools,
      ["mcp_every_get-sum", { a: 2, b: 3 }],
      ["mcp_every_get-structured-content", { location: "New York" }],
      ["mcp_every_get-tiny-image"],
      ["mcp_every_get-resource-links", { count: 1 }],
      ["mcp_every_get-resource-reference", { resourceType: "Blob", resourceId: 1 }],
      ["mcp_every_get-sum", { a: "two", b: 3 }],
    );
    expect(sum).toBe("The sum of 2 and 3 is 5.");
    expect(JSON.parse(weather ?? "")).toEqual({ temperature: 33, conditions: "Cloudy", humidity: 82 });
    expect(image).toContain("\n[image, image/png, 4033 bytes]\n");
    expect(links).toMatch(
      /\n\[resource "Blob Resource 1" at @every:demo:\/\/resource\/dynamic\/blob\/1, text\/plain, /,
    );
    expect(reference).toMatch(
      /\[resource @every:demo:\/\/resource\/dynamic\/blob\/1\]\nResource 1: This is a base64 blob/,
    );
    expect(wrong).toMatch(/^failed: The arguments of "mcp_every_get-sum" do not match its schema: at a: /);
  });

  test("a client sees the progress of a call, and answers the server's questions", async () => {
    const model = scriptedModel([
      [
        call("mcp_every_trigger-long-running-operation", { duration: 0.3, steps: 3 }),
        call("mcp_every_trigger-url-elicitation", { url: "https://example.com/pay" }),
        // The server refuses this call until the user has visited a page; the call is then repeated.
        call("mcp_every_trigger-url-elicitation", { url: "https://example.com/buy", errorPath: true }),
      ],
      "done",
    ]);
    const session = Session.inMemory();
    const agent = new Agent({ model, tools: opened.servers.tools });
    let shown = "";
    const asked: string[] = [];
    for await (const item of agent.chat(say("go"), { session })) {
      if (item.type === "call.output.delta") shown += item.text;
      if (item.type !== "question.asked") continue;
      asked.push(/^https:.*$/m.exec(item.text)?.[0] ?? "");
      await session.answer(item.question, { decision: "answer", text: "done" });
    }
    expect(shown).toContain("1 of 3");
    expect(asked).toEqual(["https://example.com/pay", "https://modelcontextprotocol.io/", "https://example.com/buy"]);
    const answered = JSON.stringify(model.requests[1]?.messages.at(-1));
    expect(answered.match(/User completed the URL elicitation flow/g)).toHaveLength(2);
  });

  test("a call that needs the user elsewhere first is not made if the user declines", async () => {
    const input = { url: "https://example.com/buy", errorPath: true };
    const called = opened.call("mcp_every_trigger-url-elicitation", input, { ask: async () => "decline" });
    await expect(called).rejects.toMatchObject({ code: "refused" });
  });

  test("the server knows the workspace, and no variable of the user's environment", async () => {
    const [roots] = await told(opened.servers.tools, ["mcp_every_get-roots-list"]);
    expect(roots).toContain(opened.workspace);
  });

  test("the client fills in prompts and reads resources", async () => {
    const { servers } = opened;
    expect(servers.prompts.map(({ name }) => name)).toContain("args-prompt");
    const prompt = await servers.prompt({ server: "every", name: "args-prompt" }, { city: "Oslo" }, signal);
    expect(prompt).toEqual([{ type: "text", text: "What's weather in Oslo?" }]);
    const [first] = await servers.resources("every", signal);
    const read = await servers.read({ server: "every", uri: first?.uri ?? "" }, signal);
    expect(read).toEqual([{ type: "text", text: expect.stringContaining(`[resource @every:${first?.uri}]\n#`) }]);
    expect((await servers.templates("every", signal)).map(({ uriTemplate }) => uriTemplate)).toContain(
      "demo://resource/dynamic/text/{resourceId}",
    );
    const blob = await servers.read({ server: "every", uri: "demo://resource/dynamic/blob/1" }, signal);
    // A blob with a media type of text becomes text.
    expect(blob).toEqual([{ type: "text", text: expect.stringContaining("Resource 1: This is a base64 blob") }]);
    await expect(servers.read({ server: "every", uri: "demo://nothing" }, signal)).rejects.toMatchObject({
      code: "refused",
    });
  });
});

/** Waits for a text in a program's standard error. */
async function until({ stderr }: ChildProcess, text: string): Promise<void> {
  let said = "";
  for await (const bytes of stderr ?? []) {
    said += String(bytes);
    if (said.includes(text)) break;
  }
}
