import { Agent, Session, say } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { turnReport } from "../output/report.ts";
import { styleFor } from "../show/style.ts";
import { type TurnEnd, turnEndText } from "../show/turn-end.ts";
import { ProgressLines, type ProgressOptions } from "./progress.ts";

/** Output of print mode for a turn with text, a call, and an answer. */
async function printed(options: Partial<ProgressOptions>) {
  const look = { name: "look", description: "Looks.", input: { type: "object" }, execute: () => "hello" } as const;
  const model = scriptedModel([[text("I look into it.\nIt may take a while."), call("look")], "It says hello."]);
  const agent = new Agent({ model, tools: [{ ...look, effects: "none" }] });
  const session = Session.inMemory();
  let stdout = "";
  let stderr = "";
  const report = turnReport("text", (text) => (stdout += text));
  const progress = new ProgressLines((text) => (stderr += text), styleFor(process.stdout, "never"), 80, options);
  let end: TurnEnd | undefined;
  for await (const item of agent.chat(say("What is in a.txt?"), { session })) {
    report.item(item, session.state);
    progress.item(item, session.state);
    if (item.type === "run.ended") end = item;
  }
  const answer = end ? turnEndText(end, session.state) : "";
  report.result({ type: "result", text: answer } as Parameters<typeof report.result>[0]);
  return { stdout, stderr };
}

test("B80: the answer alone is on stdout; what is said between calls, and the calls, are on stderr", async () => {
  const { stdout, stderr } = await printed({ said: "whole" });
  expect(stdout).toBe("It says hello.\n");
  expect(stderr).toMatch(/^I look into it\.\nIt may take a while\.\n.*look.* … done/m);
  expect(stderr).not.toContain("It says hello.");
});

test("B80: with --quiet, stderr is empty", async () => {
  expect(await printed({ quiet: true })).toEqual({ stdout: "It says hello.\n", stderr: "" });
});
