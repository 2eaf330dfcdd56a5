import { setTimeout as sleep } from "node:timers/promises";
import type {
  Agent,
  CallHooks,
  ConversationState,
  FeedItem,
  PermitRequest,
  Session,
  Tool,
  TurnHandler,
  UserPart,
} from "@banyan/core";
import { say } from "@banyan/core";
import type { BeforeSummary, SummaryRequest } from "@banyan/core/hosts";
import { errorMessage, visibleLine } from "@banyan/core/shown";
import { RunningCommands } from "@banyan/tools/processes";
import { attachedTextPart } from "../attachments/files.ts";
import { namesakesOf, toolRuleNames } from "../permissions/named-tool.ts";
import type { ApprovalMode } from "../permissions/rule.ts";
import type { Redact } from "../redaction/redactor.ts";
import { type AttentionReason, CallsFor } from "./calls-for.ts";
import { type Hook, type HookEntries, hooksAt } from "./entries.ts";
import { hidingWords } from "./hiding-words.ts";
import { coversCall, formsFor, type HookCall, hookCalls } from "./hook-call.ts";
import type { HookEvent } from "./hook-event.ts";
import { type HookReply, mergeReplies, readHookReply } from "./hook-reply.ts";
import { type HookContext, type HookEnd, runHook } from "./run-hook.ts";

class HookError extends Error {
  override readonly name = "HookError";
}

/** Options of `Hooks`. */
export interface HooksOptions extends HookContext {
  readonly entries: HookEntries;
  readonly redact: Redact;
  /** The names of all MCP servers in the settings. */
  readonly servers?: readonly string[];
  /** The commands of the project's hooks. */
  readonly theirs?: ReadonlySet<string>;
  /**
   * Returns the paths that the project's hooks must not open (S42). If the function rejects, such a hook does not run.
   */
  readonly hidden?: () => Promise<readonly string[]>;
  /** Returns the current tools of the agent of this name in a conversation. */
  readonly tools?: (agent: string | undefined, state: ConversationState) => readonly Tool[];
  mode(conversation: string | undefined): ApprovalMode;
}

/** Approval modes by their names in hooks. */
const MODES = {
  plan: "plan",
  ask: "default",
  edits: "acceptEdits",
  sandbox: "acceptEdits",
  all: "bypassPermissions",
} as const;

/** Maximum times that `Stop` hooks may continue an agent in one turn. */
const MOST_STOPS = 5;

/** The reason for denying a call whose changed input fits no single argument. */
const NO_PLACE = "a hook changed what the call is about, and no single argument of the call holds that.";

/** A form of the event for a hook, and how its answer applies. */
interface HookForm {
  readonly fields?: object;
  /** True if a matching hook can allow the call. */
  readonly allows?: boolean;
  readonly own?: HookCall["own"];
}

/** Milliseconds that async hooks may still run when the program ends. */
const ASYNC_REST = 1_000;

/**
 * Runs users' commands at events of conversations (C1). All hooks of an event run in parallel, and the strictest answer
 * has effect: deny before ask, ask before allow. A failing hook is reported, and stops nothing.
 */
