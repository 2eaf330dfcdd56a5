import type { Json } from "@banyan/core";
import { Agent } from "@banyan/core";
import type { ModelPart, ModelRequest, ModelSink, PromptMessage, PromptResult } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { answerOf, KeepingSink, say } from "../testing/sink.ts";
import { demoModel } from "./model.ts";

const tools = ["read", "list", "search", "write", "edit", "shell"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  input: { type: "object" },
}));
const demo = demoModel({ pace: 0 });

interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: { readonly tool: string; readonly input: Json }[];
  readonly finish: Extract<ModelPart, { type: "finish" }>;
}

function put(parts: readonly ModelPart[]): Said {
  const of = (type: "text" | "reasoning") => parts.map((part) => (part.type === type ? part.text : "")).join("");
  const calls = parts.flatMap((part) => {
    if (part.type !== "call") return [];
    const inputs = parts.map((other) => (other.type === "call-input" && other.index === part.index ? other.text : ""));
    return [{ tool: part.tool, input: JSON.parse(inputs.join("")) as Json }];
  });
  return { text: of("text"), reasoning: of("reasoning"), calls, finish: parts.at(-1) as Said["finish"] };
}

const ask = async (messages: readonly PromptMessage[], more: Partial<ModelRequest> = {}) =>
  put(await answerOf(demo, { ...say(""), messages, tools, ...more }));

const user = (text: string): PromptMessage => ({ role: "user", parts: [{ type: "text", text }] });

/** The message of the loop after the calls of an answer. */
function done(said: Said, ...outputs: (string | { readonly failed: string })[]): PromptMessage {
  const calls = said.calls.map((call, index) => ({ type: "call" as const, id: `c${index}`, ...call }));
  const results = calls.map((call, index): PromptResult => {
    const output = outputs[index] ?? "";
    const failed = typeof output !== "string";
    return { call: call.id, tool: call.tool, output: failed ? output.failed : output, failed };
  });
  return { role: "assistant", parts: [{ type: "text", text: said.text }, ...calls], results };
}

/** Sends a request, gives the results of its one round of calls, and returns the demo's final text. */
async function told(request: string, ...outputs: Parameters<typeof done>[1][]): Promise<string> {
  const asked = await ask([user(request)]);
  const answer = await ask([user(request), done(asked, ...outputs)]);
  expect(answer.calls).toEqual([]);
  expect(answer.finish.reason).toBe("stop");
  return answer.text;
}

test("has a label that says demo, and costs nothing", () => {
  expect(demo).toMatchObject({ id: "demo/offline", family: "demo", price: { input: 0, output: 0 } });
});

describe("an answer", () => {
  test("thinks, announces its work, and calls", async () => {
    const parts = await answerOf(demo, say("read a.txt", { tools }));
    expect(parts.map((part) => part.type)).toEqual(["reasoning", "text", "call", "call-input", "call-end", "finish"]);
    const { text, reasoning, calls, finish } = put(parts);
    expect(reasoning).toBe("The user wants me to read `a.txt`.");
    expect(text).toBe("I read `a.txt`.");
    expect(calls).toEqual([{ tool: "read", input: { path: "a.txt" } }]);
    expect(finish.reason).toBe("calls");
  });

  test("B14: two calls of the same tool in one message keep apart", async () => {
    const parts = await answerOf(demo, say("read a.txt and b.txt", { tools }));
    const begun = parts.filter((part) => part.type === "call");
    expect(begun.map((call) => call.index)).toEqual([0, 1]);
    expect(new Set(begun.map((call) => call.id)).size).toBe(2);
    expect(put(parts).calls.map((call) => call.input)).toEqual([{ path: "a.txt" }, { path: "b.txt" }]);
  });

  test("streams words, and arguments in pieces", async () => {
    const sink = new KeepingSink();
    await demo.stream(
      say("write 'a longer text than one piece' to a.txt", { tools }),
      sink,
      new AbortController().signal,
    );
    const parts = sink.batches.flat();
    expect(parts.filter((part) => part.type === "text").map((part) => part.text)).toEqual(["I ", "write ", "`a.txt`."]);
    expect(parts.filter((part) => part.type === "call-input").length).toBeGreaterThan(3);
  });

  test("counts words as tokens", async () => {
    const { finish } = await ask([user("read a.txt")], { instructions: "Be brief.", tools: tools.slice(0, 1) });
    // Two words each of the instructions and the request, and a name and three words of the tool.
    expect(finish.usage).toMatchObject({ input: 8, cached: 0, cacheWrite: 0, reasoning: 7 });
    expect(finish.usage.output).toBeGreaterThan(finish.usage.reasoning);
  });

  test("does not think if the request says so", async () => {
    expect((await ask([user("read a.txt")], { settings: { effort: "none" } })).reasoning).toBe("");
  });

  test("B18: is cut off by the limit of tokens, in the middle of a call", async () => {
    const parts = await answerOf(demo, say("read a.txt", { tools, settings: { effort: "none", maxTokens: 5 } }));
    expect(parts.map((part) => part.type)).toEqual(["text", "call", "call-input", "finish"]);
    expect(parts.at(-1)).toMatchObject({ reason: "length", usage: { output: 5 } });
  });
});

