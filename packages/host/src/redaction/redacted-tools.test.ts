import { Agent, type FeedItem, type Json, Session, say, type Tool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { redactedTools } from "./redacted-tools.ts";
import { redactor } from "./redactor.ts";
import { placeholderProblem } from "./span.ts";

const SECRET = "zw8/qr+9=Lm4x";
const redact = redactor({ env: { MY_KEY: SECRET } });

function tool(execute: Tool["execute"], more: Partial<Tool> = {}): Tool {
  return { name: "tool", description: "", input: { type: "object" }, effects: "none", execute, ...more };
}

/** All traces of a turn with one call of the tool: in the feed, the log and the requests to the model. */
async function run(one: Tool, input: Json = {}): Promise<{ readonly items: FeedItem[]; readonly everything: string }> {
  const model = scriptedModel([[call("tool", input)], "done"]);
  const session = Session.inMemory();
  const items: FeedItem[] = [];
  const agent = new Agent({ model, tools: redactedTools([one], redact) });
  for await (const item of agent.chat(say("go"), { session })) items.push(item);
  const everything = JSON.stringify([items, model.requests, [...session.state.messages.values()]]);
  return { items, everything };
}

function outputOf(items: readonly FeedItem[]): string | undefined {
  return items.flatMap((item) =>
    item.type === "call.completed" || item.type === "call.failed" ? [item.output] : [],
  )[0];
}

describe("S10: a secret in the words of a tool", () => {
  test("is in no output", async () => {
    const { items, everything } = await run(tool(() => `key ${SECRET} end`));
    expect(outputOf(items)).toBe("key [redacted:MY_KEY] end");
    expect(everything).not.toContain(SECRET);
  });

  test("is in no JSON value whose name marks a secret", async () => {
    const { items } = await run(tool(() => ({ password: "Tr0ub4dor&3", size: 1 })));
    expect(outputOf(items)).toBe('{"password":"[redacted:secret]","size":1}');
    expect(outputOf((await run(tool(() => ({ size: 1 })))).items)).toBe('{"size":1}');
  });

  test("is in no failure", async () => {
    const { items, everything } = await run(
      tool(() => {
        throw new Error(`${SECRET} was refused`);
      }),
    );
    expect(outputOf(items)).toBe("The tool failed: [redacted:MY_KEY] was refused");
    expect(everything).not.toContain(SECRET);
  });

  test("is not shown while the tool runs, however it is cut", async () => {
    const { items, everything } = await run(
      tool((_, { progress }) => {
        for (const character of `downloading with ${SECRET} now`) progress(character);
        return "ok";
      }),
    );
    const shown = items.flatMap((item) => (item.type === "call.output.delta" ? [item.text] : [])).join("");
    expect(shown).toBe("downloading with [redacted:MY_KEY] now");
    expect(everything).not.toContain(SECRET);
  });

  test("is in no change that is logged, and in no message that the tool writes", async () => {
    const { everything } = await run(
      tool(async (_, context) => {
        const change = { path: ".env", kind: "changed", before: "a", after: "b", added: 1, removed: 1 } as const;
        await context.changed({ ...change, diff: `-KEY=${SECRET}\n+KEY=x` });
        await context.interject(`I was told ${SECRET}`);
        return "ok";
      }),
    );
    expect(everything).toContain("-KEY=[redacted:MY_KEY]");
    expect(everything).toContain("I was told [redacted:MY_KEY]");
    expect(everything).not.toContain(SECRET);
  });

  test("is in no answer of a tool to the text it listened to", async () => {
    const { everything } = await run(
      tool((_, context) => {
        context.follow({ completed: () => ({ say: `written: ${SECRET}` }) });
        return "listening";
      }),
    );
    expect(everything).toContain("written: [redacted:MY_KEY]");
    expect(everything).not.toContain(SECRET);
  });
});

describe("S10: a placeholder", () => {
  test("is not written: a tool with effects that is given one does not run", async () => {
    let ran = 0;
    const write = tool(() => ++ran, { effects: "external" });
    const { items } = await run(write, { path: ".env", text: "KEY=[redacted:MY_KEY]" });
    expect(outputOf(items)).toMatch(/^Not executed: \[redacted:MY_KEY\] replaces a secret that you cannot see/);
    await run(write, { path: ".env", text: "KEY=x" });
    expect(ran).toBe(1);
  });

  test("may be looked for", async () => {
    const { items } = await run(
      tool((input) => input),
      { pattern: "[redacted:MY_KEY]" },
    );
    expect(outputOf(items)).toBe('{"pattern":"[redacted:MY_KEY]"}');
  });

  test.each([
    ["KEY=[redacted:github-token]", true],
    ["[redacted:MY_KEY2]", true],
    ["[redacted]", false],
    ["[redacted: by hand]", false],
    ["plain", false],
  ])("%j is refused: %s", (text, isRefused) => {
    expect(placeholderProblem(text) !== undefined).toBe(isRefused);
  });
});
