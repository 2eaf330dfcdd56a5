import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { call, collect, end, rawCall, scriptedModel, text } from "../testing/index.ts";
import { callsOf, tool } from "./calls.fixture.ts";

describe("arguments", () => {
  const sized = defineTool({
    name: "sized",
    description: "",
    input: z.object({ box: z.object({ width: z.number() }) }),
    effects: "none",
    execute: ({ box }) => `width ${box.width}`,
  });
  const plain = tool("plain", (input) => input, {
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false },
  });

  test("B15: arguments that fit are handed over as parsed, checked by zod or JSON Schema", async () => {
    const calls = await callsOf([call("sized", { box: { width: 3 } }), call("plain", { n: 1 })], [sized, plain]);
    expect(calls.map(({ output }) => output)).toEqual(["width 3", '{"n":1}']);
  });

  test("B15: arguments that are not JSON cause a failed result, and nothing runs", async () => {
    const [first] = await callsOf([rawCall("plain", '{"n": 1')], [plain]);
    expect(first).toMatchObject({ status: "failed", attempt: 0, inputText: '{"n": 1' });
    expect(first?.output).toMatch(/arguments of "plain" are not JSON: .+\. Send one JSON object\./);
  });

  test("B15: arguments that do not fit give a result that names the path and the expectation", async () => {
    const [byZod, byJsonSchema] = await callsOf(
      [call("sized", { box: { width: "wide" } }), call("plain", { n: "x" })],
      [sized, plain],
    );
    expect(byZod?.output).toMatch(
      /^The arguments of "sized" do not match its schema: at box\.width: .*expected number/,
    );
    expect(byJsonSchema?.output).toMatch(
      /^The arguments of "plain" do not match its schema: at n: .*Expected "number"\.$/,
    );
  });

  test("B15: a call written as a JSON string inside a string is unwrapped", async () => {
    const [first] = await callsOf([rawCall("plain", JSON.stringify('{"n": 7}'))], [plain]);
    expect(first).toMatchObject({ status: "completed", output: '{"n":7}', input: { n: 7 } });
  });

  test("B15: missing arguments are an empty object", async () => {
    const [first] = await callsOf([rawCall("any", "")], [tool("any", (input) => input)]);
    expect(first?.output).toBe("{}");
  });

  test("B15: an unknown tool's result names the near ones", async () => {
    const [near, far] = await callsOf([call("plian"), call("teleport")], [plain, sized]);
    expect(near?.output).toBe('There is no tool "plian". Did you mean plain?');
    expect(far?.output).toBe('There is no tool "teleport". There are: plain, sized.');
  });
});

