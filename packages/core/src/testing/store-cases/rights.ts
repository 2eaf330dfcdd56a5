import assert from "node:assert/strict";
import { noRights } from "../../ports/rights.ts";
import { type Checks, conversation, create, ID } from "./case.ts";

/** Requirements on stores that keep rights (S17). */
export const rightsCases: Checks = {
  async "S17 what a person allowed comes back, and not with another conversation"(store, reopen) {
    const log = await create(store, ID);
    await log.append(conversation(log, ["one"]));
    if (!log.rights) return;
    assert.deepEqual(await log.rights.read(), noRights);
    const rights = { rules: ["shell(é *)"], calls: { __proto__x: "digest", c1: "other" } };
    await log.rights.write(rights);
    await log.close();
    const later = reopen ? await reopen() : store;
    const again = await later.open(ID);
    assert.deepEqual(await again.rights?.read(), rights);
    const other = await create(later);
    await other.append(conversation(other, ["two"]));
    assert.deepEqual(await other.rights?.read(), noRights);
  },

  async "S17 what was allowed goes with the conversation: another one of its name begins with nothing"(store) {
    const log = await create(store, ID);
    await log.append(conversation(log, ["one"]));
    await log.rights?.write({ rules: ["shell"], calls: {} });
    await log.close();
    await store.remove(ID);
    const anew = await create(store, ID);
    await anew.append(conversation(anew, ["two"]));
    if (anew.rights) assert.deepEqual(await anew.rights.read(), noRights);
  },
};
