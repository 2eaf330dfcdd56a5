import { storedFiles } from "../conversation/brought-file.ts";
import type { EventBody } from "../conversation/event.ts";
import { type About, type Call, isEnded, type Preview } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { hasOpenQuestion } from "../conversation/tree/asking-run.ts";
import { callFields, callIn } from "../conversation/tree/call-state.ts";
import { orAborted } from "../model/alarm.ts";
import { decidedByRule } from "../past/answers.ts";
import { endBelow } from "../past/end-of-waiting.ts";
import { textDigest } from "../ports/runtime.ts";
import type { Tool } from "../ports/tool.ts";
import type { Answer } from "../ports/verdict.ts";
import { assistantMessage } from "../run/branch.ts";
import { type EndingCall, withRepeats } from "../run/repeats.ts";
import { notify, type TurnRun } from "../run/run.ts";
import { isReaderGone } from "../session/error.ts";
import type { AskedQuestion } from "../session/questions.ts";
import { isSameInput } from "../toolbox/checked-input.ts";
import { type ExecutionOutcome, execute, notExecuted, previewOf } from "../toolbox/execute.ts";
import { type AskedCall, pendingCall } from "./asked-call.ts";
import type { EagerCalls } from "./eager.ts";
import { type CallVerdict, judge, permitRequest, type Runnable, unfitAnswer } from "./judge.ts";
import { aboutJudgedCall, judgeAgain, previewContext } from "./judge-again.ts";
import { toolContext } from "./tool-context.ts";

const NOBODY = "Not allowed: this call needs a user's approval, and no user can be asked here.";

/**
 * The phases of a call.
 * ```
 * asked ──▶ ended                     unknown, malformed, denied: the result is known at once
 *   ├─────▶ ready ──▶ running ──▶ ended
 *   ╰─────▶ waiting (for a user) ──▶ ready | ended
 *              ╰──▶ left: the session or the reader goes, and the question stays open in the log
 * ```
 */
interface CallEntry {
  readonly call: string;
  readonly tool: Tool | undefined;
  /** The checked arguments, as logged and shown. */
  input: Json;
  /** The checked arguments in the form for the tool. */
  value: unknown;
  /** The preview of the effects that a user sees before agreeing. */
  preview: Preview | undefined;
  /** Subject of the call after a user changed the arguments. */
  about?: About | undefined;
  phase: "ready" | "waiting" | "running" | "ended" | "left";
  readonly question: AskedQuestion | undefined;
  /** Number of the next start, from 1. */
  readonly attempt: number;
}

/** An entry whose call waits for a user's answer. */
type AskedEntry = Omit<CallEntry, "phase" | "question" | "tool"> & { readonly tool: Tool };

type CallEndStatus = "completed" | "failed" | "denied" | "cancelled";

interface PrepareOptions {
  readonly refusal?: string | undefined;
  /** Starts no call before `run` is called. */
  readonly later?: boolean;
  /** True if the log already has the calls as the model wrote them. */
  readonly logged?: boolean;
}

/**
 * The calls of one response, in order. Consecutive calls without effects run together, up to the agent's limit. A call
 * with effects runs alone. If a call waits for a user, later calls can start first. Each call gets one result.
 */
export class CallBatch {
  readonly #run: TurnRun;
  readonly #message: string;
  readonly #eager: EagerCalls | undefined;
  readonly #entries: CallEntry[] = [];
  readonly #active = new Set<Promise<void>>();
  /** The program's rules or a hook returned no known decision: throw this after `run`. */
  defect: Error | undefined;

  /** With `eager`, some calls may have begun while the response was streaming. */
  constructor(run: TurnRun, message: string, eager?: EagerCalls) {
    this.#run = run;
    this.#message = message;
    this.#eager = eager;
  }

