import assert from "node:assert/strict";
import { createId } from "../../conversation/id.ts";
import { at, type Checks, conversation, create, ID, listed, NOW } from "./case.ts";

export const listCases: Checks = {
  async "a list has the most recently written first, and no more than asked for"(store) {
    assert.deepEqual(await store.list(), []);
    const ids = [createId(), createId(), createId()] as const;
    for (const [index, minute] of [2, 3, 1].entries()) {
      const log = await create(store, ids[index]);
      await log.append(conversation(log, ["hello"], { at: NOW + minute * 60_000 }));
      await log.close();
    }
    assert.deepEqual(await listed(store), [ids[1], ids[0], ids[2]]);
    const log = await store.open(ids[2]);
    await log.append([at(log, 3, { type: "model.changed", model: "a/b" }, NOW + 600_000)]);
    assert.deepEqual(await listed(store), [ids[2], ids[1], ids[0]]);
    assert.deepEqual(await listed(store, { limit: 2 }), [ids[2], ids[1]]);
  },

  async "a list leaves out what was never written to"(store) {
    await create(store);
    assert.deepEqual(await store.list(), []);
  },

  async "a list can be limited to labels"(store) {
    const [red, both, none] = [createId(), createId(), createId()];
    for (const [id, labels] of [
      [red, { colour: "red" }],
      [both, { colour: "red", size: "big \u2028 one" }],
      [none, {}],
    ] as const) {
      const log = await create(store, id);
      await log.append(conversation(log, ["hello"], { labels }));
    }
    assert.deepEqual((await listed(store, { labels: { colour: "red" } })).sort(), [red, both].sort());
    assert.deepEqual(await listed(store, { labels: { colour: "red", size: "big \u2028 one" } }), [both]);
    assert.deepEqual(await listed(store, { labels: { colour: "blue" } }), []);
    assert.equal((await store.list({ labels: {} })).length, 3);
  },

  async "a list has titles, labels and times, of conversations that are being written too"(store) {
    const log = await create(store, ID);
    await log.append(conversation(log, ["What is\n a banyan?", "And a fig?"], { labels: { a: "b" } }));
    const summary = { id: ID, title: "What is a banyan?", labels: { a: "b" }, createdAt: NOW, updatedAt: NOW + 2 };
    assert.deepEqual(await store.list(), [summary]);
    await log.append([at(log, 4, { type: "title.changed", title: "Trees" }, NOW + 9)]);
    assert.deepEqual(await store.list(), [{ ...summary, title: "Trees", updatedAt: NOW + 9 }]);
  },

  async "a title is well-formed, and short when it is made from a long message"(store) {
    const log = await create(store, ID);
    await log.append(conversation(log, [`\udc00${"🌳 tree ".repeat(10_000)}`]));
    const [summary] = await store.list();
    assert.ok(summary);
    assert.ok(summary.title.startsWith("\ufffd🌳 tree 🌳 tree"));
    assert.ok(summary.title.length <= 200);
    await log.append([at(log, 3, { type: "title.changed", title: "Trees \ud800" })]);
    assert.equal((await store.list())[0]?.title, "Trees \ufffd");
  },
};
