import { type Agent, type AgentOptions, LimitError, type ModelDriver, ModelError, type Session } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { costOf, noUsage } from "@banyan/core/conversation";
import { orAborted } from "@banyan/core/hosts";
import { formatCost } from "@banyan/core/shown";

/** Milliseconds after which a waiting model call reports progress. */
const SIGN_OF_LIFE = 10_000;

/**
 * A cost limit in US dollars for all turns of a conversation, including past turns. A model call starts only if the
 * rest of the limit covers the model's most expensive response so far. The first response of each model runs alone. If
 * other running calls have reserved the rest, a call waits, because these calls may cost less than expected. If the
 * limit is used up, `over` is called instead of the model.
 */
export class Allowance implements Disposable {
  readonly #session: Session;
  readonly #most: number;
  readonly #over: (why: string) => void;
  readonly #dearest = new Map<string, number>();
  /** Running calls by model. */
  readonly #asked = new Map<string, number>();
  readonly #metered = new WeakMap<object, ModelDriver>();
  readonly #leave: () => void;
  #waiting: (() => void)[] = [];
  /** Cost of responses that the conversation may not have counted yet. */
  #seen: number;

  constructor(session: Session, most: number, over: (why: string) => void) {
    this.#session = session;
    this.#most = most;
    this.#over = over;
    this.#seen = session.state.cost ?? 0;
    // Sub-agents with their own models do not use `#stream`.
    this.#leave = session.listen({ items: () => this.look(), ended: () => {} });
  }

  look(): void {
    if (this.#spent >= this.#most) this.#end();
  }

  [Symbol.dispose](): void {
    this.#leave();
  }

  /** Makes the calls of an agent's models wait for room. Throws `LimitError` for a model with an unknown price. */
  agent(agent: Agent<unknown>): Agent<unknown> {
    const { model, modelNamed } = agent.options;
    return agent.with({
      model: this.#model(model),
      ...(modelNamed && { modelNamed: async (name) => this.#model(await modelNamed(name)) }),
    });
  }

  #model(model: AgentOptions["model"]): AgentOptions["model"] {
    const known = this.#metered.get(model);
    if (known) return known;
    const driver = "stream" in model || "run" in model ? model : fromLanguageModel(model);
    if ("run" in driver || driver.price === undefined)
      throw new LimitError("unknown-price", `A cost limit cannot be enforced: the price of ${driver.id} is unknown.`);
    const { id, family, address, price, maxTools, oneAtATime, pictureProblem, settings } = driver;
    const metered: ModelDriver = {
      id,
      family,
      address,
      price,
      maxTools,
      oneAtATime,
      pictureProblem,
      settings,
      // A getter, since the server may report the size later.
      get contextSize() {
        return driver.contextSize;
      },
      stream: (...request) => this.#stream(driver, ...request),
    };
    this.#metered.set(model, metered);
    return metered;
  }

  async #stream(driver: ModelDriver, ...[request, sink, signal]: Parameters<ModelDriver["stream"]>): Promise<void> {
    const { id, price } = driver;
    const alive = setInterval(() => sink.push([]), SIGN_OF_LIFE);
    try {
      await this.#room(id, signal);
    } finally {
      clearInterval(alive);
    }
    let usage = noUsage;
    const push: typeof sink.push = (batch) => {
      for (const part of batch) if (part.type === "finish") usage = part.usage;
      return sink.push(batch);
    };
    try {
      await driver.stream(request, { push, ready: () => sink.ready() }, signal);
    } finally {
      const cost = costOf(usage, price) ?? 0;
      this.#seen += cost;
      if (usage !== noUsage) this.#dearest.set(id, Math.max(cost, this.#dearest.get(id) ?? 0));
      this.#asked.set(id, (this.#asked.get(id) ?? 1) - 1);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const look of waiting) look();
    }
  }

  /** Rejects with the reason of the signal. */
  async #room(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const dearest = this.#dearest.get(id);
      const ahead = [...this.#asked].reduce((sum, [model, times]) => sum + times * (this.#dearest.get(model) ?? 0), 0);
      const isFirst = dearest === undefined && (this.#asked.get(id) ?? 0) > 0;
      if (!isFirst && this.#spent < this.#most && this.#spent + ahead + (dearest ?? 0) <= this.#most) break;
      if ([...this.#asked.values()].every((times) => times === 0)) {
        this.#end();
        signal.throwIfAborted();
        throw new ModelError("quota", `Another model call would exceed ${this.#limit}.`);
      }
      await orAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
    }
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1);
  }

  get #spent(): number {
    return Math.max(this.#seen, this.#session.state.cost ?? 0);
  }

  get #limit(): string {
    return `the limit of ${formatCost(this.#most)} for all attempts together`;
  }

  #end(): void {
    this.#over(`${this.#limit} is reached (${formatCost(this.#spent)} spent)`);
  }
}
