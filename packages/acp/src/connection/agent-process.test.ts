import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { AgentProcess } from "./agent-process.ts";

const program = { command: process.execPath, args: ["-e", "process.stdout.write(process.env.GARDEN ?? 'none')"] };

async function gardenOf(env?: Record<string, string>): Promise<string> {
  await using agent = await AgentProcess.start("sample", env ? { ...program, env } : program);
  return await text(agent.output);
}

test("an agent gets the environment variables of this process, or exactly those that the options give", async () => {
  vi.stubEnv("GARDEN", "from this process");
  expect(await gardenOf()).toBe("from this process");
  expect(await gardenOf({ GARDEN: "from the options" })).toBe("from the options");
  expect(await gardenOf({})).toBe("none");
  vi.unstubAllEnvs();
});
