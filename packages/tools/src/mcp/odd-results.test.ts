import { tmpdir } from "node:os";
import { Agent, Session, type ToolContext } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessageLines } from "./connection/message-lines.ts";
import { openMcpServers } from "./index.ts";

// Real server programs with the responses of public bug reports.

/** The parts of a tool's context that a server's tool uses. */
function contextOf(attach: (file: unknown) => void = () => {}): ToolContext {
  const ask = () => Promise.reject(new Error("nobody"));
  const signal = new AbortController().signal;
  return { signal, call: "c", conversation: "v", progress: () => {}, attach, ask } as unknown as ToolContext;
}

/** A server with these results by method. `write` is the program's code that writes a message. */
function server(results: Readonly<Record<string, unknown>>, write = "process.stdout.write(text + '\\n')") {
  const program = `
    const results = ${JSON.stringify(results)};
    const capabilities = { tools: {}, resources: {}, ...(results["prompts/list"] && { prompts: {} }) };
    let first = true;
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      const named = results[method + " " + (params && params.name)];
      const result = method === "initialize"
        ? { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: "odd", version: "1" } }
        : named !== undefined ? named : results[method] !== undefined ? results[method] : {};
      const text = JSON.stringify({ jsonrpc: "2.0", id, result });
      ${write};
      first = false;
    });`;
  return { command: process.execPath, args: ["-e", program] };
}

async function open(results: Readonly<Record<string, unknown>>, write?: string) {
  const servers = openMcpServers({ servers: { odd: server(results, write) }, workspace: tmpdir(), env: process.env });
  await servers.settled();
  return servers;
}

const good = { name: "good", inputSchema: { type: "object" } };

/** Calls a tool of the server. Returns the result for the model. */
async function callOf(results: Readonly<Record<string, unknown>>, listed: object = good) {
  const attached: unknown[] = [];
  await using servers = await open({ "tools/list": { tools: [listed] }, ...results });
  const [tool] = servers.tools;
  const output = await tool?.execute(
    {},
    contextOf((file) => attached.push(file)),
  );
  return { output, attached, journal: servers.journal("odd") };
}

