import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { banyan, home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";

test("F96, F98: a later process sums up with the words of the settings, and its model reads what was said before", async () => {
  using place = home();
  const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  const models = { "openai-compatible/test": { contextSize: 20_000 } };
  writeFileSync(settings, JSON.stringify({ models, compaction: { instructions: "Keep the fruit." } }));
  const answers: ServerAnswer[] = [
    { text: "Because ".padEnd(36_000, "it is warm, ") },
    { text: "Two.", tokens: [17_500, 10] },
    { text: `## Goal\n${"Fruit for the winter. ".repeat(16)}` },
    { calls: [{ tool: "read", input: { path: "earlier:#1" } }] },
    { text: "You want figs." },
  ];
  await using server = await modelServer(...answers);
  const say = (...args: string[]) => banyan(place, [...args, "--model", "openai-compatible/test"], server);
  await say("-p", "Use figs only.");
  await say("-c", "-p", "Two?");
  expect(await say("-c", "-p", "What did I want?")).toMatchObject({ code: 0, stdout: "You want figs.\n" });
  const [, , summary, first, second] = server.asked.map((messages) => JSON.stringify(messages));
  expect(summary).toMatch(
    /## Open questions.*follow these instructions of the user for the summary:\\nKeep the fruit\./,
  );
  expect(summary).not.toContain("Go on from where your last answer stopped");
  expect(first).toContain(
    "Finished steps are not repeated. To list the messages that the summary covers, call read or search with earlier:",
  );
  expect(first).not.toContain("it is warm");
  expect(second).toContain("[Message 1 of this conversation, from before the summary, by the user.]");
  expect(second).toMatch(/"role":"tool"[^}]*Use figs only\./);
});
