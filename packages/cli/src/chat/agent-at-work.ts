import type { Agent } from "@banyan/core";
import type { Host } from "@banyan/host";

/** How an agent is to work in the turns to come. */
export interface Work {
  readonly mode: "chat" | "task";
  /** Its model, when that is not the one in use. */
  readonly model: string | undefined;
  /** What the result of a task must be. */
  readonly output: Agent["options"]["output"];
}

/** The host's agent as it is to work. Rejects with `ModelChoiceError`. */
export async function agentAtWork(host: Host, { mode, model, output }: Work): Promise<Agent> {
  if (mode === "chat") return model === undefined ? host.agent : host.agentWith(model);
  const agent = await host.taskAgent();
  return agent.with({
    ...(model === undefined ? {} : { model: (await host.agentWith(model)).options.model }),
    ...(output === undefined ? {} : { output }),
  });
}