  /**
   * Judges each call. Returns the events to log together with the response: checked calls, results of calls that cannot
   * run, questions, and (unless `later`) the intents of the calls that start first. With `refusal`, no call runs and
   * each gets the refusal as its result.
   */
  async prepare(
    asked: readonly AskedCall[],
    { refusal, later = false, logged = false }: PrepareOptions = {},
  ): Promise<EventBody[]> {
    const calls: EventBody[] = [];
    const events: EventBody[] = [];
    for (const call of asked) {
      const verdict =
        refusal === undefined ? await judge(this.#run, call) : { ended: "failed" as const, output: refusal };
      const checked = "ended" in verdict ? call : { ...call, input: verdict.input };
      const about = await aboutJudgedCall(this.#run, verdict, call.tool);
      const isKnown = logged && about === undefined && isSameInput(checked.input, call.input);
      if (!isKnown) calls.push(pendingCall(this.#message, checked, about));
      events.push(...(await this.#enter(call, verdict, 1)));
    }
    if (!later) for (const entry of this.#startable()) events.push(this.#intent(entry));
    return [...calls, ...events];
  }

  /** Continues the open calls of a response from a stopped process (B24), and returns the events to log first. */
  async recover(calls: readonly Call[]): Promise<EventBody[]> {
    const events: EventBody[] = [];
    for (const call of calls) {
      if (isEnded(call.status)) continue;
      const { verdict, about, isAsShown, open } = await judgeAgain(this.#run, call);
      // A user has denied the call meanwhile.
      if (isEnded(call.status)) continue;
      // The process goes away before the question is asked again: the question stays open for the next process (F72).
      if (this.#stays(call.id)) continue;
      const attempt = call.attempt + 1;
      const decision = "ended" in verdict ? undefined : verdict.permit.decision;
      if (open && isAsShown && decision === "ask" && !this.#run.agent.unattended) {
        // Asks the same question again, under the same id.
        this.#wait({ call: call.id, ...(verdict as Runnable), preview: open.preview, attempt }, open.id);
        continue;
      }
      if (open && decision === "allow") events.push(decidedByRule(open));
      // A new question must be about the arguments that will run now.
      if (!isAsShown && !("ended" in verdict)) {
        const { id, tool, inputText, via } = call;
        events.push(pendingCall(this.#message, { id, tool, inputText, via, input: verdict.input }, about));
      }
      events.push(...(await this.#enter(call, verdict, attempt)));
    }
    for (const entry of this.#startable()) events.push(this.#intent(entry));
    return events;
  }

  /** Adds a call that a user must decide, with a new question or with `open`, a question in the log. */
  #wait({ tool, ...asked }: AskedEntry, open?: string): AskedQuestion {
    const question = this.#run.session.ask((written) => unfitAnswer(this.#run, tool.name, written), open);
    this.#entries.push({ ...asked, tool, phase: "waiting", question });
    return question;
  }

  async #enter(asked: AskedCall | Call, verdict: CallVerdict, attempt: number): Promise<EventBody[]> {
    const call = asked.id;
    const entry = { call, attempt, question: undefined, preview: undefined };
    if ("ended" in verdict) {
      this.defect ??= verdict.defect;
      this.#entries.push({ ...entry, tool: undefined, input: null, value: null, phase: "ended" });
      const ending = { ...asked, status: verdict.ended, output: verdict.output };
      const output = withRepeats(ending, this.#noting(call, ending));
      return [
        { type: `call.${verdict.ended}`, ...callFields(this.#message, asked), output },
        ...endBelow(this.#run.session, call),
      ];
    }
    const { tool, input, value, permit } = verdict;
    if (permit.decision === "ask" && this.#run.agent.unattended) {
      return this.#enter(asked, { ended: "denied", output: NOBODY }, attempt);
    }
    if (permit.decision === "allow") {
      this.#entries.push({ ...entry, tool, input, value, phase: "ready" });
      return [];
    }
    const preview = await previewOf(tool, value, previewContext(this.#run));
    const question = this.#wait({ call, tool, input, value, preview, attempt });
    const shown = callFields(this.#message, { id: call, tool: tool.name, input });
    const { pattern } = permit;
    const requested = { type: "call.approval-requested", ...shown, question: question.id } as const;
    const survives = this.#run.survives ? {} : ({ survives: false } as const);
    return [{ ...requested, ...(pattern !== undefined && { pattern }), ...(preview && { preview }), ...survives }];
  }

  /** True if a call with effects is about to start: its intent must survive a power cut. */
  get hasEffects(): boolean {
    return this.#entries.some(({ phase, tool }) => phase === "running" && tool?.effects !== "none");
  }

  /** Runs the calls until each has its result. The events of `prepare` must be in the log. */
  async run(): Promise<void> {
    for (const entry of this.#entries) {
      if (entry.phase === "running") this.#track(this.#execute(entry));
      else if (entry.question) this.#track(this.#askPerson(entry, entry.question));
      else if (entry.phase === "ended" && this.#run.agent.callbacks.onCall) this.#track(this.#told(entry));
    }
    try {
      await this.#runToTheEnd();
    } catch (error) {
      // The session cannot write any more and has aborted the calls. No call may continue after the rejection.
      await Promise.allSettled(this.#active);
      throw error;
    }
  }

  async #runToTheEnd(): Promise<void> {
    while (this.#active.size > 0 || this.#entries.some((entry) => entry.phase === "ready")) {
      // A user may interrupt between approval and start. A call without an intent in the log ends here. For a call with
      // an intent, `execute` checks again just before the tool starts. After that only the tool can end the call.
      if (this.#run.signal.aborted) await this.#cancelReady(notExecuted(this.#run.signal));
      const next = this.#startable();
      if (next.length > 0) {
        await this.#run.session.commit(
          next.map((entry) => this.#intent(entry)),
          { durable: this.hasEffects, origin: this.#run.origin },
        );
        for (const entry of next) this.#track(this.#execute(entry));
      }
      if (this.#active.size > 0) await Promise.race(this.#active);
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#active.delete(tracked));
    this.#active.add(tracked);
    // `run` awaits this promise. If two calls fail at once, `run` rejects with the first error.
    tracked.catch(() => {});
  }

  /** Takes the calls that may start now, and marks them as running. */
  #startable(): CallEntry[] {
    const taken: CallEntry[] = [];
    if (this.#run.signal.aborted) return taken;
    const running = this.#entries.filter((entry) => entry.phase === "running");
    for (const entry of this.#entries) {
      if (entry.phase !== "ready") continue;
      const alone = running.length === 0;
      const beside = isShared(entry) && running.every(isShared) && running.length < this.#run.agent.callsAtOnce;
      if (!alone && !beside) break;
      entry.phase = "running";
      running.push(entry);
      taken.push(entry);
    }
    return taken;
  }

  #intent(entry: CallEntry): EventBody {
    return {
      type: "call.executing",
      message: this.#message,
      call: entry.call,
      ...(entry.tool && { tool: entry.tool.name }),
      attempt: entry.attempt,
      key: this.#key(entry),
      ...(entry.about && { about: entry.about }),
    };
  }

  /** Ids of calls are unique only in their conversation, but a service gets calls of many conversations. */
  #key(entry: CallEntry): string {
    return `${this.#message}.${entry.call}`;
  }

  async #execute(entry: CallEntry): Promise<void> {
    const { tool, call, input, value, attempt, preview } = entry;
    if (!tool) throw new Error(`Call ${call} has no tool to run.`);
    const running = { message: this.#message, call, attempt, key: this.#key(entry), tool, input, agreed: preview };
    // A user may have changed the arguments, so an early result may not fit.
    const begun = entry.question ? undefined : await this.#eager?.outcome(call, input);
    const contextFor = (signal: AbortSignal) => toolContext(this.#run, running, signal);
    const outcome = begun ?? (await execute(tool, value, this.#run.signal, contextFor, this.#run.agent.model));
    if (this.#stays(call)) {
      entry.phase = "left";
      return;
    }
    const told = await this.#withHook(entry, outcome);
    await this.#end(entry, told.status, told.output, told);
  }

  async #withHook({ tool, call, input }: CallEntry, outcome: ExecutionOutcome): Promise<ExecutionOutcome> {
    const { hooks } = this.#run.agent;
    const { status, output, modelOutput } = outcome;
    if (!tool || !hooks.afterCall || (status !== "completed" && status !== "failed")) return outcome;
    try {
      const request = permitRequest(this.#run, call, tool, input);
      const added = await orAborted(hooks.afterCall({ ...request, status, output }), this.#run.signal);
      if (added === undefined) return outcome;
      const forModel = modelOutput === undefined ? {} : { modelOutput: `${modelOutput}\n\n${added}` };
      return { ...outcome, output: `${output}\n\n${added}`, ...forModel };
    } catch {
      // The effects of the call remain, so its result is kept without the hook's text.
      return outcome;
    }
  }

  async #askPerson(entry: CallEntry, question: AskedQuestion): Promise<void> {
    const { session, signal, origin } = this.#run;
    let answer: Answer;
    const { call } = entry;
    try {
      using _ = this.#run.budget.stopClock();
      answer = await question.answer(signal);
    } catch {
      // Only an abort ends the wait. The call is then cancelled, unless only this process goes away.
      if (!this.#stays(call)) return this.#end(entry, "cancelled", notExecuted(signal));
      entry.phase = "left";
      return;
    }
    await session.resolve({ type: "approval", id: question.id, message: this.#message, call }, answer, origin);
    if (answer.decision !== "allow") {
      entry.phase = "ended";
      if (this.#run.agent.callbacks.onCall) await this.#told(entry);
      return;
    }
    if (answer.input !== undefined) {
      const tool = (entry.tool as Tool).name;
      const written = { id: call, tool, inputText: "", input: answer.input };
      const verdict = await judge(this.#run, written, { seen: true });
      if ("ended" in verdict) return this.#end(entry, verdict.ended, verdict.output);
      entry.input = verdict.input;
      entry.value = verdict.value;
      entry.about = await aboutJudgedCall(this.#run, verdict, tool);
      // The preview was made for other arguments.
      entry.preview = undefined;
    }
    entry.phase = "ready";
  }

  /** True if only this process goes away while the call or its sub-agent asks a user: the call then gets no result. */
  #stays(call: string): boolean {
    const { survives, signal, session } = this.#run;
    return survives && isReaderGone(signal) && hasOpenQuestion(session.state, call);
  }

  async #end(
    entry: CallEntry,
    status: CallEndStatus,
    output: string,
    gathered: Partial<ExecutionOutcome> = {},
  ): Promise<void> {
    entry.phase = "ended";
    const { call, tool, input } = entry;
    const ran = tool
      ? callFields(this.#message, { id: call, tool: tool.name, input })
      : { message: this.#message, call };
    const ending = { tool: tool?.name ?? "", input, status, output };
    const times = this.#noting(call, ending);
    const said = withRepeats(ending, times);
    const { modelOutput: text } = gathered;
    const forModel = text !== undefined && { modelOutput: withRepeats({ ...ending, output: text }, times) };
    const { stored, named } = storedFiles(gathered.files ?? [], this.#run.session.state.files, textDigest);
    const { seen, changedFiles } = gathered;
    const found = { ...(seen?.length && { seen }), ...(changedFiles && { changedFiles }) };
    const more = { ...(named.length > 0 && { files: named }), ...found };
    const ended = { type: `call.${status}`, ...ran, output: said, ...forModel, ...more } as const;
    const events = [...stored, ended, ...endBelow(this.#run.session, call)];
    await this.#run.session.commit(events, { durable: true, origin: this.#run.origin });
    if (this.#run.agent.callbacks.onCall) await this.#told(entry);
  }

  /** Counts the outcome of a call. Returns how many times in a row the call had the same outcome. */
  #noting(id: string, ending: EndingCall): number {
    const { session, repeats, budget } = this.#run;
    const times = repeats.count(ending, this.#message);
    budget.repeated(times);
    if (callIn(session.state, { call: id, message: this.#message })?.changes?.length) repeats.forget();
    return times;
  }

  async #told(entry: CallEntry): Promise<void> {
    const message = assistantMessage(this.#run.session, this.#message);
    const call = message.calls.find((other) => other.id === entry.call);
    if (call) await notify(this.#run, "onCall", call, message);
  }

  async #cancelReady(why: string): Promise<void> {
    for (const entry of this.#entries) {
      if (entry.phase === "ready") await this.#end(entry, "cancelled", why);
    }
  }
}

function isShared(entry: CallEntry): boolean {
  return entry.tool?.effects === "none" || entry.tool?.parallel === true;
}