describe("F50: lists are taken entry by entry", () => {
  test("cursor-null: the tools are there", async () => {
    await using servers = await open({ "tools/list": { tools: [good], nextCursor: null } });
    expect(servers.tools.map(({ name }) => name)).toEqual(["mcp_odd_good"]);
  });

  test.each([
    ["one-bad-tool: no type of an object", { name: "bad", inputSchema: { properties: { a: {} } } }, true],
    ["a schema of a text", { name: "bad", inputSchema: { type: "string" } }, false],
    ["no schema", { name: "bad" }, false],
    ["no name", { inputSchema: { type: "object" } }, false],
    ["a name that is a number", { name: 7, inputSchema: { type: "object" } }, false],
  ])("a tool with %s costs itself at most, with a notice of one line", async (_, bad, isUsed) => {
    await using servers = await open({ "tools/list": { tools: [bad, good, null, "odd"] } });
    expect(servers.tools.map(({ offeredAs }) => offeredAs)).toEqual(isUsed ? ["bad", "good"] : ["good"]);
    const [state] = servers.states;
    const odd = state?.status === "ready" ? (state.odd ?? []) : [];
    if ("name" in bad) expect(odd.join(" ")).toContain(String(bad.name));
    expect(odd.length).toBeGreaterThan(0);
    for (const line of odd) expect(line).not.toMatch(/[\n{[]|invalid_type|expected/);
  });

  test("one-bad-output: the client lists both tools, and drops the wrong schema", async () => {
    const bad = { ...good, name: "bad", outputSchema: "none", title: 3, annotations: [] };
    await using servers = await open({ "tools/list": { tools: [bad, good] } });
    expect(servers.tools).toHaveLength(2);
    expect(servers.states).toMatchObject([
      { odd: ["the tool bad is used without these invalid fields: title, annotations, outputSchema"] },
    ]);
  });

  test("prompts and resources too", async () => {
    const signal = new AbortController().signal;
    await using servers = await open({
      "tools/list": { tools: [good] },
      "prompts/list": {
        prompts: [{ name: "fine" }, { name: 3 }, { name: "half", arguments: "none" }],
        nextCursor: null,
      },
      "resources/list": { resources: [{ uri: "note://a", name: "a" }, { name: "nowhere" }], nextCursor: null },
    });
    expect(servers.prompts.map(({ name }) => name)).toEqual(["fine", "half"]);
    expect((await servers.resources("odd", signal)).map(({ uri }) => uri)).toEqual(["note://a"]);
  });

  test("the error for an unusable answer contains no JSON of a validator", async () => {
    const signal = new AbortController().signal;
    await using servers = await open({
      "tools/list": { tools: [good] },
      "prompts/list": { prompts: [{ name: "fine" }] },
      "prompts/get": { messages: [{ role: "nobody", content: 7 }] },
    });
    const failure: unknown = await servers.prompt({ server: "odd", name: "fine" }, {}, signal).catch((error) => error);
    expect(String(failure)).toContain("violates the protocol at messages.0.");
    expect(String(failure)).not.toMatch(/[{}\n]|invalid_/);
    await using broken = await open(
      { initialize: 7 },
      "process.stdout.write(text.replace('serverInfo', 'other') + '\\n')",
    );
    const [state] = broken.states;
    expect(state?.status).toBe("failed");
    expect(JSON.stringify(state)).not.toMatch(/invalid_|expected/);
  });

  /** A valid entry, and an entry with a wrong required field. */
  const word = fc.stringMatching(/^[a-z]{3,8}$/);
  const wrong = fc.oneof(fc.integer(), fc.constant(null), fc.boolean(), fc.constant([]));
  const right = fc.record({
    name: word,
    inputSchema: fc.constantFrom({ type: "object" }, { type: "object", properties: { a: { type: "string" } } }),
    optional: fc.option(
      fc.record({ key: fc.constantFrom("title", "description", "annotations", "_meta"), value: wrong }),
    ),
  });
  const bad = fc.oneof(
    fc.anything().filter((entry) => typeof entry !== "object" || entry === null),
    fc.record({ name: wrong, inputSchema: fc.constant({ type: "object" }) }),
    fc.record({ name: word, inputSchema: fc.oneof(fc.integer(), fc.constant({ type: "array" })) }),
  );

  test("the client keeps the valid entries of any list, and drops the rest", async () => {
    const entries = fc.array(
      fc.oneof(
        right.map((entry) => ({ entry })),
        bad.map((odd) => ({ odd })),
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(entries, async (list) => {
        const names = new Set<string>();
        const tools = list.flatMap((item, at): unknown[] => {
          if (!("entry" in item)) return [item.odd];
          const { name, inputSchema, optional } = item.entry;
          names.add(`${name}${at}`);
          return [{ name: `${name}${at}`, inputSchema, ...(optional && { [optional.key]: optional.value }) }];
        });
        await using servers = await open({ "tools/list": { tools, nextCursor: null } });
        expect(servers.tools.map(({ offeredAs }) => offeredAs)).toEqual([...names]);
      }),
      { numRuns: 8 },
    );
  });
});

describe("F51: the result of a call that ran reaches the model", () => {
  const text = { type: "text", text: "It is autumn." };
  const outputSchema = { type: "object", properties: { season: { type: "string" } }, required: ["season"] };

  test.each([
    ["no-structured: none where the tool promises it", { content: [text] }],
    ["structured content unlike its schema", { content: [text], structuredContent: { season: 4 } }],
    ["structured content that is a list", { content: [text], structuredContent: [1, 2] }],
  ])("%s", async (_, result) => {
    const { output, journal } = await callOf({ "tools/call": result }, { ...good, outputSchema });
    expect(output).toContain("It is autumn.");
    expect(journal).toMatch(/the (tool good answered without|structured content of the tool good is not)/);
  });

  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

  test("picture-data-url: the text reaches the model, and the picture is taken", async () => {
    const image = { type: "image", data: `data:image/png;base64,${png}` };
    const { output, attached } = await callOf({ "tools/call": { content: [text, image] } });
    expect(output).toContain("It is autumn.");
    expect(attached).toEqual([{ mediaType: "image/png", data: png }]);
  });

  test.each([
    [
      "a picture that is no picture",
      { type: "image", data: "not base64!", mimeType: "image/png" },
      "its data is not in base64",
    ],
    ["a kind that nobody knows", { type: "video", url: "v" }, '[content of the kind "video"]'],
    ["a text without its kind", { text: "bare" }, "bare"],
    ["a string", "plain", "plain"],
    ["a text that is an object", { type: "text", text: { a: 1 } }, '{"a":1}'],
    ["an annotation that is wrong", { type: "text", text: "kept", annotations: 3 }, "kept"],
  ])("%s is named in a line", async (_, odd, words) => {
    const { output } = await callOf({ "tools/call": { content: [odd, text] } });
    expect(output).toContain(words);
    expect(output).toContain("It is autumn.");
  });

  test("content of any shape never fails the call, and the text stays", async () => {
    const block = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record({ type: fc.string(), text: fc.jsonValue({ maxDepth: 1 }) }),
    );
    const odd = fc.record(
      {
        structuredContent: fc.jsonValue({ maxDepth: 2 }),
        isError: fc.constantFrom(false, 0, null),
        _meta: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    );
    const results = fc.sample(fc.tuple(fc.array(block, { maxLength: 4 }), odd), 40);
    const tools = results.map((_, at) => ({ ...good, name: `t${at}`, outputSchema }));
    const answers = results.map(([blocks, more], at) => [`tools/call t${at}`, { content: [...blocks, text], ...more }]);
    await using servers = await open({ "tools/list": { tools }, ...Object.fromEntries(answers) });
    expect(servers.tools).toHaveLength(40);
    for (const tool of servers.tools) expect(await tool.execute({}, contextOf())).toContain("It is autumn.");
  });
});

describe("F64: arguments that a model encodes as text", () => {
  test("args-as-text: the server gets lists and objects, and a text that fits stays a text", async () => {
    const list = { type: "array", items: { type: "string" } };
    const properties = {
      tags: list,
      user: { type: "object" },
      note: { type: "string" },
      either: { anyOf: [list, { type: "string" }] },
    };
    const echo = `process.stdout.write((method === "tools/call"
      ? JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: JSON.stringify(params.arguments) }] } })
      : text) + "\\n")`;
    await using servers = await open(
      { "tools/list": { tools: [{ ...good, inputSchema: { type: "object", properties } }] } },
      echo,
    );
    const written = { tags: '["a","b"]', user: '{"name":"Ada"}', note: "[1]", either: '["c"]' };
    const session = Session.inMemory();
    const model = scriptedModel([[call("mcp_odd_good", written)], "Done."]);
    await new Agent({ model, tools: servers.tools }).send("Go.", { session });
    const calls = [...session.state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.calls : [],
    );
    expect(JSON.parse(calls[0]?.output ?? "")).toEqual({
      tags: ["a", "b"],
      user: { name: "Ada" },
      note: "[1]",
      either: '["c"]',
    });
  });
});

describe("F68: the output of a program", () => {
  const working = { "tools/list": { tools: [good] } };
  test.each([
    ["stdout-bom", "process.stdout.write((first ? '\\ufeff' : '') + text + '\\n')"],
    ["stdout-crlf", "process.stdout.write(text + '\\r\\n')"],
    ["log lines", "process.stdout.write('INFO starting {\\n{\"level\":\"info\"}\\n' + text + '\\n')"],
    ["a message glued to noise", "process.stdout.write('Loading... {x} ' + text + ' done\\n')"],
  ])("%s", async (_, write) => {
    await using servers = await open(working, write);
    expect(servers.states).toMatchObject([{ status: "ready", tools: 1 }]);
  });

  test("the client finds messages between noise, wherever the bytes are cut", () => {
    const message = fc.record({ id: fc.nat(), said: fc.string({ maxLength: 10 }) }).map(({ id, said }) => ({
      jsonrpc: "2.0" as const,
      id,
      result: { said, deep: { '"}{': [said] } },
    }));
    const noise = fc.constantFrom("", "INFO ok", "{ not json", "warn: }{", "[1,2", "\ufeff", 'say "hi" ');
    const line = fc.record({
      before: noise,
      message: fc.option(message),
      after: fc.constantFrom("", " done", "}", " {"),
      end: fc.constantFrom("\n", "\r\n"),
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.integer({ min: 1, max: 30 }), (lines, size) => {
        const bytes = Buffer.from(
          lines
            .map(({ before, message, after, end }) => before + (message ? JSON.stringify(message) : "") + after + end)
            .join(""),
        );
        const read = new MessageLines();
        const found: unknown[] = [];
        for (let at = 0; at < bytes.length; at += size) {
          read.append(bytes.subarray(at, at + size));
          for (let next = read.next(); next !== null; next = read.next()) found.push(next);
        }
        expect(found).toEqual(lines.flatMap(({ message }) => message ?? []));
      }),
      { numRuns: 200 },
    );
  });
});
