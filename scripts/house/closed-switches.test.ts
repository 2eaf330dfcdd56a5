import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const REASONS: Readonly<Record<string, string>> = {
  "packages/cli/src/output/report.ts": "It writes the text of answers and nothing else.",
  "packages/cli/src/show/sub-agents.ts":
    "The ends of calls of sub-agents are shown, and the sentences of itemSentence.",
  "packages/core/src/conversation/tree/questions.ts": "Only these open and close questions.",
  "packages/core/src/conversation/tree/readable-event.ts": "Only these hold what users and models said.",
  "packages/core/src/past/turn-spending.ts": "Only these take of a turn's limits, or stop its clock.",
  "packages/core/src/session/replay.ts": "Only these two events say again what deltas said.",
  "packages/core/src/session/streaming-buffer.ts": "Only these events say again what deltas said.",
  "packages/host/src/hooks/calls-for.ts":
    "These alone call for a person who looks elsewhere: something waits, or nothing more comes.",
  "packages/host/src/hooks/hooks.ts": "Hooks are called at these moments, which their format names.",
  "packages/server/src/doors/acp/branch.ts": "A branch grows by these alone; of all else it knows whose it is.",
  "packages/server/src/cluster/turn-follower.ts": "It tells the steps of a turn, which these end.",
  "packages/desk/src/live/live-conversation.ts": "It follows turns; whatever else comes has changed something.",
  "packages/store/src/log/summary.ts": "A list says three things of a conversation.",
};

/** H14: the switches over every type of item. Clients share one, and the others are no clients. */
const CLOSED = [
  "packages/client/src/display/display-item.ts",
  "packages/core/src/conversation/tree/reduce.ts",
  "packages/core/src/conversation/tree/reduce.ts",
  "packages/desk/src/live/shown-only.ts",
];

/** Returns the switches over a feed item, each up to the end of its block. */
function switchesIn(source: string): readonly string[] {
  const begins = source.matchAll(/^( *)switch \((?:item|event|delta)\.type\) \{$/gm);
  return [...begins].map((begin) => {
    const [, indent = ""] = begin;
    const rest = source.slice(begin.index);
    return rest.slice(0, rest.indexOf(`\n${indent}}`));
  });
}

function isClosed(block: string): boolean {
  const [, otherwise = ""] = block.split(/^ *default:/m);
  return /satisfies (never\b|\w*UndisplayedType\b)/.test(otherwise);
}

test("H9: a type of item that is new does not compile before each switch over the feed has decided about it", () => {
  const files = ["core", "client", "host", "desk", "server", "store", "cli", "web"].flatMap((name) =>
    globSync(`packages/${name}/src/**/*.{ts,tsx}`, { cwd: root }).filter(
      (path) => !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(path),
    ),
  );
  const found = files.map((path) => ({ path, blocks: switchesIn(readFileSync(root + path, "utf8")) }));
  const closed = found.flatMap(({ path, blocks }) => blocks.filter(isClosed).map(() => path));
  const open = found.flatMap(({ path, blocks }) => blocks.filter((block) => !isClosed(block)).map(() => path));
  expect(open.toSorted()).toEqual(Object.keys(REASONS).toSorted());
  expect(closed.toSorted()).toEqual(CLOSED);
});

test.each([
  ["a default that says nothing", "    default:\n      return undefined;", false],
  ["no default", "    case 2:\n      return undefined;", false],
  ["a list of what is passed over", "    default:\n      item.type satisfies UndisplayedType | Other;", true],
  ["nothing that is left", "    default:\n      return skipped(event satisfies never);", true],
])("H9: a switch with %s is told from others", (_name, end, closed) => {
  const source = `function f() {\n  switch (item.type) {\n    case 1:\n      break;\n${end}\n  }\n}\n`;
  expect(switchesIn(source).map(isClosed)).toEqual([closed]);
});
