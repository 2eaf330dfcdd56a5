import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHost } from "@banyan/host";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "./server.ts";
import { temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

test("E13, E15: clients see a goal and its results, and another answer to the message has the same goal", async () => {
  const home = temporaryDirectory();
  const cwd = join(home, "workspace");
  mkdirSync(cwd);
  const env = { BANYAN_HOME: join(home, "banyan"), BANYAN_NO_DISCOVERY: "1", PATH: process.env.PATH };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: true });
  const server = await serve({ host });
  onTestFinished(async () => {
    await server.stop();
    await host.close();
  });
  const client = await TestClient.connect(server);
  const { conversation } = await client.ask("conversation.create", {});
  const { state } = await client.watch(conversation);
  const all = <Type extends string>(type: Type) => client.items.filter((item) => item.type === type);

  const parts = [{ type: "text", text: "hello" }] as const;
  await client.ask("turn.say", { conversation, parts, goal: ["!test -e done.txt"] });
  await client.until(() => all("run.ended").length === 1);
  expect(all("goal.checked")).toMatchObject([{ outcome: "open" }, { outcome: "open" }, { outcome: "failed" }]);
  const [broken] = [...state.broken.values()];
  expect(broken).toMatchObject({ code: "goal", goal: { asked: ["!test -e done.txt"], times: 3 } });

  writeFileSync(join(cwd, "done.txt"), "");
  await client.ask("turn.retry", { conversation });
  await client.until(() => all("run.ended").length === 2);
  expect(all("run.started").at(-1)).toMatchObject({ goal: { id: broken?.goal?.id } });
  expect(all("goal.checked").at(-1)).toMatchObject({ outcome: "done" });
  expect(all("run.ended").at(-1)).toMatchObject({ reason: "answered" });

  await client.ask("turn.retry", { conversation });
  await client.until(() => all("run.ended").length === 3);
  const run = client.items.flatMap((item) => (item.type === "run.started" ? [item.run] : [])).at(-1);
  expect(all("run.started").at(-1)).toMatchObject({ goal: { id: run, asked: ["!test -e done.txt"] } });
  expect(all("goal.checked").at(-1)).toMatchObject({ run, outcome: "done" });
});
