import { connect } from "@banyan/client/node";
import { scriptedModel } from "@banyan/core/testing";
import { approvalIn, offeredModes } from "@banyan/protocol";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

/** The settings as clients before mode `sandbox` read them. */
const formerSettings = z.object({
  model: z.string(),
  approval: z.enum(["plan", "ask", "edits", "all"]),
  unasked: z.array(z.string()).default([]),
  carriedOut: z
    .array(z.object({ conversation: z.string(), approval: z.enum(["ask", "edits"]) }))
    .default([]),
});

async function serve() {
  const { server, modes, host } = await serving({ model: scriptedModel([]) });
  const client = await connect({ address: server.address, token: TOKEN, client: "a test" });
  onTestFinished(() => client.close());
  return { server, client, modes, host };
}

test("S37: a mode that is not available is refused with the reason, and the mode before stays", async () => {
  const { client, host } = await serve();
  await client.ask("approval.use", { mode: "edits" });
  expect(offeredModes(client.welcome.settings)).toEqual(["plan", "ask", "edits", "all"]);
  await expect(client.ask("approval.use", { mode: "sandbox" })).rejects.toMatchObject({
    code: "invalid",
    message: "A test has no sandbox.",
  });
  expect([host.approval, approvalIn(client.welcome.settings, undefined)]).toEqual(["edits", "edits"]);
});

test("S37: clients learn when the mode becomes available, and use it", async () => {
  const { client, modes, host } = await serve();
  modes.refuse(undefined);
  await expect.poll(() => offeredModes(client.welcome.settings)).toContain("sandbox");
  await client.ask("approval.use", { mode: "sandbox" });
  const { settings } = client.welcome;
  expect([host.approval, approvalIn(settings, undefined), approvalIn(settings, "any")]).toEqual(
    Array(3).fill("sandbox"),
  );
  await client.ask("approval.use", { mode: "ask" });
  expect(approvalIn(client.welcome.settings, undefined)).toBe("ask");
});

test("S37: a client that does not know the mode reads every frame, and shows the mode as edits", async () => {
  const { server, client, modes } = await serve();
  modes.refuse(undefined);
  const shown: string[] = [];
  for (const mode of ["plan", "ask", "edits", "sandbox"] as const) {
    await client.ask("approval.use", { mode });
    const { frames } = await TestClient.connect(server);
    const welcome = frames.find(({ type }) => type === "welcome");
    shown.push(z.object({ settings: formerSettings }).parse(welcome).settings.approval);
  }
  expect(shown).toEqual(["plan", "ask", "edits", "edits"]);
});
