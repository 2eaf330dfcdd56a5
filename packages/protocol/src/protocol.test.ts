import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createId, type FeedItem } from "@banyan/core";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { settings } from "./commands/settings.ts";
import {
  approvalIn,
  type CommandName,
  commandSchema,
  commands,
  delta,
  event,
  feedItem,
  isCompatible,
  notice,
  offeredModes,
  type Right,
  rightFor,
} from "./index.ts";
import { jsonSchemas } from "./json-schemas.ts";
import { shapeTables } from "./shape-tables.fixture.ts";

describe("versions", () => {
  test("the same major version works together, whichever minor is older", () => {
    expect(["1.0", "1.7", "1.999"].map((version) => isCompatible(version, "1.3"))).toEqual([true, true, true]);
    expect(["0.9", "2.0", "1", "", "one", "1.0.0", "11.0"].map((version) => isCompatible(version, "1.3"))).toEqual(
      Array(7).fill(false),
    );
  });
});

test("S37: approval settings of servers without mode sandbox offer the modes of that time", () => {
  const before = settings.parse({ model: "scripted/model", approval: "edits" });
  expect([approvalIn(before, "any"), offeredModes(before)]).toEqual(["edits", ["plan", "ask", "edits", "all"]]);
});

test("S37: a mode of a newer server is not offered", () => {
  expect(offeredModes({ modes: ["all", "later", "sandbox"] })).toEqual(["sandbox", "all"]);
});

describe("schemas", () => {
  test("there is one for every item that the engine tells", () => {
    // Exhaustive by its type: a new item of the engine does not compile before it has a schema.
    const told: Readonly<Record<Exclude<FeedItem["type"], "feed.reset" | "chat.ended">, true>> = TOLD;
    const known = [event, delta, notice].flatMap(({ options }) =>
      options.map(({ shape }) => shape.type.value as string),
    );
    expect(known.toSorted()).toEqual(Object.keys(told).toSorted());
    expectTypeOf<z.infer<typeof feedItem>>().toEqualTypeOf<FeedItem>();
  });

  test("an item that this version knows must be as it should be; one of a newer version is passed on", () => {
    const place = { seq: 3, epoch: 1, at: 5 };
    expect(feedItem.safeParse({ type: "title.changed", title: "x", ...place }).success).toBe(true);
    expect(feedItem.safeParse({ type: "title.changed", title: 7, ...place }).success).toBe(false);
    expect(feedItem.safeParse({ type: "text.delta", message: "m", part: 0, text: "x", seq: 1, epoch: 1 }).success).toBe(
      false,
    );
    const unknown = { type: "something.new", of: { any: ["kind"] }, ...place };
    expect(feedItem.parse(unknown)).toEqual(unknown);
  });

  test("every command has a sentence, an id of the client's, and refuses what is not one of its kind", () => {
    for (const [type, { does }] of Object.entries(commands)) {
      expect(does, type).toMatch(/^[A-Z].*\.$/);
      const schema = commandSchema(type);
      expect(schema?.safeParse({ type }).success, type).toBe(false);
      expect(schema?.safeParse({ type, id: "..", conversation: createId() }).success, type).toBe(false);
    }
    expect(
      commandSchema("turn.say")?.safeParse({ type: "turn.say", id: createId(), conversation: "..", parts: [] }).success,
    ).toBe(false);
  });
});

const names = Object.keys(commands) as CommandName[];

test("S28: a command needs the right to act, except those that only show and list", () => {
  const needing = (right: Right) => names.filter((name) => rightFor(name) === right).sort();
  expect(needing("show")).toEqual(["feed.subscribe", "feed.unsubscribe", "message.read"]);
  expect(needing("watch")).toEqual([
    "conversation.export",
    "conversation.list",
    "conversation.open",
    "conversation.search",
    "conversation.watch",
    "question.list",
  ]);
});

test("S28: docs/protocol.md lists every command with what it needs and does", () => {
  const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");
  const rows = names.map((name) => `| \`${name}\` | ${rightFor(name)} | ${commands[name].does} |`);
  expect(page.match(/^\| `\w+\.\w+` \| (show|watch|act) \|.*$/gm)?.sort()).toEqual(rows.sort());
});

test("W80: docs/protocol.md says what every field holds, made of the schemas; `vitest run -u` writes it anew", async () => {
  const page = new URL("../../../docs/protocol.md", import.meta.url);
  const [said] = readFileSync(page, "utf8").split("### Shared types");
  await expect(`${said}${shapeTables(jsonSchemas())}\n`).toMatchFileSnapshot(fileURLToPath(page));
});

test("S28: docs/protocol.md says of every address what the table of rights says of its commands", () => {
  const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");
  const rows = page.matchAll(/^\| `\/api\/v1\/([^`]+)` \| ([^|]+) \|/gm);
  const told = new Map([...rows].map(([, address = "", needs = ""]) => [address, needs]));
  const list = rightFor("conversation.list");
  expect(rightFor("conversation.search")).toBe(list);
  expect(Object.fromEntries(told)).toEqual({
    "sign-in": "a token, and a web page of this server",
    socket: rightFor("feed.subscribe"),
    commands: "the right of the command",
    conversations: `\`GET\`: ${list}; \`POST\`: ${rightFor("conversation.import")}`,
    "conversations/ID/feed": rightFor("feed.subscribe"),
    "conversations/ID/export": rightFor("conversation.export"),
    models: rightFor("model.list"),
    health: "none",
    "openapi.json": "watch",
  });
});

/** Items that a feed sends to clients: a reset becomes a snapshot, and the end of a chat stays in its process. */
const TOLD = {
  "approval.withdrawn": true,
  "call.approval-requested": true,
  "call.approval-resolved": true,
  "call.cancelled": true,
  "call.completed": true,
  "call.denied": true,
  "call.draft.delta": true,
  "call.executing": true,
  "call.failed": true,
  "call.followed": true,
  "call.following": true,
  "call.input.delta": true,
  "call.output.delta": true,
  "call.pending": true,
  "callback.failed": true,
  "content.stored": true,
  "context.not-shortened": true,
  "context.shortening": true,
  "conversation.brought-in": true,
  "conversation.created": true,
  "file.changed": true,
  "goal.checked": true,
  "input.delivered": true,
  "input.edited": true,
  "input.queued": true,
  "input.withdrawn": true,
  "memory.recalled": true,
  "message.left-out": true,
  "request.changed": true,
  "memory.skipped": true,
  "turn.waiting": true,
  "message.abandoned": true,
  "message.added": true,
  "message.checkpoint": true,
  "message.completed": true,
  "message.labelled": true,
  "message.removed": true,
  "message.restored": true,
  "message.starred": true,
  "memory.dismissed": true,
  "message.started": true,
  "model.changed": true,
  "model.retrying": true,
  "model.replaced": true,
  "model.waiting": true,
  "question.answered": true,
  "process.started": true,
  "process.ended": true,
  "question.asked": true,
  "reasoning.delta": true,
  "rule.revoked": true,
  "run.continued": true,
  "run.ended": true,
  "run.paused": true,
  "run.started": true,
  "text.delta": true,
  "title.changed": true,
  "usage.counted": true,
} as const;
