import type {
  CallHooks,
  ConversationState,
  FeedItem,
  PermitRequest,
  Session,
  TurnHandler,
  UserPart,
} from "@banyan/core";
import { say } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import { named } from "../attachments/files.ts";
import { type Calling, CallsFor } from "../calls-for.ts";
import { namesakesOf, namesOf } from "../permissions/named-tool.ts";
import type { ApprovalMode } from "../permissions/permissions.ts";
import type { Redact } from "../redaction/redactor.ts";
import { type HookEntries, type HookEvent, hooksAt } from "./entries.ts";
import { hookCall } from "./hook-call.ts";
import { type HookPlace, runHook } from "./run-hook.ts";
import { type HookSaid, saidBy } from "./said.ts";

/** A hook does not let something be said. The message says why. */
class HookError extends Error {
  override readonly name = "HookError";
}

/** Where hooks run, and what they are told of everything. */
export interface HooksOptions extends HookPlace {
  readonly entries: HookEntries;
  readonly redact: Redact;
  /** The names of all MCP servers of the settings. */
  readonly servers?: readonly string[];
  /** What runs without asking. */
  mode(conversation: string | undefined): ApprovalMode;
}

/** What runs without asking, in the words that hooks know. */
const MODES = { plan: "plan", ask: "default", edits: "acceptEdits", all: "bypassPermissions" } as const;

/** Times that a hook may send an agent on that has ended its turn. */
const MOST_STOPS = 5;

/** Characters that hooks add to what a model is told. */
const MOST_TOLD = 10_000;

/**
 * A person's own commands at named points (C1). All that are for a point run at once; of what they want the most careful
 * counts: a denial before a question, a question before a permission. What is wrong with one is said, and stops nothing.
 */
export class Hooks {
  readonly #options: HooksOptions;
  /** Conversations that are open, for what is to be said in them. */
  readonly #sessions = new Map<string, Session>();
  /** What a hook told as the session began, for the first message. */
  readonly #told = new Map<string, Promise<HookSaid>>();
  readonly #stops = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #over = new AbortController();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** Whether there is any. */
  get isEmpty(): boolean {
    return Object.values(this.#options.entries).every((groups) => groups.length === 0);
  }

  /** A conversation is opened, or begun: its hooks hear of it until it is closed. */
  follow(session: Session): void {
    if (this.isEmpty) return;
    const { id } = session;
    const isNew = session.state.messages.size === 0;
    this.#sessions.set(id, session);
    const source = isNew ? "startup" : "resume";
    this.#told.set(id, this.#fire("SessionStart", id, { source }, [source]));
    const callsFor = new CallsFor();
    session.listen({
      items: (items) => {
        for (const item of items) this.#observe(id, item, session.state, callsFor.hear(item, session.state));
      },
      ended: () => {
        this.#sessions.delete(id);
        this.#told.delete(id);
        this.#stops.delete(id);
        this.#inBackground(this.#fire("SessionEnd", id, { reason: "other" }));
      },
    });
  }

  /**
   * Runs the hooks for what a person says. Returns it with what the hooks add. Rejects with `HookError` when one denies it.
   */
  async prompt(session: Session, parts: readonly UserPart[]): Promise<readonly UserPart[]> {
    if (this.isEmpty) return parts;
    const { id } = session;
    const [first] = parts;
    const prompt = first?.type === "text" ? first.text : "";
    const begun = await this.#told.get(id);
    this.#stops.delete(id);
    const said = await this.#fire("UserPromptSubmit", id, { prompt: this.#options.redact(prompt) });
    if (said.decision === "deny") throw new HookError(`A hook does not let this be said: ${said.reason}`);
    this.#told.delete(id);
    const added = [begun?.context, said.context].filter((text) => text !== undefined).join("\n\n");
    return added === "" ? parts : [...parts, named("hook", "UserPromptSubmit", added)];
  }

  /** After a turn: the agent goes on where a hook does not let it stop, with why. */
  readonly onTurn: TurnHandler = async (conversation, agent, turn) => {
    if (turn.reason !== "answered") return undefined;
    const why = await this.#whyNotStop(conversation.state.id, turn.text);
    return why === undefined ? undefined : agent.chat(say(why));
  };

  async #whyNotStop(id: string, last: string): Promise<string | undefined> {
    const before = this.#stops.get(id) ?? 0;
    const fields = { stop_hook_active: before > 0, last_assistant_message: this.#options.redact(last) };
    const said = await this.#fire("Stop", id, fields);
    if (said.decision !== "deny") return undefined;
    if (before >= MOST_STOPS) {
      this.#say(id, "Stop", `A hook has sent the agent on ${MOST_STOPS} times; now the turn ends.`);
      return undefined;
    }
    this.#stops.set(id, before + 1);
    return said.reason;
  }

  /** For the agent: what comes before and after each call. */
  get calls(): CallHooks {
    if (this.isEmpty) return {};
    return {
      beforeCall: async (request) => {
        const call = this.#callOf(request);
        const said = await this.#fire("PreToolUse", request.conversation.id, call.fields, call.names, request.signal);
        if (said.decision === "deny") return { decision: "deny", reason: said.reason ?? "" };
        const decision = this.#allows("PreToolUse", request, said)
          ? "allow"
          : said.decision === "ask"
            ? "ask"
            : undefined;
        return { decision, input: said.input === undefined ? undefined : call.own(said.input) };
      },
      beforeQuestion: async (request) => {
        const call = this.#callOf(request);
        const said = await this.#fire(
          "PermissionRequest",
          request.conversation.id,
          call.fields,
          call.names,
          request.signal,
        );
        if (said.decision === "deny") return { decision: "deny", reason: said.reason ?? "" };
        return this.#allows("PermissionRequest", request, said) ? { decision: "allow" } : undefined;
      },
      afterCall: async (request) => {
        const call = this.#callOf(request);
        const fields = { ...call.fields, tool_response: { output: request.output, status: request.status } };
        const said = await this.#fire("PostToolUse", request.conversation.id, fields, call.names, request.signal);
        return said.decision === "deny" ? said.reason : said.context;
      },
    };
  }