describe("replies to results", () => {
  test("a folder", async () => {
    expect(await told("list src", "src/a.ts (3 bytes)\nsrc/b/\n")).toBe(
      "`src` has 2 entries:\n\n```\nsrc/a.ts (3 bytes)\nsrc/b/\n```",
    );
    expect(await told("list files", "[. is empty]\n")).toBe("This folder is empty.");
  });

  test("the demo quotes a file, and a long file in part", async () => {
    expect(await told("read a.txt", "1\thello\n")).toBe("`a.txt`, 1 line:\n\n```\n1\thello\n```");
    const long = await told("read a.txt", Array.from({ length: 50 }, (_, index) => `${index + 1}\tx\n`).join(""));
    expect(long).toMatch(/^`a\.txt`, 50 lines:/);
    expect(long).toMatch(/\n20\tx\n```\n\n\(and 30 more lines\)$/);
    const whole = await told("read a.txt", Array.from({ length: 21 }, (_, index) => `${index + 1}\tx\n`).join(""));
    expect(whole).toMatch(/\n21\tx\n```$/);
  });

  test("a longer fence quotes a file with fences", async () => {
    expect(await told("read a.md", "1\t```\n2\tx\n3\t```\n")).toContain("````\n1\t```");
  });

  test("a search", async () => {
    expect(await told("search for x in src", "src/a.ts:1:x\n")).toMatch(/^1 line matches `x`:\n\n```\nsrc\/a\.ts:1:x/);
    expect(await told("search for x", "")).toBe("Nothing matches `x`.");
  });

  test("the demo reports a written file", async () => {
    expect(await told("create a.txt with 'x'", "Created a.txt (1 lines, 1 bytes).")).toBe(
      "Created a.txt (1 lines, 1 bytes).",
    );
  });

  test("a command, with its exit code", async () => {
    expect(await told("run ls", "a\nb\n")).toBe("`ls` ended with exit code 0:\n\n```\na\nb\n```");
    expect(await told("run false", "exit code 1")).toMatch(/^`false` ended with exit code 1:/);
    expect(await told("run sleep 9", "[timed out after 100 ms; ended]")).toMatch(/^`sleep 9` did not end by itself:/);
  });

  test("the demo reports a failure as a failure, beside the successes", async () => {
    const text = await told("read a.txt and b.txt", { failed: "There is no file a.txt." }, "1\tB\n");
    expect(text).toMatch(/^I could not read `a\.txt`\. The result:\n\n```\nThere is no file a\.txt\.\n```/);
    expect(text).toContain("`b.txt`, 1 line:");
  });

  test("the demo reports a denial with its reason", async () => {
    const text = await told("run rm -rf x", { failed: "The user denied this call: not now" });
    expect(text).toBe("I could not run `rm -rf x`. The result:\n\n```\nThe user denied this call: not now\n```");
  });
});

describe("rounds", () => {
  test("a change reads, then edits, then reports, in exactly three requests", async () => {
    const request = user("replace 'a' with 'b' in x.txt");
    const first = await ask([request]);
    expect(first.calls).toEqual([{ tool: "read", input: { path: "x.txt" } }]);
    const second = await ask([request, done(first, "1\ta\n")]);
    expect(second.calls).toEqual([{ tool: "edit", input: { path: "x.txt", old_text: "a", new_text: "b" } }]);
    const third = await ask([request, done(first, "1\ta\n"), done(second, "Changed x.txt.\n-a\n+b\n")]);
    expect(third.calls).toEqual([]);
    expect(third.text).toBe("Change `x.txt`: done.\n\n```\nChanged x.txt.\n-a\n+b\n```");
  });

  test("the demo reports the text that it reads after a change", async () => {
    const request = user("replace 'a' with 'b' in x.txt then read x.txt");
    const first = await ask([request]);
    const second = await ask([request, done(first, "1\ta\n")]);
    const before = [request, done(first, "1\ta\n"), done(second, "Changed x.txt.")];
    const third = await ask(before);
    const { text } = await ask([...before, done(third, "1\tb\n")]);
    expect(text).toBe("Changed x.txt.\n\n`x.txt`, 1 line:\n\n```\n1\tb\n```");
  });

  test("after a failure, the demo skips the rest and says so", async () => {
    const request = user("replace 'a' with 'b' in x.txt then run ls");
    const first = await ask([request]);
    const { text, calls } = await ask([request, done(first, { failed: "There is no file x.txt." })]);
    expect(calls).toEqual([]);
    expect(text).toContain("I could not read `x.txt`.");
    expect(text).toContain("Not done: change `x.txt` and run `ls`, because the step before failed.");
  });

  test("a new request starts from the beginning, whatever came before", async () => {
    const first = await ask([user("list src")]);
    const { calls } = await ask([user("list src"), done(first, "src/a\n"), user("list src")]);
    expect(calls).toEqual([{ tool: "list", input: { path: "src" } }]);
  });

  test('"go on" continues the previous request', async () => {
    const request = user("list src then read a.txt");
    const first = await ask([request]);
    const { calls } = await ask([request, done(first, "src/a\n"), user("go on")]);
    expect(calls).toEqual([{ tool: "read", input: { path: "a.txt" } }]);
  });

  test("other content of the message does not hide the request", async () => {
    const { calls } = await ask([
      {
        role: "user",
        parts: [
          { type: "text", text: "<recalled-from-memory>\nthe cat is grey\n</recalled-from-memory>" },
          { type: "text", text: "read a.txt" },
          { type: "file", mediaType: "image/png", data: "AA==" },
        ],
      },
    ]);
    expect(calls).toEqual([{ tool: "read", input: { path: "a.txt" } }]);
  });
});

describe("tools that it cannot call", () => {
  test("a missing tool is never called, and the demo says so", async () => {
    const { calls, text, finish } = await ask([user("run ls")], { tools: tools.slice(0, 2) });
    expect(calls).toEqual([]);
    expect(text).toBe("Not done: run `ls`, because the tool `shell` is not offered to me here.");
    expect(finish.reason).toBe("stop");
  });

  test("the demo reports the work before a tool was missing", async () => {
    const offered = { tools: tools.slice(0, 1) };
    const request = user("replace 'a' with 'b' in x.txt");
    const first = await ask([request], offered);
    const { text } = await ask([request, done(first, "1\ta\n")], offered);
    expect(text).toContain("`x.txt`, 1 line:");
    expect(text).toContain("the tool `edit` is not offered");
  });

  test("B13: at a limit, the demo reports its results and the open parts, though the last message is about the limit", async () => {
    const request = user("list src then read a.txt");
    const first = await ask([request]);
    const note = user("This turn has reached the limit of 1 step. No tools can be used any more. Answer now.");
    const { calls, text } = await ask([request, done(first, "src/a\n"), note], { toolChoice: "none" });
    expect(calls).toEqual([]);
    expect(text).toContain("`src` has 1 entry:");
    expect(text).toContain("Not done: read `a.txt`, because no tools can be called any more.");
  });
});

describe("a guide, never a pretence", () => {
  test("the demo describes itself, its requests, its tools and the way to a real model", async () => {
    const { text, calls } = await ask([user("what can you do?")]);
    expect(calls).toEqual([]);
    expect(text).toContain("not a language model");
    expect(text).toContain("search for TODO in src");
    expect(text).toContain("read, list, search, write, edit, shell");
    for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_COMPATIBLE_BASE_URL", "Ollama"]) {
      expect(text).toContain(name);
    }
  });

  test("the demo says plainly that it does not understand, and does nothing", async () => {
    const { text, calls } = await ask([user("read a.txt and write me a poem about it")]);
    expect(calls).toEqual([]);
    expect(text).toMatch(/^I do not understand "write me a poem about it"\./);
    expect(text).toContain("ANTHROPIC_API_KEY");
  });
});

describe("pace", () => {
  test("B39: the demo's last text in a task is the result", async () => {
    const agent = new Agent({ model: demoModel({ pace: 0 }), mode: "task" });
    const turn = await agent.send("Who are you?");
    expect(turn.reason).toBe("finished");
    expect(turn.text).toContain("demo/offline");
  });

  test("the demo streams word by word", async () => {
    const sink = new KeepingSink();
    await demoModel({ pace: 1 }).stream(say("hello"), sink, new AbortController().signal);
    expect(sink.batches.length).toBeGreaterThan(3);
    expect(sink.batches.at(-1)).toMatchObject([{ type: "finish" }]);
  });

  test("B22: an interruption within the pace ends it at once, with the reason and without an end", async () => {
    const control = new AbortController();
    const sink = new KeepingSink();
    const speaking = demoModel({ pace: 60_000 }).stream(say("hello"), sink, control.signal);
    control.abort("enough");
    await expect(speaking).rejects.toBe("enough");
    expect(sink.parts).toHaveLength(1);
  });

  test("a full sink is waited for, until there is room or an interruption", async () => {
    const room = Promise.withResolvers<void>();
    const parts: ModelPart[] = [];
    const sink: ModelSink = { push: (more) => parts.push(...more) < 0, ready: () => room.promise };
    const speaking = demo.stream(say("hello"), sink, new AbortController().signal);
    await new Promise(setImmediate);
    expect(parts.some((part) => part.type === "finish")).toBe(false);
    room.resolve();
    await speaking;
    expect(parts.at(-1)?.type).toBe("finish");

    const control = new AbortController();
    const waiting = demo.stream(
      say("hello"),
      { push: () => false, ready: () => new Promise(() => {}) },
      control.signal,
    );
    control.abort("enough");
    await expect(waiting).rejects.toBe("enough");
  });

  test("an interrupt before the start ends the answer without text", async () => {
    const sink = new KeepingSink();
    await expect(demo.stream(say("hello"), sink, AbortSignal.abort("no"))).rejects.toBe("no");
    expect(sink.batches).toEqual([]);
  });
});
