import type { EventBody } from "../conversation/event.ts";
import type { Json } from "../conversation/message.ts";
import type { Answer, Permit } from "../ports/human.ts";
import type { Tool } from "../ports/tool.ts";
import type { Question } from "../session/session.ts";
import type { AskedCall } from "./answer.ts";
import { execute, messageOf } from "./execute.ts";
import { answerOf, type TurnRun, tell } from "./run.ts";

/** Calls that run at once. */
const AT_ONCE = 10;

/**
 * ```
 * asked ──▶ ended                     unknown, malformed, denied: the result is there at once
 *   ├─────▶ ready ──▶ running ──▶ ended
 *   ╰─────▶ waiting (for a person) ──▶ ready | ended
 * ```
 */
interface Entry {
  readonly call: string;
  readonly tool: Tool | undefined;
  input: Json;
  phase: "ready" | "waiting" | "running" | "ended";
  readonly question: Question | undefined;
}

/**
 * The calls of one answer. They start in their order: neighbours that only look run together, at most ten; one with
 * effects runs alone; one that waits for a person lets those after it pass. Each gets exactly one result.
 */
export class CallBatch {
  readonly #run: TurnRun;
  readonly #message: string;
  readonly #entries: Entry[] = [];
  readonly #active = new Set<Promise<void>>();

  constructor(run: TurnRun, message: string) {
    this.#run = run;
    this.#message = message;
  }

