import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, type Event, emptyConversation, reduce, textOf } from "@banyan/core";
import { checkConversation, scriptedModel, text } from "@banyan/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { superuser } from "../testing/postgres-server.fixture.ts";
import { postgresStore, redrive } from "./index.ts";
import { describeWithPostgres, ownDatabase } from "./store.fixture.ts";

describeWithPostgres("a program without a server that shares a database", () => {
  const database = ownDatabase();

  test("goes on by one call with what another one left when it was killed: no effect twice, and it is free again", async () => {
    const url = await database.url();
    const effects = join(mkdtempSync(join(tmpdir(), "banyan-redrive-")), "effects");
    const dead = await dyingProgram(url, effects);
    await once(dead, "exit");
    await superuser(url, "UPDATE banyan.nodes SET lease_until = now() - interval '1 s'");

    const store = postgresStore(url, { program: "second" });
    onTestFinished(() => store.close());
    const model = scriptedModel(({ messages }) =>
      JSON.stringify(messages).includes("took effect is unknown") ? [text("I looked: it is paid.")] : [text("?")],
    );
    const pay = defineTool({
      name: "pay",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: () => appendFileSync(effects, "again\n"),
    });
    const defects: unknown[] = [];
    const redriving = redrive(store, {
      agent: new Agent({ model, tools: [pay], permission: () => ({ decision: "allow" }) }),
      defect: (error) => defects.push(error),
    });
    onTestFinished(() => redriving.stop());
    const last = async () => {
      const events: Event[] = [];
      const state = emptyConversation("bill");
      for await (const batch of (await store.view("bill")).read()) events.push(...batch);
      for (const event of events) reduce(state, event);
      const message = state.leaf === null ? undefined : state.messages.get(state.leaf);
      return { said: message ? textOf(message) : "", wrong: checkConversation(state, events) };
    };
    await expect.poll(async () => (await last()).said).toBe("I looked: it is paid.");
    // The conversation is free for the next node, and a finished run does not start again.
    await expect.poll(async () => (await store.view("bill")).isOpen).toBe(false);
    expect((await last()).wrong).toEqual([]);
    expect(readFileSync(effects, "utf8")).toBe("paid\n");
    expect(defects).toEqual([]);
    await redriving.stop();
  });
});

/** Starts a program that crashes in the middle of an external call. */
async function dyingProgram(url: string, effects: string): Promise<ChildProcess> {
  const program = `
    import { appendFileSync } from "node:fs";
    import { Agent, defineTool, Session, say } from ${JSON.stringify(import.meta.resolve("@banyan/core"))};
    import { call, scriptedModel } from ${JSON.stringify(import.meta.resolve("@banyan/core/testing"))};
    import { postgresStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const pay = defineTool({ name: "pay", description: "", input: { type: "object" }, effects: "external", execute: () => {
      appendFileSync(${JSON.stringify(effects)}, "paid\\n");
      process.kill(process.pid, "SIGKILL");
    } });
    const agent = new Agent({ model: scriptedModel([[call("pay", {}, "c1")]]), tools: [pay], permission: () => ({ decision: "allow" }) });
    const session = await Session.open(postgresStore(${JSON.stringify(url)}, { program: "first" }), "bill", { create: true });
    for await (const _ of agent.chat(say("Pay the bill."), { session }));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
