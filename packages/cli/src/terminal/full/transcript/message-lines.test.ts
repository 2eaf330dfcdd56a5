import { Agent, defineTool, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { branchLines } from "../../../conversations/show.ts";
import { styleFor } from "../../../show/style.ts";
import { createTheme } from "../theme/theme.ts";
import { branchEnd } from "./message-lines.ts";

const theme = createTheme(1, "dark");
const look = { width: 60, theme, most: 20 };

test("T48: the end of a branch shows calls with their changes, and what was said, as they were", async () => {
  const session = Session.inMemory();
  const edit = defineTool({
    name: "edit",
    description: "Edits.",
    input: { type: "object", properties: { path: { type: "string" } } },
    effects: "external",
    execute: async (_, context) => {
      const diff = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-one\n+two\n";
      await context.changed({ path: "notes.md", kind: "changed", before: "1", after: "2", added: 1, removed: 1, diff });
      return "done";
    },
  });
  const model = scriptedModel([[call("edit", { path: "notes.md" })], "It says **two** now."]);
  await new Agent({ model, tools: [edit] }).send("Change it.", { session });
  const { lines, above } = branchEnd(session.state, session.state.leaf, look);
  expect(above).toBe(0);
  expect(lines[0]).toBe("❯ Change it.");
  expect(lines.join("\n")).toMatch(/edit .*… done\n[^\n]*notes\.md(?:.|\n)*one\n[^\n]*two/);
  expect(lines.at(-1)).toBe("It says two now.");
});

test("T48: a long branch shows its last lines and the number of messages above", async () => {
  const session = Session.inMemory();
  const agent = new Agent({ model: scriptedModel((_, index) => `Answer ${index}.`) });
  for (let turn = 0; turn < 30; turn++) await agent.send(`Question ${turn}?`, { session });
  const { lines, above } = branchEnd(session.state, session.state.leaf, look);
  expect(lines.length).toBeLessThanOrEqual(look.most + 1);
  expect(lines.at(-1)).toBe("Answer 29.");
  expect(lines.filter((line) => line.startsWith("❯") || line.startsWith("Answer"))).toHaveLength(60 - above);
  expect(branchEnd(session.state, session.state.leaf, { ...look, most: 1000 }).above).toBe(0);
});

test("T48: a last message that is too long shows its end", async () => {
  const session = Session.inMemory();
  const long = Array.from({ length: 200 }, (_, line) => `- line ${line}`).join("\n");
  await new Agent({ model: scriptedModel([long]) }).send("All of it.", { session });
  const { lines, above } = branchEnd(session.state, session.state.leaf, look);
  expect(lines[0]).toMatch(/^… \(\d+ lines above\)$/);
  expect(lines.at(-1)).toMatch(/line 199$/);
  expect(above).toBe(1);
});

test("F77: a message that cannot be read stands in its branch with the reason, in a page and as text", async () => {
  const session = Session.inMemory();
  const wrong = { type: "message.added", message: "m", parentId: null, role: "user" } as const;
  await session.commit([{ ...wrong, parts: [{ type: "text", text: 5 }] as unknown as [] }]);
  await new Agent({ model: scriptedModel(["Yes."]) }).send("Go on.", { session });
  const told = "This message cannot be read: parts[0].text must be a string, not a number.";
  const { lines } = branchEnd(session.state, session.state.leaf, { ...look, width: 100 });
  expect(lines).toEqual([told, "", "❯ Go on.", "", "Yes."]);
  const shown = branchLines(session.state, session.state.leaf, {
    agent: "agent",
    style: styleFor(process.stdout, "never"),
    columns: 100,
  });
  expect(shown.slice(0, 3)).toEqual(["", "#1 you", told]);
});