describe("failures stay where they are", () => {
  test("B16: a tool that throws or rejects gets a failed result, and other calls keep theirs", async () => {
    const calls = await callsOf(
      [call("throws"), call("rejects"), call("works")],
      [
        tool("throws", () => {
          throw new Error("no disk");
        }),
        tool("rejects", () => Promise.reject(new Error("no net"))),
        tool("works", () => "fine"),
      ],
    );
    expect(calls.map(({ status, output }) => [status, output])).toEqual([
      ["failed", "The tool failed: no disk"],
      ["failed", "The tool failed: no net"],
      ["completed", "fine"],
    ]);
  });

  test("B16: any thrown value becomes a result", async () => {
    const throws = (thrown: unknown) => () => {
      throw thrown;
    };
    const calls = await callsOf(
      [call("nothing"), call("bare"), call("text")],
      [tool("nothing", throws(undefined)), tool("bare", throws(Object.create(null))), tool("text", throws("no"))],
    );
    expect(calls.map(({ output }) => output)).toEqual([
      "The tool failed: undefined",
      "The tool failed: something was thrown that cannot be written down",
      "The tool failed: no",
    ]);
  });

  test("progress after the end of a call is ignored", async () => {
    let later = (_: string) => {};
    const talks = tool("talks", (_, { progress }) => {
      later = progress;
      return "done";
    });
    const model = scriptedModel([[call("talks")], "done"]);
    const types: string[] = [];
    for await (const item of new Agent({ model, tools: [talks] }).chat(say("go"))) {
      types.push(item.type);
      if (item.type === "call.completed") later("too late");
    }
    expect(types).not.toContain("call.output.delta");
  });

  test("B16: a tool that hangs ends at its time limit, and its signal aborts", async () => {
    let aborted = false;
    const hangs = tool(
      "hangs",
      (_, { signal, progress }) => {
        progress("half ");
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve("half the work");
          });
        });
      },
      { timeout: 20 },
    );
    const [first] = await callsOf([call("hangs")], [hangs]);
    expect(aborted).toBe(true);
    expect(first).toMatchObject({ status: "failed" });
    expect(first?.output).toBe(
      'Stopped: "hangs" ran longer than its limit of 20 ms. Output until then:\nhalf the work',
    );
  });

  test("B16: a value that JSON cannot express is a failure, not an exception", async () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const calls = await callsOf([call("cyclic"), call("big")], [tool("cyclic", () => loop), tool("big", () => 1n)]);
    expect(calls.map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(calls[0]?.output).toMatch(/^The tool failed: .*circular/i);
  });

  test.each<[string, unknown]>([
    ["Map", new Map([["a", 1]])],
    ["Set", new Set([1])],
    ["Error", new Error("returned, not thrown")],
    ["AsyncGenerator", (async function* () {})()],
  ])("B16: a %s, which is {} as JSON, is a failure that says so", async (kind, value) => {
    const [only] = await callsOf([call("odd")], [tool("odd", () => value)]);
    expect(only).toMatchObject({
      status: "failed",
      output: `The tool failed: The tool returned a value of type ${kind}, which JSON cannot represent.`,
    });
  });

  test.each<[unknown, string]>([
    ["a text", "a text"],
    [undefined, "undefined"],
    [{ code: 5 }, '{"code":5}'],
    [{ message: "no such table" }, "no such table"],
    [{ toString: () => "by itself" }, "by itself"],
  ])("B16: the result has any thrown value: %j", async (thrown, told) => {
    const throws = () => {
      throw thrown;
    };
    const [only] = await callsOf([call("throws")], [tool("throws", throws)]);
    expect(only).toMatchObject({ status: "failed", output: `The tool failed: ${told}` });
  });

  test("B16, B17: a very long output keeps head and tail, with the number of bytes between them", async () => {
    const flood = `${"a".repeat(300_000)}é${"z".repeat(300_000)}`;
    const [bounded, small] = await callsOf(
      [call("floods"), call("small")],
      [tool("floods", () => flood), tool("small", () => flood, { maxOutput: 101 })],
    );
    expect(bounded?.output?.length).toBeLessThan(66_000);
    expect(bounded?.output).toMatch(/^a+\n\[\.\.\. 534466 of 600002 bytes left out here \.\.\.\]\nz+$/);
    expect(small?.output).toMatch(/^a{51}\n\[\.\.\. 599901 of 600002 bytes left out here \.\.\.\]\nz{50}$/);
  });

  test("B17: a tool's progress streams to the feed, and does not reach the model", async () => {
    const talks = tool("talks", (_, { progress }) => {
      progress("step 1\n");
      progress("step 2\n");
      return "result";
    });
    const model = scriptedModel([[call("talks")], "done"]);
    const items = await collect(new Agent({ model, tools: [talks] }).chat(say("go")));
    const said = items.flatMap((item) => (item.type === "call.output.delta" ? [item.text] : []));
    expect(said).toEqual(["step 1\n", "step 2\n"]);
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("step 1");
  });

  test("B18: a message that the output limit cut runs none of its calls, and the model learns so", async () => {
    let ran = 0;
    const calls = await callsOf([call("count"), rawCall("count", '{"a'), end("length")], [tool("count", () => ++ran)]);
    expect(ran).toBe(0);
    for (const { status, output } of calls) {
      expect(status).toBe("failed");
      expect(output).toMatch(/^Not executed: your message was cut off/);
    }
  });
});

