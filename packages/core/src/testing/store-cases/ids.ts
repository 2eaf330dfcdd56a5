import assert from "node:assert/strict";
import { noRights } from "../../ports/rights.ts";
import { ODD_IDS } from "../odd-ids.ts";
import { type Checks, conversation, create, listed, readAll, refused } from "./case.ts";

const NO_IDS = ["", ".", "..", "a\n", "\u0000", "\u0085", "\ud800", "a".repeat(129)];

export const idCases: Checks = {
  async "W80 any text that can be an id is that of a conversation of its own"(store, reopen) {
    for (const id of ODD_IDS) {
      const log = await create(store, id);
      await log.append(conversation(log, [`leaf of ${id}`], { id }));
      await log.rights?.write({ rules: [id], calls: {} });
      await log.close();
    }
    for (const open of [async () => store, reopen ?? (async () => store)]) {
      const kept = await open();
      assert.deepEqual((await listed(kept)).sort(), ODD_IDS.toSorted());
      for (const id of ODD_IDS) {
        const view = await kept.view(id);
        const [created, added] = await readAll(view);
        assert.equal(created?.type === "conversation.created" && created.id, id);
        assert.deepEqual(added?.type === "message.added" && added.parts, [{ type: "text", text: `leaf of ${id}` }]);
        await view.close();
        const log = await kept.open(id);
        if (log.rights) assert.deepEqual(await log.rights.read(), { rules: [id], calls: {} });
        await log.close();
      }
      const hits = await kept.search("leaf", { limit: 100 });
      assert.deepEqual(hits.map(({ conversation }) => conversation).sort(), ODD_IDS.toSorted());
    }
  },

  async "W80 to remove a conversation removes no other, whatever its id"(store) {
    const left = new Set(ODD_IDS);
    for (const id of ODD_IDS) {
      const log = await create(store, id);
      await log.append(conversation(log, ["hello"], { id }));
      await log.rights?.write({ rules: ["shell"], calls: {} });
      await log.close();
    }
    for (const id of ODD_IDS) {
      await store.remove(id);
      left.delete(id);
      assert.deepEqual((await listed(store)).sort(), [...left].sort());
      await refused("not-found", () => store.open(id));
    }
    const anew = await create(store, "A");
    await anew.append(conversation(anew, ["hello"], { id: "A" }));
    if (anew.rights) assert.deepEqual(await anew.rights.read(), noRights);
  },

  async "W80 a text that can be no id is that of no conversation"(store) {
    for (const id of NO_IDS) {
      await refused("not-found", () => store.open(id, { create: true }));
      await refused("not-found", () => store.open(id));
      await refused("not-found", () => store.view(id));
      await refused("not-found", () => store.remove(id));
    }
    assert.deepEqual(await store.list(), []);
  },
};
