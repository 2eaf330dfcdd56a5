import { Agent, createId, Session } from "@banyan/core";
import { scriptedModel, spend, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { type TurnEnd, turnLine } from "../show/turn-end.ts";
import { showStatus } from "./status.ts";
import { showContext, showUsage } from "./usage.ts";

test("B53: /usage explains its star if it prints a star", async () => {
  const session = Session.inMemory();
  const [asked, ...others] = [createId(), createId(), createId()];
  const said = {
    type: "message.added",
    role: "user",
    author: "user",
    parts: [{ type: "text", text: "hello" }],
  } as const;
  await session.commit([{ ...said, message: asked, parentId: null }]);
  for (const message of others) await session.commit([{ ...said, message, parentId: asked }]);
  const shownAt = async (leaf: string | null) => {
    const lines: string[] = [];
    const style = styleFor(process.stdout, "never");
    const context = {
      state: session.state,
      leaf,
      screen: { columns: 80, style },
      write: (...more: string[]) => lines.push(...more),
    };
    showUsage(context as never);
    return lines;
  };
  const there = await shownAt(others[1] ?? null);
  expect(there.map((line) => line.split(/ {2,}/)[0])).toEqual([
    "",
    "branch 1",
    "branch 2 *",
    "whole tree",
    "* marks your branch.",
  ]);
  expect((await shownAt(asked)).join("\n")).not.toContain("*");
});

test("V5: /usage lists the causes of cache misses, and the last line of a turn names the causes of the turn", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([
    [spend({ input: 4_000, cached: 3_900 }), text("Hello.")],
    [spend({ input: 5_000 }), text("Hello again.")],
  ]);
  const lines: string[] = [];
  const ends: TurnEnd[] = [];
  session.listen({
    items: (items) => ends.push(...items.filter((item) => item.type === "run.ended")),
    ended() {},
  });
  const show = () => {
    const screen = { columns: 80, style: styleFor(process.stdout, "never") };
    const write = (...more: string[]) => lines.push(...more);
    showUsage({ state: session.state, leaf: session.state.leaf, screen, write } as never);
  };
  await new Agent({ model }).send("Hello", { session });
  show();
  expect(lines.join("\n")).not.toContain("cache misses");
  await new Agent({ model }).send("Hello", { session });
  show();
  expect(lines.slice(-2).map((line) => line.split(/ {2,}/))).toEqual([
    ["cache misses", "answers", "tokens"],
    ["the provider kept no cache", "1", "4,000"],
  ]);
  expect(ends.map((end) => turnLine(end, session.state, "scripted/model").join().split(" · ").at(-1))).toEqual([
    expect.stringContaining("cost"),
    "cache miss: the provider kept no cache, 4,000 tokens again",
  ]);
});

test("F99: /context and /status have the provider's count of the last request, as the status line has it", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[spend({ input: 2_000, output: 500 }), text("Hello.")]]);
  await new Agent({ model }).send("Hello", { session });
  const shown = async (show: (context: never) => Promise<void>) => {
    const lines: string[] = [];
    const context = {
      state: session.state,
      leaf: session.state.leaf,
      user: { rights: ["act"] },
      models: { current: { name: "scripted/model" } },
      turns: { mode: "chat", approval: "ask" },
      ask: () => Promise.resolve({ state: "Commands run in a sandbox." }),
      sentHere: () =>
        Promise.resolve({ parts: [{ kind: "conversation", source: "messages", tokens: 4 }], size: 10_000 }),
      screen: { columns: 200, style: styleFor(process.stdout, "never") },
      write: (...more: string[]) => lines.push(...more),
    };
    await show(context as never);
    return lines.join("\n");
  };
  expect(await shown(showContext)).toContain("The last request and its answer had 2,500 tokens.");
  expect(await shown(showStatus)).toContain("about 7,500 of 10,000 tokens left (75 %)");
});