describe("order", () => {
  /** Tools that log their begin and end, and take a given time. */
  function timed(log: string[], name: string, more: Partial<Tool>): Tool {
    return tool(
      name,
      async (input) => {
        const { id, ms } = input as { id: string; ms: number };
        log.push(`+${id}`);
        await new Promise((resolve) => setTimeout(resolve, ms));
        log.push(`-${id}`);
        return id;
      },
      more,
    );
  }

  test("neighbours that only look run together; one with effects runs alone; results keep the order of the calls", async () => {
    const log: string[] = [];
    const calls = await callsOf(
      [
        call("look", { id: "a", ms: 30 }),
        call("look", { id: "b", ms: 5 }),
        call("act", { id: "c", ms: 10 }),
        call("act", { id: "d", ms: 1 }),
        call("look", { id: "e", ms: 1 }),
      ],
      [timed(log, "look", {}), timed(log, "act", { effects: "external" })],
    );
    expect(log).toEqual(["+a", "+b", "-b", "-a", "+c", "-c", "+d", "-d", "+e", "-e"]);
    expect(calls.map(({ output }) => output)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("tools with effects and the mark parallel run together", async () => {
    const log: string[] = [];
    await callsOf(
      [call("act", { id: "a", ms: 20 }), call("act", { id: "b", ms: 1 })],
      [timed(log, "act", { effects: "external", parallel: true })],
    );
    expect(log).toEqual(["+a", "+b", "-b", "-a"]);
  });

  test("at most ten run at once", async () => {
    let running = 0;
    let most = 0;
    const crowd = tool("crowd", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      return "";
    });
    const calls = await callsOf(
      Array.from({ length: 35 }, () => call("crowd")),
      [crowd],
    );
    expect(most).toBe(10);
    expect(calls.every(({ status }) => status === "completed")).toBe(true);
  });

  test("F2: two parallel calls of the same tool each get their own result", async () => {
    const echo = tool("echo", (input) => (input as { say: string }).say);
    const calls = await callsOf([call("echo", { say: "one" }), call("echo", { say: "two" })], [echo]);
    expect(calls.map(({ output }) => output)).toEqual(["one", "two"]);
  });

  test("B14: the provider's ids are kept; missing and repeated ones are repaired before anything runs", async () => {
    const session = Session.inMemory();
    const ids: string[] = [];
    const note = tool("note", (_, context) => void ids.push(context.call));
    const model = scriptedModel([
      [call("note", {}, "own"), call("note", {}, ""), call("note", {}, "own")],
      [call("note", {}, "own")],
      "done",
    ]);
    await new Agent({ model, tools: [note] }).send("go", { session });
    expect(ids[0]).toBe("own");
    expect(new Set(ids).size).toBe(4);
    const results = model.requests
      .at(-1)
      ?.messages.flatMap((m) => (m.role === "assistant" ? m.results.map((r) => r.call) : []));
    expect(results).toEqual(ids);
  });

  test("B52: a call knows its id, attempt, key, step, path and tree", async () => {
    const seen: unknown[] = [];
    const knows = tool("knows", (_, context) => {
      const { call, attempt, key, step, path, agent, conversation } = context;
      seen.push([call, attempt, key, step, agent, path.map(({ role }) => role), conversation.messages.size]);
    });
    const model = scriptedModel([[text("x"), call("knows", {}, "c1")], [call("knows", {}, "c2")], "done"]);
    await new Agent({ name: "me", model, tools: [knows] }).send("go");
    const keys = seen.map((entry) => (entry as string[])[2]);
    expect(seen).toEqual([
      ["c1", 1, keys[0], 1, "me", ["user", "assistant"], 2],
      ["c2", 1, keys[1], 2, "me", ["user", "assistant", "assistant"], 3],
    ]);
    // Ids of calls are unique only in their conversation; the key is unique everywhere.
    expect(keys[0]).toMatch(/^[0-9a-z]{26}\.c1$/);
  });
});
