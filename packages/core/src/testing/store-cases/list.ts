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

  async "V2 a list comes in pages, each after the last conversation of the page before"(store) {
    const times = [5, 3, 3, 9, 1, 3];
    for (const [index, minute] of times.entries()) {
      const log = await create(store, `01k0000000conformance0010${index}`);
      await log.append(conversation(log, ["hello"], { at: NOW + minute * 60_000 }));
    }
    const all = await store.list();
    assert.equal(all.length, times.length);
    assert.deepEqual(
      all,
      all.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)),
    );
    for (const limit of [1, 2, 4, 6, 7]) {
      const paged = [];
      for (let page = await store.list({ limit }); page.length > 0; ) {
        assert.ok(page.length <= limit);
        paged.push(...page);
        page = await store.list({ limit, after: page.at(-1) });
      }
      assert.deepEqual(paged, all);
    }
  },

  async "V2 a list can be limited to conversations, and to those without labels or with open questions"(store) {
    const [red, asking, plain] = [createId(), createId(), createId()];
    for (const [id, labels] of [
      [red, { colour: "red" }],
      [asking, { size: "big", "col%ur_": "red" }],
      [plain, {}],
    ] as const) {
      const log = await create(store, id);
      await log.append(conversation(log, ["hello"], { id, labels }));
      if (id === asking)
        await log.append([at(log, 3, { type: "run.paused", run: "r1", question: "q1", reason: "A limit." }, NOW + 5)]);
    }
    assert.deepEqual(
      (await listed(store, { conversations: [plain, red, "unknown", ".", plain] })).sort(),
      [red, plain].sort(),
    );
    assert.deepEqual(await listed(store, { conversations: [] }), []);
    assert.deepEqual((await listed(store, { without: ["colour"] })).sort(), [asking, plain].sort());
    assert.deepEqual(await listed(store, { without: ["colour", "size"] }), [plain]);
    assert.deepEqual((await listed(store, { without: ["col_ur", "%"] })).length, 3);
    assert.deepEqual(await listed(store, { without: ["size"], labels: { colour: "red" } }), [red]);
    const waiting = await store.list({ waiting: true, limit: 5 });
    // A store without `questions` lists no waiting conversation.
    if (waiting.length > 0) assert.deepEqual(waiting, [{ ...waiting[0], id: asking, questions: ["q1"] }]);
    const [changed] = await store.list({ conversations: [plain] });
    const log = await store.open(plain, { take: true });
    await log.append([at(log, 3, { type: "title.changed", title: "Trees" }, NOW + 9)]);
    assert.deepEqual(await store.list({ conversations: [plain] }), [
      { ...changed, title: "Trees", updatedAt: NOW + 9 },
    ]);
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
