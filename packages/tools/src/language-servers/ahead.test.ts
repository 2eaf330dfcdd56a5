import type { FeedItem } from "@banyan/core";
import { call, cut, text, until } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { arm, block, play } from "../workspace/edit-mode/play.fixture.ts";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { oakServers } from "./oak.fixture.ts";

/** A busy machine starts a server slowly. */
const PATIENT = { patience: 20_000 };

/** Collects the problems of blocks that are complete. `seen` resolves with the first. */
function watching() {
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  const found: (readonly string[])[] = [];
  const watch = (item: FeedItem) => {
    if (item.type !== "call.draft.delta" || !item.problems) return;
    found.push(item.problems);
    resolve();
  };
  return { seen, found, watch };
}

test.each([
  ["publishes problems", {}],
  ["answers requests", { pulls: true }],
])("E3: with a server that %s, a complete block is checked before anything is written", async (_, options) => {
  using folder = new TestFolder({ "a.oak": "bad old\none\n" });
  await using servers = oakServers(folder, options, PATIENT);
  const { seen, found, watch } = watching();
  const written = seen.then(() => folder.read("a.oak"));
  const message = [text(block("oak:a.oak:2:3", "bad new")), until(written), text("All is said.")];
  const { said, session } = await play(folder, [arm("a.oak"), message, "Done."], { tools: servers.tools, watch });
  expect(found).toEqual([["a.oak:2: error: new is bad [oak bad]"]]);
  expect(await written).toBe("bad old\none\n");
  expect(folder.read("a.oak")).toBe("bad old\nbad new\n");
  // The result has the problem once more, and the pending change is gone.
  expect(said[0]?.split("\n").filter((line) => line.includes("is bad"))).toEqual(found[0]);
  const calls = [...session.state.messages.values()].flatMap((each) => ("calls" in each ? each.calls : []));
  expect(calls.map(({ drafts = [] }) => drafts)).toEqual([[]]);
});

test("E3: blocks of a broken message are forgotten: the next check sees the file as it is", async () => {
  using folder = new TestFolder({ "a.oak": "has leaf\n", "b.oak": "one\n" });
  await using servers = oakServers(folder, { pulls: true }, PATIENT);
  const { seen, found, watch } = watching();
  const script = [
    arm("a.oak", "c.oak"),
    [text(block("oak:a.oak:1:2", "has stem", "bad idea"), block("oak:c.oak", "bad too")), until(seen), cut()],
    "I change my mind.",
    [call("edit", { path: "b.oak", old_text: "one", new_text: "uses leaf" })],
    "Done.",
  ];
  const { results, said } = await play(folder, script, { tools: servers.tools, watch });
  expect(found[0]).toEqual(["a.oak:2: error: idea is bad [oak bad]"]);
  expect(folder.read("a.oak")).toBe("has leaf\n");
  expect([...results, ...said].join("\n")).not.toContain("New problems");
});
