import type { Agent, TurnHandler } from "@banyan/core";
import type { Host } from "@banyan/host";
import { serversForFirstTurn } from "@banyan/host/mcp";
import { oneLine } from "../show/plain-text.ts";

/** How an agent is to work in the turns to come. */
interface Work {
  readonly mode: "chat" | "task";
  /** Its model, when that is not the one in use. */
  readonly model: string | undefined;
  /** What the result of a task must be. */
  readonly output: Agent["options"]["output"];
}

/** The host's agent as it is to work. Rejects with `ModelChoiceError`. */
async function agentAtWork(host: Host, { mode, model, output }: Work): Promise<Agent> {
  if (mode === "chat") return model === undefined ? host.agent : host.agentWith(model);
  const agent = await host.taskAgent();
  return agent.with({
    ...(model === undefined ? {} : { model: (await host.agentWith(model)).options.model }),
    ...(output === undefined ? {} : { output }),
  });
}

/** The agent of a talk: the host's, with all that it works with, and with the talk as its turn handler. */
export class TalkAgent {
  readonly #host: Host;
  readonly #onTurn: TurnHandler;
  readonly #notice: (sentence: string) => void;
  #isEquipped = false;
  /** While the first turn waits for MCP servers. */
  #waiting: AbortController | undefined;
  #handled: { readonly agent: Agent; readonly with: Agent } | undefined;

  /** `notice` is told once what is missing of what the agent works with. */
  constructor(host: Host, onTurn: TurnHandler, notice: (sentence: string) => void) {
    this.#host = host;
    this.#onTurn = onTurn;
    this.#notice = notice;
  }

  /** The first turn waits for MCP servers no longer; answers whether it did. */
  waitNoLonger(): boolean {
    const waits = this.#waiting?.signal.aborted === false;
    this.#waiting?.abort();
    return waits;
  }

  /** As it works now, when it has all that it works with. Rejects with `ModelChoiceError`. */
  async at(work: Work): Promise<Agent> {
    if (!this.#isEquipped) {
      const { notices, mcp } = await this.#host.ready();
      const waiting = (sentence: string) => this.#notice(oneLine(`${sentence} Ctrl-C goes on without.`));
      this.#waiting = new AbortController();
      const missing = mcp ? await serversForFirstTurn(mcp, { signal: this.#waiting.signal, waiting }) : [];
      this.#waiting = undefined;
      this.#isEquipped = true;
      for (const notice of [...notices, ...missing]) this.#notice(oneLine(notice));
    }
    const agent = await agentAtWork(this.#host, work);
    if (this.#handled?.agent !== agent) this.#handled = { agent, with: agent.with({ onTurn: this.#onTurn }) };
    return this.#handled.with;
  }
}
