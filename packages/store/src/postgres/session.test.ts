import { Agent, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { superuser } from "../testing/postgres-server.fixture.ts";
import { describeWithPostgres, ownDatabase, storeAt } from "./store.fixture.ts";

describeWithPostgres("sessions of a store that many share", () => {
  const database = ownDatabase();

  test("a conversation that one began, another goes on with, and both see the same tree", async () => {
    const url = await database.url();
    const agent = new Agent({ model: scriptedModel(["Green.", "Because of chlorophyll."]) });
    const first = await Session.open(storeAt(url), "garden", { create: true });
    expect((await agent.send("What colour are leaves?", { session: first })).text).toBe("Green.");
    const other = storeAt(url);
    await expect(Session.open(other, "garden")).rejects.toMatchObject({ code: "locked" });
    await first.close();
    const second = await Session.open(other, "garden");
    expect((await agent.send("Why?", { session: second })).text).toBe("Because of chlorophyll.");
    expect(Array.from(second.state.messages.keys()).slice(0, 2)).toEqual(Array.from(first.state.messages.keys()));
    await second.close();
  });

  test("F5 a session that was overtaken ends its turn, and says who has the conversation", async () => {
    const url = await database.url();
    const agent = new Agent({ model: scriptedModel(["One.", "Two."]) });
    const store = storeAt(url, { program: "first" });
    const first = await Session.open(store, "overtaken", { create: true });
    await agent.send("Begin.", { session: first });
    await superuser(url, "UPDATE banyan.nodes SET lease_until = now() - interval '1 second'");
    const second = await Session.open(storeAt(url, { program: "second" }), "overtaken");
    await expect(agent.send("Go on.", { session: first })).rejects.toMatchObject({
      code: "broken",
      message: expect.stringMatching(
        /was opened by second \(process \d+ .*open the conversation again to continue here/,
      ),
    });
    const size = second.state.messages.size;
    await agent.send("Go on.", { session: second });
    expect(second.state.messages.size).toBe(size + 2);
    await second.close();
  });
});