export class Hooks {
  readonly #options: HooksOptions;
  readonly #sessions = new Map<string, Session>();
  /** Output of session start hooks, for the next message. */
  readonly #told = new Map<string, readonly Promise<HookReply>[]>();
  readonly #stops = new Map<string, number>();
  /** Runs of summaries that a user asked for. */
  readonly #manual = new Set<string>();
  /** Context from `PreToolUse` hooks, until the call has its result. */
  readonly #contexts = new Map<string, string>();
  readonly #agents = new Map<string, string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #async = new Set<Promise<unknown>>();
  readonly #left = new RunningCommands();
  readonly #over = new AbortController();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return Object.values(this.#options.entries).every((groups) => groups.length === 0);
  }

  /** Runs the hooks of a conversation until it is closed. */
  follow(session: Session): void {
    if (this.isEmpty) return;
    const { id } = session;
    const isNew = session.state.messages.size === 0;
    this.#sessions.set(id, session);
    this.#start(id, isNew ? "startup" : "resume");
    const callsFor = new CallsFor();
    session.listen({
      items: (items) => {
        for (const item of items) this.#observe(id, item, callsFor.hear(item, session.state));
      },
      ended: () => {
        this.#sessions.delete(id);
        this.#told.delete(id);
        this.#stops.delete(id);
        this.#inBackground(this.#fire("SessionEnd", id, { reason: "other" }, undefined, forNames(["other"])));
      },
    });
  }

  /** Returns a user message with the hooks' additions. Rejects with `HookError` if a hook denies the message. */
  async prompt(session: Session, parts: readonly UserPart[]): Promise<readonly UserPart[]> {
    if (this.isEmpty) return parts;
    const { id } = session;
    const [first] = parts;
    const prompt = first?.type === "text" ? first.text : "";
    const begun = await Promise.all(this.#told.get(id) ?? []);
    this.#stops.delete(id);
    const said = await this.#fire("UserPromptSubmit", id, { prompt: this.#options.redact(prompt) });
    if (said.decision === "deny") throw new HookError(`Blocked by a hook: ${said.reason}`);
    this.#told.delete(id);
    const added = [...begun, said].flatMap(({ context }) => context ?? []).join("\n\n");
    return added === "" ? parts : [...parts, attachedTextPart("hook", "UserPromptSubmit", added)];
  }

  /**
   * Runs the hooks at the end of a turn. If a hook blocks the end, the agent continues with its reason and within the
   * same limits (F100).
   */
  readonly onTurn: TurnHandler = async (conversation, agent, turn) => {
    if (turn.reason !== "answered" && turn.reason !== "finished") return undefined;
    const why = await this.#whyNotStop(conversation.state.id, turn.text);
    return why === undefined
      ? undefined
      : this.#renewed(agent, conversation.state).chat(say(why), { sharesLimits: true });
  };

  /** MCP servers may have added tools since the last turn began (F108). */
  #renewed(agent: Agent, state: ConversationState): Agent {
    const { name, tools = [] } = agent.options;
    const now = this.#options.tools?.(name, state) ?? [];
    const names = new Set(now.map((tool) => tool.name));
    return now.length === 0 ? agent : agent.with({ tools: [...now, ...tools.filter((tool) => !names.has(tool.name))] });
  }

  async #whyNotStop(id: string, last: string): Promise<string | undefined> {
    const before = this.#stops.get(id) ?? 0;
    const fields = { stop_hook_active: before > 0, last_assistant_message: this.#options.redact(last) };
    const said = await this.#fire("Stop", id, fields);
    if (said.decision !== "deny") return undefined;
    if (before >= MOST_STOPS) {
      this.#say(id, "Stop", `A hook made the agent continue ${MOST_STOPS} times. The turn ends now.`);
      return undefined;
    }
    this.#stops.set(id, before + 1);
    return said.reason;
  }

  get calls(): CallHooks {
    if (this.isEmpty) return {};
    return {
      beforeCall: async (request) => {
        const { decision, reason = "", input, context } = await this.#fireFor("PreToolUse", request);
        if (decision === "deny") return { decision, reason: joinTexts(reason, context) };
        if (context !== undefined) this.#contexts.set(request.call, context);
        return { decision, input };
      },
      beforeQuestion: async (request) => {
        const { decision, reason = "" } = await this.#fireFor("PermissionRequest", request);
        if (decision === "deny") return { decision, reason };
        return decision === "allow" ? { decision } : undefined;
      },
      beforeSummary: (request) => this.#beforeSummary(request),
      afterCall: async (request) => {
        const response = { tool_response: { output: request.output, status: request.status } };
        const said = await this.#fireFor("PostToolUse", request, response);
        const context = this.#contexts.get(request.call);
        return joinTexts(context, said.decision === "deny" ? said.reason : said.context) || undefined;
      },
    };
  }

  /** Returns the hooks' additions. A hook can only stop a summary that a user asked for. */
  async #beforeSummary({
    trigger,
    wanted = "",
    conversation: { id },
    run,
    signal,
  }: SummaryRequest): Promise<BeforeSummary> {
    const fields = { trigger, custom_instructions: this.#options.redact(wanted) };
    const said = await this.#fire("PreCompact", id, fields, signal, forNames([trigger]));
    const { decision, reason = "", context } = said;
    if (decision !== "deny") {
      if (trigger === "manual") this.#manual.add(run);
      return { instructions: context };
    }
    if (trigger === "manual") return { decision, reason };
    this.#say(
      id,
      "PreCompact",
      `A hook tried to block a summary. The context needs the summary, so Banyan ignored the hook. ${reason}`,
    );
    return {};
  }

  /** Resolves when no hook runs any more. Stops async hooks and processes in the background after a second (F17). */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    const rest = Promise.allSettled(this.#async);
    await waitAtMost(ASYNC_REST, rest);
    this.#over.abort();
    await rest;
    await this.#left.end();
  }

  /** The output is added to the next message. */
  #start(id: string, source: "startup" | "resume" | "compact"): void {
    const said = this.#fire("SessionStart", id, { source }, undefined, forNames([source]));
    this.#told.set(id, [...(this.#told.get(id) ?? []), said]);
  }

  /** Runs the hooks of a call. A hook gets each act of the call that it matches. */
  async #fireFor(event: HookEvent, request: PermitRequest, more: object = {}): Promise<HookReply> {
    const { tool, input, call, run, conversation, signal } = request;
    const { directory } = this.#options;
    const calls = hookCalls(tool, input, directory);
    const isMeant = ({ rule }: Hook) => rule === undefined || coversCall(rule, request, directory);
    const said = await this.#fire(
      event,
      conversation.id,
      { tool_use_id: call, turn_id: run, ...more },
      signal,
      (hook) =>
        (isMeant(hook) ? formsFor(calls, tool, hook.isFor) : []).map(({ nameFor, tool_input, own }) => ({
          fields: { tool_name: nameFor(hook.isFor), tool_input },
          // To allow another program's call, a hook must name the tool. A hook on a kind of act can only deny.
          allows: tool.offeredBy === undefined || hook.isFor(calls[0]?.self ?? []),
          own,
        })),
    );
    return said.decision === "allow" && !this.#allows(event, request) ? { ...said, decision: undefined } : said;
  }

  /** A name that fits several servers identifies no server, and allows no call. */
  #allows(event: HookEvent, { tool, conversation }: PermitRequest): boolean {
    const others = namesakesOf(tool, this.#options.servers ?? []);
    if (others.length === 0) return true;
    const [name] = toolRuleNames(tool);
    const servers = [tool.offeredBy, ...others].join(" and ");
    this.#say(
      conversation.id,
      event,
      `A hook allowed the call of ${name}. Several MCP servers have a tool of this name (${servers}), so the hook has no effect. Rename one of the servers.`,
    );
    return false;
  }

  /** Does not wait for these hooks, which only observe. */
  #observe(id: string, item: FeedItem, calling: AttentionReason | undefined): void {
    const fire = (event: HookEvent, fields: object, names: readonly string[] = []) =>
      this.#inBackground(this.#fire(event, id, fields, undefined, forNames(names)));
    if (calling) {
      const { type, sentence } = calling;
      fire("Notification", { notification_type: type, message: this.#options.redact(sentence) }, [type]);
    }
    switch (item.type) {
      case "message.added": {
        // Such a message only shortens results of calls.
        if (item.role !== "summary" || item.covers === undefined) return;
        const trigger = this.#manual.delete(item.run ?? "") ? "manual" : "auto";
        this.#start(id, "compact");
        return fire("PostCompact", { trigger }, [trigger]);
      }
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        this.#contexts.delete(item.call);
        return;
      case "context.not-shortened":
        this.#manual.delete(item.run);
        return;
      case "run.started":
        if (item.call === undefined) return;
        this.#agents.set(item.run, item.agent);
        return fire("SubagentStart", { agent_id: item.run, agent_type: item.agent }, [item.agent]);
      case "run.ended": {
        const agent = this.#agents.get(item.run);
        if (agent === undefined) return;
        this.#agents.delete(item.run);
        return fire("SubagentStop", { agent_id: item.run, agent_type: agent, stop_hook_active: false }, [agent]);
      }
    }
  }

  /** Runs the hooks of an event, each with the forms that it matches, and combines their answers. */
  async #fire(
    event: HookEvent,
    conversation: string,
    fields: object,
    signal: AbortSignal = this.#over.signal,
    formsOf: (hook: Hook) => readonly HookForm[] = () => [{}],
  ): Promise<HookReply> {
    const { entries, directory, mode } = this.#options;
    const hooks = hooksAt(entries, event).map((hook) => ({ hook, forms: formsOf(hook) }));
    if (hooks.every(({ forms }) => forms.length === 0)) return {};
    const input = {
      session_id: conversation,
      transcript_path: null,
      cwd: directory,
      permission_mode: MODES[mode(conversation)],
      hook_event_name: event,
      ...fields,
    };
    const run = async ({ hook, forms }: (typeof hooks)[number], until: AbortSignal) => {
      const said: HookReply[] = [];
      for (const form of forms) {
        const end = await this.#ended(hook, { ...input, ...form.fields }, until);
        const one = applicableReply(readHookReply(event, end, hook.command), form);
        if (one.problem !== undefined && !until.aborted)
          this.#say(conversation, event, `The ${event} hook ${visibleLine(hook.command)} ${one.problem.trim()}.`);
        said.push(one);
        if (one.decision === "deny") break;
      }
      const isAllowed = said.every(({ decision }) => decision === "allow");
      return said.map((one) => (one.decision === "allow" && !isAllowed ? { ...one, decision: undefined } : one));
    };
    // An async hook outlives the call, and ends with the program.
    for (const one of hooks) if (one.hook.async) this.#inBackground(run(one, this.#over.signal), this.#async);
    const awaited = hooks.filter(({ hook }) => !hook.async);
    const all = await Promise.all(awaited.map((one) => run(one, signal)));
    return mergeReplies(all.flat(), this.#options.redact);
  }

  async #ended(hook: Hook, input: object, until: AbortSignal): Promise<HookEnd> {
    const { directory, env, theirs, hidden } = this.#options;
    try {
      const paths = theirs?.has(hook.command) ? ((await hidden?.()) ?? []) : [];
      const before = hidingWords(paths, { env, folder: directory });
      return await runHook(hook, input, { directory, env, before }, until, this.#left);
    } catch (error) {
      return { problem: `did not run: ${errorMessage(error)}` };
    }
  }

  #say(conversation: string, event: HookEvent, sentence: string): void {
    const reason = this.#options.redact(sentence);
    this.#sessions.get(conversation)?.notify({ type: "callback.failed", callback: event, reason, isHook: true });
  }

  #inBackground(work: Promise<unknown>, among = this.#running): void {
    among.add(work);
    work.finally(() => among.delete(work)).catch(() => {});
  }
}

function joinTexts(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== "").join("\n\n");
}

async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, sleep(milliseconds, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}

function forNames(names: readonly string[]): (hook: Hook) => readonly HookForm[] {
  return (hook) => (hook.isFor(names) ? [{}] : []);
}

/** The answer of a hook, as far as it can apply to the call. */
function applicableReply(said: HookReply, { own, allows = true }: HookForm): HookReply {
  const { decision, input } = said;
  const one = decision === "allow" && !allows ? { ...said, decision: undefined } : said;
  if (input === undefined || own === undefined) return one;
  const taken = own(input);
  return taken === undefined ? { ...said, decision: "deny", reason: NO_PLACE } : { ...one, input: taken };
}
