import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text as read } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { badLink } from "./testing/bad-link.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";

const PROGRAM = fileURLToPath(new URL("../../../examples/python/banyan.py", import.meta.url));
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const words = (count: number) => Array.from({ length: count }, (_, index) => `wörd${index} 🌳 `);

/** Runs the client with the user's input, and returns its output. */
async function run(address: string, typed: string, onWords?: (end: () => void) => void): Promise<string> {
  const client = spawn("python3", [PROGRAM, "Go"], {
    env: { ...process.env, BANYAN_ADDRESS: address, BANYAN_TOKEN: TOKEN, PYTHONIOENCODING: "utf-8" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void client.kill("SIGKILL"));
  client.stdin.end(typed);
  client.stdout.once("data", () => onWords?.(() => client.kill("SIGINT")));
  const [printed, [code]] = await Promise.all([read(client.stdout), once(client, "exit")]);
  expect(code).toBe(0);
  return printed;
}

// Python is needed to run the client.
test.skipIf(!hasPython)(
  "W80: the client in Python says, answers, and goes on after each break with all of the text",
  async () => {
    const put = {
      name: "put",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: () => "done",
    } as const;
    const link = await badLink();
    const model = scriptedModel([[text(...words(150)), call("put")], "All done."], { pace: 4 });
    const permission = () => ({ decision: "ask" }) as const;
    const { server } = await serving(
      { model, tools: [put], permission },
      { allowedHosts: [new URL(link.address).host] },
    );
    link.to(server.address);
    const printed = await run(link.address, "y\n");
    expect(printed).toBe(`${words(150).join("")}\n\nMay the agent run put? [y/n] All done.\n`);
    expect(link.cuts).toBeGreaterThan(0);
  },
);

test.skipIf(!hasPython)("W80, W82: Ctrl-C in the client in Python interrupts the agent", async () => {
  const model = scriptedModel([[text(...words(20_000))]], { pace: 5 });
  const { server } = await serving({ model });
  const printed = await run(server.address, "", (end) => end());
  expect(printed).toContain("wörd0 🌳 ");
  expect(model.asked).toBe(1);
});
