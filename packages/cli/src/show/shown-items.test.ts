import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import type { FeedItem } from "@banyan/core";
import { noUsage } from "@banyan/core/conversation";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ChatView } from "../chat/views/chat-view.ts";
import { turnReport } from "../output/report.ts";
import { ProgressLines } from "../print/progress.ts";
import { FRAME_TIME } from "../terminal/full/screen/frames.ts";
import { open } from "../terminal/full/testing/opened.ts";
import { PlainTerminal } from "../terminal/plain-terminal.ts";
import { type Client, type ItemType, SHOWN_ITEMS } from "./shown-items.fixture.ts";
import { styleFor } from "./style.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const CALL = { message: "a", call: "c", tool: "shell" };
const said = (text: string) => [{ type: "text", text }] as const;
const begun = (text: string): Items => [
  { type: "message.started", message: "b", parentId: "a", run: "r", model: "m" },
  { type: "text.delta", message: "b", part: 0, text } as Items[number],
];
const asks = (call: string): Items => [
  { type: "call.pending", message: "a", call, tool: "shell", inputText: '{"command":"ls"}', input: { command: "ls" } },
  { type: "call.executing", message: "a", call, attempt: 1, key: call },
];

type Unplaced = FeedItem extends infer Item
  ? Item extends unknown
    ? Omit<Item, "seq" | "epoch" | "at" | "offset">
    : never
  : never;
type Items = readonly Unplaced[];

/** One item of each type, the items before it, and the text that clients must show for it. */
const SCENES: readonly { readonly before?: Items; readonly item: Unplaced; readonly shows?: RegExp }[] = [
  {
    item: { type: "memory.recalled", message: "u", items: [{ text: "Oaks are tall.", source: "the oak talk" }] },
    shows: /Memory added/,
  },
  {
    before: begun("Half an an"),
    item: { type: "message.abandoned", message: "b", reason: "it broke off" },
    shows: /Answer cut off, asking again/,
  },
  {
    before: begun("Whole"),
    item: {
      type: "message.completed",
      message: "b",
      parts: [...said("Whole"), { type: "call", call: "c0" }],
      finish: "length",
      usage: noUsage,
    },
    shows: /cut off at its length limit/,
  },
  {
    before: begun(""),
    item: {
      type: "message.completed",
      message: "b",
      parts: [{ type: "call", call: "c0" }],
      finish: "filtered",
      error: "not nice",
      usage: noUsage,
    },
    shows: /refused the request or cut off the answer: not nice/,
  },
  {
    before: begun("Wh"),
    item: { type: "text.delta", message: "b", part: 0, text: "olesome\n" } as Unplaced,
    shows: /olesome/,
  },
  {
    before: asks("c1"),
    item: { type: "call.completed", ...CALL, call: "c1", output: "fig.txt" } as Unplaced,
    shows: /shell ls … done/,
  },
  {
    before: asks("c2"),
    item: { type: "call.failed", ...CALL, call: "c2", output: "no such file" } as Unplaced,
    shows: /no such file/,
  },
  {
    before: asks("c3").slice(0, 1),
    item: { type: "call.denied", ...CALL, call: "c3", output: "nobody may" } as Unplaced,
    shows: /nobody may/,
  },
  {
    before: asks("c4"),
    item: { type: "call.cancelled", ...CALL, call: "c4", output: "stopped" } as Unplaced,
    shows: /shell ls … cancelled/,
  },
  {
    item: { type: "run.paused", run: "r", question: "q", reason: "The turn reached 2 steps." },
    shows: /reached 2 steps\. Waiting for a user to decide whether it continues/,
  },
  {
    item: { type: "run.continued", run: "r", question: "q", allowed: true },
    shows: /The turn continues until it reaches the same limits again/,
  },
  {
    item: {
      type: "model.retrying",
      run: "r",
      attempt: 2,
      delay: 9_000,
      nextAt: 9_000,
      code: "overloaded",
      status: 529,
      reason: "It is overloaded.",
    },
    shows: /overloaded|529, attempt 2/,
  },
  {
    item: {
      type: "model.retrying",
      run: "r",
      attempt: 1,
      delay: 9_000,
      nextAt: 9_000,
      code: "rate-limit",
      reason: "The rate limit of agent is 4 requests per minute.",
    },
    shows: /The rate limit of agent is 4 requests per minute\. .*Continuing (in 9\.0 s|now)/,
  },
  {
    item: { type: "model.replaced", run: "r", from: "a/one", to: "b/two", code: "quota", reason: "Nothing is left." },
    shows: /Nothing is left\. b\/two continues this turn instead of a\/one/,
  },
  {
    item: { type: "model.waiting", run: "r", message: "a", time: 180_000, alive: true },
    shows: /hinking for 3 min|Thinking, the connection is alive/,
  },
  {
    item: {
      type: "turn.waiting",
      command: "u",
      waits: true,
      reason: "Waiting for the MCP server late, for at most 30 s.",
    },
    shows: /Waiting for the MCP server late, for at most 30 s\./,
  },
  {
    item: { type: "message.left-out", message: "m", reason: "parts must be an array, not null" },
    shows: /A message that cannot be read is not sent to the model: parts must be an array, not null\./,
  },
  {
    item: { type: "request.changed", run: "r", reason: "The provider refused a.png, so it is left out from now on." },
    shows: /The provider refused a\.png, so it is left out from now on\./,
  },
  {
    item: { type: "memory.skipped", run: "r", reason: "its file is locked" },
    shows: /Memory was not used: its file is locked\./,
  },
  {
    item: { type: "approval.withdrawn", reason: "The sandbox has ended." },
    shows: /The sandbox has ended\. Banyan asks before changes and commands again\./,
  },
  {
    item: { type: "context.shortening", run: "r", leaf: "m", reason: "it is full" },
    shows: /Compacting the conversation: it is full/,
  },
  {
    item: { type: "context.not-shortened", run: "r", leaf: "m", reason: "the model failed" },
    shows: /was not compacted: the model failed\./,
  },
  {
    item: { type: "callback.failed", callback: "onTurn", reason: "boom" },
    shows: /The turn continues although the callback onTurn failed: boom\./,
  },
  {
    item: {
      type: "message.added",
      message: "t",
      parentId: "a",
      role: "user",
      author: "tool",
      parts: said("Nothing was applied."),
    },
    shows: /tool: Nothing was applied/,
  },
  { item: { type: "title.changed", title: "Of oaks" } },
  { item: { type: "model.changed", model: "other/one" } },
  { item: { type: "usage.counted", purpose: "title", model: "m", usage: noUsage } },
  { item: { type: "message.labelled", message: "u", label: "here" } },
  { item: { type: "message.starred", message: "u", starred: true } },
  { item: { type: "memory.dismissed", message: "u", item: 0, dismissed: true } },
  { item: { type: "content.stored", digest: "d", text: "Be kind." } },
  { item: { type: "chat.ended", reason: "answered" } },
];

