import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text as read } from "node:stream/consumers";
import { defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";

const COMMAND = "schemathesis";
const isThere = spawnSync(COMMAND, ["--version"]).status === 0;
/** The reason in the test names why these tests are skipped. */
const whyNot = !process.env.BANYAN_LONG
  ? " (left out: it takes minutes, and runs with npm run test:long)"
  : isThere
    ? ""
    : " (left out: schemathesis is not installed; pip install schemathesis brings it)";

/** Requests per address and data generation method. */
const EXAMPLES = "100";

/** Tests everything in a server's API description, within its rate. Returns the failures, or an empty text. */
async function foundIn(address: string, ...which: readonly string[]): Promise<string> {
  const run = spawn(
    COMMAND,
    [
      "run",
      `${address}/api/v1/openapi.json`,
      ...["--header", `Authorization: Bearer ${TOKEN}`],
      ...["--phases", "examples,coverage,fuzzing,stateful"],
      ...["--max-examples", EXAMPLES],
      ...["--rate-limit", "45/s"],
      ...which,
      "--continue-on-failure",
      "--no-color",
    ],
    { cwd: temporaryDirectory(), stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void run.kill());
  const [said, [code]] = await Promise.all([read(run.stdout), once(run, "exit")]);
  // A run without generated cases would also report no failure.
  expect(said).toMatch(/\d+ generated/);
  return code === 0 ? "" : said;
}

describe.skipIf(whyNot !== "")(`the description of the addresses${whyNot}`, () => {
  test("W80: schemathesis finds no difference between the server and its description", async () => {
    const look = defineTool({
      name: "look",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: () => "seen",
    });
    const model = scriptedModel(({ messages }) => (messages.at(-1)?.role === "user" ? [call("look")] : "Done."));
    const { server, log } = await serving({ model, tools: [look], permission: () => ({ decision: "ask" }) });
    const post = async (command: object) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const sent = { method: "POST", headers, body: JSON.stringify(command) };
      expect((await ask(server.address, "/api/v1/commands", sent)).body).not.toContain('"error"');
    };
    // Ids that generators try first, so that requests find a conversation.
    await post({ type: "conversation.create", id: "a first command", conversation: "0" });
    for (const id of ["0", "00"])
      await post({ type: "message.add", id, conversation: "0", parts: [{ type: "text", text: "hello" }] });
    // The doors have a test of their own, with a model that makes no calls, so that each turn ends.
    expect(await foundIn(server.address, "--exclude-operation-id", "feed", "--exclude-tag", "doors")).toBe("");
    expect(log.filter((line) => !line.includes("refused"))).toEqual([]);
  }, 3_600_000);

  test("W80: nor at the doors, which follow the protocols of other programs", async () => {
    const { server, log } = await serving({ model: scriptedModel(() => "Done.") });
    // No schema knows which models exist, which message may come last, or what an id stands for.
    const how = ["--exclude-checks", "positive_data_acceptance"];
    expect(await foundIn(server.address, "--include-tag", "doors", ...how)).toBe("");
    expect(log.filter((line) => !line.includes("refused"))).toEqual([]);
  }, 3_600_000);

  test("W80: nor at the address of a feed, which has no end where there is a conversation", async () => {
    const { server, log } = await serving({ model: scriptedModel([]) });
    expect(await foundIn(server.address, "--include-operation-id", "feed")).toBe("");
    expect(log.filter((line) => !line.includes("refused"))).toEqual([]);
  }, 3_600_000);
});
