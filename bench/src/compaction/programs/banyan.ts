import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Agent, TurnError } from "@banyan/core";
import { openHost } from "@banyan/host";
import type { Act } from "../script.ts";
import type { CompactingProgram } from "./program.ts";

const MODEL = "openai-compatible/first";

/** Smaller windows only have room for few tools and short instructions. */
const SMALL = 16_000;
const FEW_TOOLS = ["read", "write", "edit", "shell", "processes", "update_plan"];

export const banyan: CompactingProgram = {
  hands: handOf,
  asksForSummary: (text) => /^Sum up the conversation|^Your summary is too long/.test(text),
  has: () => true,
  async begin({ url, window, home, cwd }) {
    const own = join(home, "banyan");
    mkdirSync(join(own, "config"), { recursive: true });
    writeFileSync(
      join(own, "config", "settings.json"),
      JSON.stringify({
        models: { [MODEL]: { contextSize: window } },
        sandbox: { enabled: "off" },
        memory: { enabled: false },
        limits: { steps: 10_000 },
        connection: { attempts: 2 },
      }),
    );
    const env = {
      PATH: process.env.PATH ?? "",
      BANYAN_HOME: own,
      BANYAN_NO_DISCOVERY: "1",
      OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
      OPENAI_COMPATIBLE_API_KEY: "none",
    };
    const flags = { model: MODEL, approval: "all", unconfined: true } as const;
    const host = await openHost({ cwd, home, env, flags, canAsk: false });
    const session = await host.newSession();
    const agent = window < SMALL ? small(host.agent) : host.agent;
    return {
      async say(text) {
        try {
          const { reason } = await agent.send(text, { session });
          return reason === "answered" ? undefined : reason;
        } catch (error) {
          if (error instanceof TurnError) return error.message;
          throw error;
        }
      },
      async [Symbol.asyncDispose]() {
        await session.close();
        await host.close();
      },
    };
  },
};

function small(agent: Agent): Agent {
  const tools = agent.options.tools?.filter(({ name }) => FEW_TOOLS.includes(name)) ?? [];
  return agent.with({ tools, instructions: "You work in a folder. Be brief." });
}

function handOf(act: Act) {
  switch (act.do) {
    case "write":
      return { name: "write", input: { path: act.path, content: act.text } };
    case "edit":
      return { name: "edit", input: { path: act.path, old_text: act.old, new_text: act.text } };
    case "read":
      return { name: "read", input: { path: act.path } };
    case "plan": {
      const steps = act.steps.map(({ title, state }) => ({ title, status: state.replace(" ", "_") }));
      return { name: "update_plan", input: { steps } };
    }
    case "watch":
      return { name: "shell", input: { command: act.command, background: true } };
    case "stop watching":
      return { name: "processes", input: { process: "p1", stop: true } };
    case "run":
      return { name: "shell", input: { command: act.command } };
  }
}
