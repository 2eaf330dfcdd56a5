import assert from "node:assert/strict";
import type { Event, EventBody } from "../../conversation/event.ts";
import { createId } from "../../conversation/id.ts";
import { noUsage } from "../../conversation/usage.ts";
import type { Log, SearchHit, SearchOptions, Store } from "../../ports/store.ts";
import { at, type Checks, create, ID, NOW, OTHER } from "./case.ts";

export const searchCases: Checks = {
  async "B55 a search finds what users and models said, on all branches of all conversations"(store) {
    await said(store, ID, [
      added("m1", null, "What is a banyan?"),
      ...answered("m2", "m1", "A fig that lives on other trees."),
      ...answered("m3", "m1", "A banyan is a tree of many trunks."),
    ]);
    await said(store, OTHER, [added("o1", null, "Draw a banyan.")]);
    assert.deepEqual(await found(store, "banyan"), ["m1", "m3", "o1"]);
    assert.deepEqual(await found(store, "fig"), ["m2"]);
    assert.deepEqual(await found(store, "cedar"), []);
  },

  async "B55 a hit says where it was found, and by whom it was said"(store) {
    await said(store, ID, [
      added("m1", null, "What is a banyan?"),
      ...answered("m2", "m1", "A kind of fig.\nIt is a tree."),
      { type: "title.changed", title: "Trees" },
    ]);
    const [hit] = await store.search("fig");
    assert.ok(hit);
    const { conversation, title, message, role } = hit;
    assert.deepEqual([conversation, title, message, role, hit.at], [ID, "Trees", "m2", "assistant", NOW + 3]);
    assert.equal(hit.excerpt, "A kind of fig. It is a tree.");
    assert.deepEqual(marked(hit), ["fig"]);
    assert.equal((await store.search("what"))[0]?.role, "user");
  },

  async "B55 an excerpt of a long message is a line around what was found"(store) {
    const around = "the quick brown fox jumps over the lazy dog\n".repeat(2000);
    await said(store, ID, [added("m1", null, `${around}a banyan 👩‍👩‍👧‍👦 and another Banyan\n${around}`)]);
    const [hit] = await store.search("banyan");
    assert.ok(hit);
    assert.ok(hit.excerpt.length < 250 && !hit.excerpt.includes("\n"), hit.excerpt);
    assert.match(hit.excerpt, /^….*a banyan 👩‍👩‍👧‍👦 and another Banyan.*…$/u);
    assert.deepEqual(marked(hit), ["banyan", "Banyan"]);
  },

  async "B55 all words must be there, in any order and case, with accents or without"(store) {
    await said(store, ID, [added("m1", null, "Über den Bäumen: der Café-Garten"), added("m2", "m1", "Der Garten")]);
    assert.deepEqual(await found(store, "garten UBER baumen"), ["m1"]);
    assert.deepEqual(await found(store, "cafe"), ["m1"]);
    assert.deepEqual(await found(store, "der garten"), ["m1", "m2"]);
  },

  async "B55 of the last word the beginning is enough, of the others it is not"(store) {
    await said(store, ID, [added("m1", null, "The aerial roots of banyans")]);
    assert.deepEqual(await found(store, "roots ban"), ["m1"]);
    assert.deepEqual(await found(store, "ban roots"), []);
    assert.deepEqual(await found(store, "nyans"), []);
    assert.deepEqual(marked((await store.search("roots ban"))[0]), ["roots", "ban"]);
  },

  async "B55 words are found in scripts that write no spaces"(store) {
    await said(store, ID, [added("m1", null, "我喜欢树木和花园"), added("m2", "m1", "木と樹のにわ")]);
    assert.deepEqual(await found(store, "树木"), ["m1"]);
    assert.deepEqual(await found(store, "木树"), []);
    assert.deepEqual(await found(store, "木"), ["m1", "m2"]);
    assert.deepEqual(marked((await store.search("花园"))[0]), ["花园"]);
  },

  async "B55 nothing in a query is an operator"(store) {
    await said(store, ID, [
      added("m1", null, 'if (a AND b) { "x": c-d* }'),
      added("m2", "m1", "NEAR or NOT"),
      added("m3", "m2", "only text: here"),
    ]);
    for (const [query, messages] of [
      ["a AND b", ["m1"]],
      ['"x"', ["m1"]],
      ["c-d*", ["m1"]],
      ["{x} : (a)", ["m1"]],
      ["NOT", ["m2"]],
      ["text:here", ["m3"]],
      ["a OR b", []],
      ["^only", ["m3"]],
      ["'; DROP TABLE texts; --", []],
      ["a\0b", ["m1"]],
      ["\ud800", []],
      ['"', []],
      ["* - : ( ) ^ + {", []],
      ["NEAR(a b", []],
      [" \n ", []],
      ["", []],
    ] as const) {
      assert.deepEqual(await found(store, query), messages, `of ${JSON.stringify(query)}`);
    }
  },

  async "B55 reasoning, calls and what tools and the system wrote are not searched"(store) {
    await said(store, ID, [
      added("m1", null, "Hello"),
      {
        type: "message.added",
        message: "m2",
        parentId: "m1",
        role: "user",
        author: "tool",
        parts: [{ type: "text", text: "secretly a fig" }],
      },
      {
        type: "message.added",
        message: "m3",
        parentId: "m2",
        role: "summary",
        parts: [{ type: "text", text: "It was about a fig" }],
      },
      {
        type: "message.completed",
        message: "m4",
        parts: [
          { type: "reasoning", text: "They mean a fig" },
          { type: "text", text: "Hello to you" },
        ],
        finish: "stop",
        usage: noUsage,
      },
    ]);
    assert.deepEqual(await found(store, "fig"), []);
  },

  async "B55 what was removed is not found, with all below it, until it is restored"(store) {
    const log = await said(store, ID, [
      added("m1", null, "banyan"),
      ...answered("m2", "m1", "banyan"),
      added("m3", "m2", "banyan"),
      added("m4", "m1", "banyan"),
    ]);
    await write(log, [{ type: "message.removed", message: "m2" }]);
    assert.deepEqual(await found(store, "banyan"), ["m1", "m4"]);
    await write(log, [{ type: "message.restored", message: "m2" }]);
    assert.deepEqual(await found(store, "banyan"), ["m1", "m2", "m3", "m4"]);
  },

  async "B55 hits are the newest first, no more than asked for, and of the conversations asked for"(store) {
    const oldest = createId();
    for (const [id, minute] of [
      [createId(), 2],
      [createId(), 3],
      [oldest, 1],
    ] as const) {
      const labels = { size: minute > 1 ? "big" : "small" };
      await said(store, id, [added(`m${minute}`, null, "banyan")], { labels, start: NOW + minute * 60_000 });
    }
    const ordered = async (options?: SearchOptions) =>
      (await store.search("banyan", options)).map(({ message }) => message);
    assert.deepEqual(await ordered(), ["m3", "m2", "m1"]);
    assert.deepEqual(await ordered({ limit: 2 }), ["m3", "m2"]);
    assert.deepEqual(await ordered({ labels: { size: "big" } }), ["m3", "m2"]);
    assert.deepEqual(await ordered({ labels: { size: "small" }, limit: 5 }), ["m1"]);
    assert.deepEqual(await ordered({ without: ["size"] }), []);
    assert.deepEqual(await ordered({ without: ["colour"], limit: 1 }), ["m3"]);
    assert.deepEqual(await ordered({ conversation: oldest, limit: 1 }), ["m1"]);
    assert.deepEqual(await ordered({ limit: 0 }), []);
  },

  async "V2 a search ends with the reason of its signal, and later searches find everything"(store) {
    await said(store, ID, [added("m1", null, "banyan"), ...answered("m2", "m1", "banyan")]);
    const reason = new Error("The user left.");
    await assert.rejects(store.search("banyan", { signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const search = store.search("banyan", { signal: controller.signal });
    controller.abort(reason);
    const outcome = await search.catch((error: unknown) => error);
    assert.ok(outcome === reason || Array.isArray(outcome));
    assert.deepEqual(await found(store, "banyan"), ["m1", "m2"]);
  },

  async "B55 what is written after a search is found by the next"(store) {
    const log = await said(store, ID, [added("m1", null, "first banyan")]);
    assert.deepEqual(await found(store, "banyan"), ["m1"]);
    await write(log, [added("m2", "m1", "second banyan")]);
    assert.deepEqual(await found(store, "banyan"), ["m1", "m2"]);
    assert.deepEqual(await found(store, "second"), ["m2"]);
    await write(log, answered("m3", "m2", "third banyan"));
    assert.deepEqual(await found(store, "banyan"), ["m1", "m2", "m3"]);
  },

  async "B55 what was written is found when the store is opened again"(store, reopen) {
    if (!reopen) return;
    await said(store, ID, [added("m1", null, "banyan"), ...answered("m2", "m1", "banyan 🌳 \ud800\0 banyan")]);
    const later = await reopen();
    assert.deepEqual(await found(later, "banyan"), ["m1", "m2"]);
    assert.deepEqual(await found(await reopen(), "banyan"), ["m1", "m2"]);
  },

  async "B55 of thousands of messages the few that are meant are found"(store) {
    const bodies = Array.from({ length: 3000 }, (_, index) =>
      added(`m${index}`, null, `message number${index} banyan`),
    );
    await said(store, ID, bodies);
    assert.deepEqual(await found(store, "banyan number1234 message"), ["m1234"]);
    assert.equal((await store.search("banyan")).length, 20);
    assert.equal((await store.search("banyan", { limit: 3000 })).length, 3000);
  },
};

async function said(
  store: Store,
  id: string,
  bodies: readonly EventBody[],
  options: { readonly labels?: Readonly<Record<string, string>>; readonly start?: number } = {},
): Promise<Log> {
  const log = await create(store, id);
  await write(log, [{ type: "conversation.created", id, labels: options.labels ?? {} }, ...bodies], options.start);
  return log;
}

async function write(log: Log, bodies: readonly EventBody[], start = NOW): Promise<void> {
  const stamp = (body: EventBody, index: number): Event => at(log, log.seq + 1 + index, body, start + log.seq + index);
  await log.append(bodies.map(stamp));
}

function added(message: string, parentId: string | null, text: string): EventBody {
  return { type: "message.added", message, parentId, role: "user", parts: [{ type: "text", text }] };
}

function answered(message: string, parentId: string, text: string): EventBody[] {
  return [
    { type: "message.started", message, parentId, run: "r1", model: "a/b" },
    { type: "message.completed", message, parts: [{ type: "text", text }], finish: "stop", usage: noUsage },
  ];
}

async function found(store: Store, query: string): Promise<string[]> {
  return (await store.search(query)).map(({ message }) => message).sort();
}

function marked(hit: SearchHit | undefined): string[] {
  return (hit?.matches ?? []).map(([from, to]) => hit?.excerpt.slice(from, to) ?? "");
}