/** All clients, in a conversation with a working agent. */
function clients() {
  const full = open(100, 40, { NO_MOTION: "1" });
  full.begins();
  const plain = new PassThrough({ encoding: "utf8" });
  const style = styleFor(process.stdout, "never");
  const terminal = new PlainTerminal({
    input: new PassThrough() as never,
    output: plain as never,
    style,
    env: {},
    onTyped: () => true,
    onInterrupt() {},
  });
  const view = new ChatView(terminal);
  let printed = "";
  const progress = new ProgressLines((text) => (printed += text), style, 100, { said: "nothing" });
  const report = turnReport("text", (text) => (printed += text), { live: true });
  let shown = "";
  return {
    happens(item: Unplaced) {
      full.happens(item);
      const placed = {
        ...item,
        seq: 1,
        epoch: 1,
        ...(item.type.endsWith(".delta") ? { offset: 1 } : { at: 1 }),
      } as FeedItem;
      view.show(placed, full.state);
      progress.item(placed, full.state);
      report.item(placed, full.state);
    },
    /** Output of each client so far. */
    async seen(): Promise<Readonly<Record<Exclude<Client, "page">, string>>> {
      await vi.advanceTimersByTimeAsync(FRAME_TIME * 2);
      shown += plain.read() ?? "";
      return { full: full.screen.lines.join("\n"), plain: shown, print: printed };
    },
    close: () => terminal.close(),
  };
}

test.each(SCENES.map((scene) => ({ ...scene, type: scene.item.type as ItemType })))(
  "F37: of $type each client shows what the table says",
  async ({ before = [], item, shows, type }) => {
    const { happens, seen, close } = clients();
    for (const earlier of before) happens(earlier);
    const earlier = await seen();
    happens(item);
    const now = await seen();
    for (const client of ["full", "plain", "print"] as const) {
      if (SHOWN_ITEMS[type][client].startsWith("nothing: ")) expect(now[client], client).toBe(earlier[client]);
      else {
        expect(earlier[client], client).not.toMatch(shows ?? /^/);
        expect(now[client].replaceAll(/\s+/g, " "), client).toMatch(shows ?? /(?!)/);
      }
    }
    close();
  },
);

test("F37: docs/events.md has the tables as they are", () => {
  const docs = readFileSync(new URL("../../../../docs/events.md", import.meta.url), "utf8");
  for (const [type, { full, plain, print, page }] of Object.entries(SHOWN_ITEMS)) {
    const each = [full, plain, print, page];
    const isAlike = new Set(each).size === 1;
    const cells = isAlike
      ? [full.replace("nothing: ", "")]
      : each.map((shown) => shown.replace("nothing: ", "Nothing. "));
    const rows = docs.split("\n").filter((row) => row.endsWith(`\` | ${cells.join(" | ")} |`));
    expect(rows.flatMap((row) => row.split(" | ", 1)).join()).toContain(`\`${type}\``);
  }
});