  /**
   * Judges each call and says what to log together with the answer: the calls, the results of those that cannot run,
   * the questions, and the intents of those that start first. With `refusal`, none runs and each is told that.
   */
  async prepare(asked: readonly AskedCall[], refusal?: string): Promise<EventBody[]> {
    const events: EventBody[] = [];
    for (const { id, tool, inputText, input } of asked) {
      const pending = { type: "call.pending", message: this.#message, call: id, tool, inputText } as const;
      events.push(input === undefined ? pending : { ...pending, input });
    }
    for (const call of asked) {
      const verdict = refusal === undefined ? await this.#judge(call) : { ended: "failed" as const, output: refusal };
      if ("ended" in verdict) {
        this.#entries.push({ call: call.id, tool: undefined, input: null, phase: "ended", question: undefined });
        events.push({ type: `call.${verdict.ended}`, message: this.#message, call: call.id, output: verdict.output });
        continue;
      }
      const { tool, input, permit } = verdict;
      const asking = permit.decision === "ask";
      const question = asking ? this.#run.session.ask() : undefined;
      this.#entries.push({ call: call.id, tool, input, phase: asking ? "waiting" : "ready", question });
      if (!question) continue;
      const event = {
        type: "call.approval-requested",
        message: this.#message,
        call: call.id,
        question: question.id,
      } as const;
      events.push(asking && permit.pattern !== undefined ? { ...event, pattern: permit.pattern } : event);
    }
    for (const entry of this.#startable()) events.push(this.#intent(entry));
    return events;
  }

  /** Runs the calls until each has its result. What `prepare` answered must be in the log. */
  async run(): Promise<void> {
    for (const entry of this.#entries) {
      if (entry.phase === "running") this.#track(this.#execute(entry));
      else if (entry.question) this.#track(this.#askPerson(entry, entry.question));
      else if (entry.phase === "ended") this.#told(entry);
    }
    while (this.#active.size > 0 || this.#entries.some((entry) => entry.phase === "ready")) {
      if (this.#run.signal.aborted) await this.#cancelReady();
      const next = this.#startable();
      if (next.length > 0) {
        await this.#run.session.commit(
          next.map((entry) => this.#intent(entry)),
          { durable: true, origin: this.#run.origin },
        );
        for (const entry of next) this.#track(this.#execute(entry));
      }
      if (this.#active.size > 0) await Promise.race(this.#active);
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#active.delete(tracked));
    this.#active.add(tracked);
  }

  /** Takes the calls whose turn it is, and marks them as running. */
  #startable(): Entry[] {
    const taken: Entry[] = [];
    const running = this.#entries.filter((entry) => entry.phase === "running");
    for (const entry of this.#entries) {
      if (entry.phase !== "ready") continue;
      const alone = running.length === 0;
      const beside = isShared(entry) && running.every(isShared) && running.length < AT_ONCE;
      if (!alone && !beside) break;
      entry.phase = "running";
      running.push(entry);
      taken.push(entry);
    }
    return taken;
  }

  #intent(entry: Entry): EventBody {
    return { type: "call.executing", message: this.#message, call: entry.call, attempt: 1, key: entry.call };
  }

  async #execute(entry: Entry): Promise<void> {
    const { session, branch, agent, step, signal, origin } = this.#run;
    const { tool, call } = entry;
    if (!tool) throw new Error(`Call ${call} has no tool to run.`);
    const outcome = await execute(tool, entry.input, {
      call,
      attempt: 1,
      key: call,
      signal,
      conversation: session.state,
      path: branch.path,
      step,
      agent: agent.name,
      progress: (text) => session.stream([{ type: "call.output.delta", message: this.#message, call, text }], origin),
    });
    await this.#end(entry, outcome.status, outcome.output);
  }

  async #askPerson(entry: Entry, question: Question): Promise<void> {
    const { session, signal } = this.#run;
    let answer: Answer;
    try {
      answer = await question.answer(signal);
    } catch {
      // Only an abort ends the wait: the question goes, the call is cancelled.
      return this.#end(entry, "cancelled", notExecuted(signal));
    }
    const resolved = {
      type: "call.approval-resolved",
      message: this.#message,
      call: entry.call,
      question: question.id,
      allowed: answer.decision === "allow",
      ...(answer.decision === "allow" && answer.remember ? { remember: answer.remember } : {}),
      ...(answer.decision === "allow" && answer.input !== undefined ? { input: answer.input } : {}),
    } as const;
    await session.commit([resolved], { durable: true, origin: this.#run.origin });
    if (answer.decision === "deny") {
      return this.#end(entry, "denied", `The user denied this call${answer.reason ? `: ${answer.reason}` : "."}`);
    }
    if (answer.input !== undefined) {
      const tool = entry.tool as Tool;
      const verdict = await this.#judge({ id: entry.call, tool: tool.name, inputText: "", input: answer.input });
      if ("ended" in verdict) return this.#end(entry, verdict.ended, verdict.output);
      entry.input = verdict.input;
    }
    entry.phase = "ready";
  }

  async #end(entry: Entry, status: "completed" | "failed" | "denied" | "cancelled", output: string): Promise<void> {
    entry.phase = "ended";
    const ended = { type: `call.${status}`, message: this.#message, call: entry.call, output } as const;
    await this.#run.session.commit([ended], { durable: true, origin: this.#run.origin });
    this.#told(entry);
  }

  #told(entry: Entry): void {
    if (!this.#run.agent.callbacks.onCall) return;
    const message = answerOf(this.#run.session, this.#message);
    const call = message.calls.find((other) => other.id === entry.call);
    if (call) tell(this.#run, "onCall", call, message);
  }

  async #cancelReady(): Promise<void> {
    for (const entry of this.#entries) {
      if (entry.phase === "ready") await this.#end(entry, "cancelled", notExecuted(this.#run.signal));
    }
  }

  /** Whether a call may run: its tool is there, its arguments fit, and the rules do not deny it. */
  async #judge(
    call: AskedCall,
  ): Promise<{ ended: "failed" | "denied"; output: string } | { tool: Tool; input: Json; permit: Permit }> {
    const { toolbox, permission } = this.#run.agent;
    const tool = toolbox.find(call.tool);
    if (!tool) return { ended: "failed", output: toolbox.unknown(call.tool) };
    if (call.input === undefined) {
      return {
        ended: "failed",
        output: `The arguments of "${call.tool}" are not JSON: ${jsonProblem(call.inputText)}. Send one JSON object.`,
      };
    }
    try {
      const checked = await toolbox.check(call.tool, call.input);
      if (!checked.ok)
        return { ended: "failed", output: `The arguments of "${call.tool}" do not fit: ${checked.problem}.` };
      const request = { call: call.id, tool, input: checked.input, conversation: this.#run.session.state };
      const permit = permission ? await permission(request) : ({ decision: "allow" } as const);
      if (permit.decision === "deny") return { ended: "denied", output: `Not allowed: ${permit.reason}` };
      return { tool, input: checked.input, permit };
    } catch (error) {
      // A schema or a rule that throws is a defect of the surroundings: nothing runs, and the model is told.
      return { ended: "failed", output: `Not executed: checking this call failed: ${messageOf(error)}` };
    }
  }
}

/** The result of a call that an abort kept from running. */
export function notExecuted(signal: AbortSignal): string {
  return `Not executed: ${messageOf(signal.reason)}.`;
}

function isShared(entry: Entry): boolean {
  return entry.tool?.effects === "none" || entry.tool?.parallel === true;
}

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
    return "a JSON string inside holds something else";
  } catch (error) {
    return messageOf(error);
  }
}