  /** Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    this.#over.abort();
  }

  /** Whether a hook allows the call. A name that fits several servers tells a hook of none of them, so it allows nothing. */
  #allows(event: HookEvent, { tool, conversation }: PermitRequest, { decision }: HookSaid): boolean {
    if (decision !== "allow") return false;
    const others = namesakesOf(tool, this.#options.servers ?? []);
    if (others.length === 0) return true;
    const [name] = namesOf(tool);
    const servers = [tool.offeredBy, ...others].join(" and ");
    this.#say(
      conversation.id,
      event,
      `A hook allowed ${name}, and the name fits the MCP servers ${servers}. So the call is judged without the hook. Rename one of the servers.`,
    );
    return false;
  }

  #callOf({ tool, input, call, run }: PermitRequest) {
    const { names, tool_name, tool_input, own } = hookCall(tool, input, this.#options.directory);
    return { names, own, fields: { tool_name, tool_input, tool_use_id: call, turn_id: run } };
  }

  /** What is only told, and waited for by nobody. */
  #observe(id: string, item: FeedItem, state: ConversationState, calling: Calling | undefined): void {
    const fire = (event: HookEvent, fields: object, names: readonly string[] = []) =>
      this.#inBackground(this.#fire(event, id, fields, names));
    if (calling) {
      const { type, sentence } = calling;
      fire("Notification", { notification_type: type, message: this.#options.redact(sentence) }, [type]);
    }
    switch (item.type) {
      case "context.shortening":
        return fire("PreCompact", { trigger: "auto" }, ["auto"]);
      case "message.added":
        if (item.role === "summary") fire("PostCompact", { trigger: "auto" }, ["auto"]);
        return;
      case "run.started":
        if (item.call !== undefined)
          fire("SubagentStart", { agent_id: item.run, agent_type: item.agent }, [item.agent]);
        return;
      case "run.ended":
        if (state.messages.get(item.leaf ?? "")?.call !== undefined)
          fire("SubagentStop", { agent_id: item.run, stop_hook_active: false });
        return;
    }
  }

  /** Runs the hooks of a point that are for one of these names; what they want together. */
  async #fire(
    event: HookEvent,
    conversation: string,
    fields: object,
    names: readonly string[] = [],
    signal: AbortSignal = this.#over.signal,
  ): Promise<HookSaid> {
    const { entries, directory, env, mode } = this.#options;
    const hooks = hooksAt(entries, event).filter((hook) => hook.isFor(names));
    if (hooks.length === 0) return {};
    const input = {
      session_id: conversation,
      transcript_path: null,
      cwd: directory,
      permission_mode: MODES[mode(conversation)],
      hook_event_name: event,
      ...fields,
    };
    const all = await Promise.all(
      hooks.map(async (hook) => {
        const said = saidBy(event, await runHook(hook, input, { directory, env }, signal));
        if (said.problem !== undefined && !signal.aborted)
          this.#say(conversation, event, `The hook ${visibleLine(hook.command)} ${said.problem.trim()}.`);
        return said;
      }),
    );
    return together(all, this.#options.redact);
  }

  #say(conversation: string, event: HookEvent, sentence: string): void {
    // A conversation that is closed has nobody to hear it.
    this.#sessions.get(conversation)?.notify({ type: "callback.failed", callback: event, reason: sentence });
  }

  #inBackground(work: Promise<unknown>): void {
    this.#running.add(work);
    work
      .finally(() => this.#running.delete(work))
      .catch(() => {
        // A hook that fails is told by its point.
      });
  }
}

/** What several hooks want together: the most careful counts, and what they tell is told one below the other. */
function together(all: readonly HookSaid[], redact: Redact): HookSaid {
  const decision = (["deny", "ask", "allow"] as const).find((one) => all.some((said) => said.decision === one));
  const texts = (name: "reason" | "context", of: readonly HookSaid[]) => {
    const text = of.flatMap((said) => said[name] ?? []).join("\n\n");
    return text === "" ? undefined : redact(text).slice(0, MOST_TOLD);
  };
  return {
    decision,
    reason: texts(
      "reason",
      all.filter((said) => said.decision === decision),
    ),
    context: texts("context", all),
    input: all.findLast((said) => said.input !== undefined)?.input,
  };
}
