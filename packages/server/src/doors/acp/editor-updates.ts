import type { SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { type DisplayItem, displayItem, GIVEN_UP, type NoticeDisplay, WrittenParts } from "@banyan/client/display";
import { compactedLine } from "@banyan/client/words";
import { createId } from "@banyan/core";
import {
  type AssistantMessage,
  type Call,
  type ConversationState,
  type FeedItem,
  isUserMessage,
  type MessageAdded,
  type Part,
  type PlanStep,
  pathTo,
  type UserPart,
} from "@banyan/core/conversation";
import { NEW_PROBLEMS, planOnPath, problemsIn } from "@banyan/core/shown";
import type { EditorBranch } from "./branch.ts";
import { progressOf, toolCallOf } from "./calls.ts";
import { contentBlock } from "./content.ts";

/** An update for an editor, about its session or that of a sub-agent. */
export interface Update {
  readonly sessionId: string;
  readonly update: SessionUpdate;
}

/** The capabilities that an editor announced. */
export interface Abilities {
  readonly notices: boolean;
  readonly compaction: boolean;
  readonly subagents: boolean;
  readonly elicitation: boolean;
  readonly readTextFile: boolean;
}

const PROGRESS_EVERY = 250;

/** The branch that the updates are about, and the editor that gets them. */
export interface EditorUpdatesParts {
  readonly sessionId: string;
  readonly branch: EditorBranch;
  readonly workspace: string;
  readonly abilities: Abilities;
  /** Returns whether a message came from this editor, which already shows it. */
  isOwn(message: string): boolean;
  contextSize(model: string): number | undefined;
}

/** Converts the feed items of a branch into updates for an editor. */
export class EditorUpdates {
  readonly #parts: EditorUpdatesParts;
  /** The text of unfinished messages that the editor already has. */
  readonly #written = new WrittenParts();
  readonly #calls = new Map<string, string>();
  /** The text of each sub-agent, by the id of the call that launched it, for editors without sub-agent sessions. */
  readonly #saying = new Map<string, string>();
  readonly #progress = new Map<string, number>();
  #compaction: string | undefined;

  constructor(parts: EditorUpdatesParts) {
    this.#parts = parts;
  }

  take(item: FeedItem, state: ConversationState): Update[] {
    const { branch } = this.#parts;
    const display = branch.take(item, state) ? displayItem(item) : undefined;
    if (!display) return [];
    switch (display.type) {
      case "message":
        return this.#added(display);
      case "message-start":
        this.#written.begin(display.message);
        return [];
      case "text":
        return this.#say(display);
      case "call-input":
        return this.#calls.has(display.call) ? [] : this.#call(display.run, display.call, state, display.message);
      case "call-draft": {
        // The editor gets each file once when the writing begins, and the change when it is complete.
        const { run, call, path, draft } = display;
        const key = `${call} ${draft} ${path}`;
        if (this.#progress.has(key)) return [];
        this.#progress.set(key, 0);
        return this.#progressed(run, call, state);
      }
      case "message-end":
        return this.#completed(display, state);
      case "message-discard":
        return this.#abandoned(display.message);
      case "call": {
        const run = runOfMessage(state, display.message);
        if (display.status === "pending") return this.#call(run, display.call, state, display.message);
        return this.#progressed(run, display.call, state);
      }
      case "call-output":
        return this.#isDue(display.call) ? this.#progressed(display.run, display.call, state) : [];
      case "file-change":
        return this.#progressed(runOfMessage(state, display.message), display.call, state);
      case "answer":
        if (display.about === "limit") return this.#note(display.run, display.text);
        return display.about === "call"
          ? this.#progressed(runOfMessage(state, display.message), display.call, state)
          : [];
      case "call-end": {
        const run = runOfMessage(state, display.message);
        const ended = this.#progressed(run, display.call, state);
        for (const known of [this.#calls, this.#saying, this.#progress]) known.delete(display.call);
        return [...ended, ...this.#planned(run, display.call, state)];
      }
      case "run-start":
        return display.call === undefined ? [] : this.#child(display.run, { state: "running" }, display.agent);
      case "run-end":
        if (branch.callOf(display.run) !== undefined) return this.#child(display.run, { state: "idle" });
        this.#progress.clear();
        return [];
      case "question":
        return display.about === "limit" ? this.#note(display.run, display.text) : [];
      case "goal":
      case "process":
        return this.#remark(display.text);
      case "notice":
        return this.#notice(display);
      case "memory":
      case "delivery":
        return [];
      default:
        return display satisfies never;
    }
  }

  *replay(state: ConversationState): Generator<Update> {
    let last: string | undefined;
    for (const message of pathTo(state, this.#parts.branch.leaf)) {
      if (isUserMessage(message)) yield* this.#user(message.id, message.parts);
      if (message.role === "summary") yield* this.#summary(message.id, message);
      if (message.role !== "assistant") continue;
      for (const [index, part] of message.parts.entries()) {
        if ("text" in part && message.finish === undefined) this.#written.add(message.id, index, part.text, 0);
        const update = updateOf(part, message.id);
        if (update) yield* this.#main(update);
        const call = part.type === "call" ? message.calls.find(({ id }) => id === part.call) : undefined;
        if (call) yield* this.#replayed(message, call);
      }
      last = message.id;
    }
    yield* this.#plan(planOnPath(pathTo(state, this.#parts.branch.leaf)));
    if (last !== undefined) yield* this.#usage(state, last);
  }

  /** The plan of a completed call; a sub-agent's plan stays its own. */
  #planned(run: string | undefined, id: string, state: ConversationState): Update[] {
    if (run === undefined || this.#parts.branch.callOf(run) !== undefined) return [];
    const call = callAt(state, id);
    return call?.status === "completed" ? this.#plan(call.about?.plan) : [];
  }

  #plan(plan: readonly PlanStep[] | undefined): Update[] {
    if (!plan) return [];
    const entries = plan.map(({ title, status }) => ({ content: title, priority: "medium" as const, status }));
    return this.#main({ sessionUpdate: "plan", entries });
  }

  *#replayed(message: AssistantMessage, call: Call): Generator<Update> {
    const { workspace } = this.#parts;
    // Send the request, then the result: editors expect both updates.
    const { output: _output, changes: _changes, ...pending } = call;
    const known = toolCallOf({ ...pending, status: "pending", progress: "" }, workspace);
    yield* this.#main({ sessionUpdate: "tool_call", ...known });
    yield* this.#main({ sessionUpdate: "tool_call_update", ...progressOf(call, workspace) });
    if (call.output === undefined) this.#calls.set(call.id, message.id);
  }

  #main(update: SessionUpdate): Update[] {
    return [{ sessionId: this.#parts.sessionId, update }];
  }

  /** The session for a run's updates: a sub-agent's own session if the editor knows such, otherwise none. */
  #voice(run: string | undefined): string | undefined {
    const { sessionId, branch, abilities } = this.#parts;
    const call = run === undefined ? undefined : branch.callOf(run);
    if (call === undefined) return sessionId;
    return abilities.subagents ? childSession(sessionId, call) : undefined;
  }

  #added(item: Extract<DisplayItem, { type: "message" }>): Update[] {
    if (item.call !== undefined) return [];
    if (item.role === "summary") return this.#summary(item.message, item);
    if (item.author === "tool") return this.#problems(item.parts);
    if ((item.author ?? "user") !== "user" || this.#parts.isOwn(item.message)) return [];
    return this.#user(item.message, item.parts);
  }

  /** New problems after blocks were applied, which no call reports. */
  #problems(parts: readonly UserPart[]): Update[] {
    const problems = parts.flatMap((part) => (part.type === "text" ? problemsIn(part.text).problems : []));
    return problems.length === 0 ? [] : this.#remark([NEW_PROBLEMS, ...problems].join("\n"));
  }

  #user(messageId: string, parts: readonly UserPart[]): Update[] {
    return parts.flatMap((part) => {
      const content = contentBlock(part);
      return content ? this.#main({ sessionUpdate: "user_message_chunk", content, messageId }) : [];
    });
  }

  #summary(id: string, { parts, covers, compaction }: Pick<MessageAdded, "parts" | "covers" | "compaction">): Update[] {
    if (covers === undefined) return this.#remark(parts.map((part) => ("text" in part ? part.text : "")).join(""));
    if (this.#parts.abilities.compaction) {
      const compactionId = this.#endCompaction() ?? id;
      const summary = parts.flatMap((part) => contentBlock(part) ?? []);
      return this.#main({ sessionUpdate: "compaction_update", compactionId, status: "completed", summary });
    }
    const sentence = compaction ? compactedLine(compaction) : "The earlier conversation was summarized";
    return this.#remark(`${sentence}; the original messages stay in the conversation.`);
  }

  #notice({ notice, text }: NoticeDisplay): Update[] {
    switch (notice.type) {
      case "context.shortening":
        if (!this.#parts.abilities.compaction) return this.#note(notice.run, text);
        this.#compaction = createId();
        return this.#main({
          sessionUpdate: "compaction_update",
          compactionId: this.#compaction,
          status: "in_progress",
        });
      case "context.not-shortened": {
        const compactionId = this.#endCompaction();
        if (compactionId === undefined) return this.#note(notice.run, text);
        return this.#main({
          sessionUpdate: "compaction_update",
          compactionId,
          status: "failed",
          error: notice.reason,
        });
      }
      case "message.left-out":
      case "approval.withdrawn":
        return this.#remark(text ?? "");
      default:
        return "run" in notice ? this.#note(notice.run, text) : [];
    }
  }

  /** A sentence about the user's run. Editors show none about sub-agents. */
  #note(run: string, text: string | undefined): Update[] {
    return text === undefined || this.#parts.branch.callOf(run) !== undefined ? [] : this.#remark(text);
  }

  #remark(text: string): Update[] {
    if (this.#parts.abilities.notices) return this.#main({ sessionUpdate: "notice", severity: "info", title: text });
    return this.#main({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `${text}\n\n` } });
  }

  #say({ kind, run, message, part, text, begins }: Omit<Extract<DisplayItem, { type: "text" }>, "type">): Update[] {
    const more = this.#written.add(message, part, text, begins);
    if (more === "") return [];
    const sessionId = this.#voice(run);
    if (sessionId === undefined) return this.#overheard(run, more);
    const content = { type: "text" as const, text: more };
    const sessionUpdate = kind === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    return [{ sessionId, update: { sessionUpdate, content, messageId: message } }];
  }

  /** Collects a sub-agent's text, which its launching call shows from time to time until the result. */
  #overheard(run: string | undefined, text: string): Update[] {
    const call = run === undefined ? undefined : this.#parts.branch.callOf(run);
    if (call === undefined) return [];
    this.#saying.set(call, `${this.#saying.get(call) ?? ""}${text}`.slice(-16 * 1024));
    return [];
  }

  #known(call: string, message: string): boolean {
    const isKnown = this.#calls.has(call);
    this.#calls.set(call, message);
    return isKnown;
  }

  #call(run: string | undefined, id: string, state: ConversationState, message: string): Update[] {
    const sessionId = this.#voice(run);
    const call = callAt(state, id, message);
    if (sessionId === undefined || !call) return [];
    const toolCall = toolCallOf(call, this.#parts.workspace);
    if (this.#known(id, message)) return [{ sessionId, update: { sessionUpdate: "tool_call_update", ...toolCall } }];
    return [{ sessionId, update: { sessionUpdate: "tool_call", ...toolCall } }];
  }

  #progressed(run: string | undefined, id: string, state: ConversationState): Update[] {
    const sessionId = this.#voice(run);
    const call = callAt(state, id);
    if (sessionId === undefined || !call) return [];
    const update = progressOf(call, this.#parts.workspace, { saying: this.#saying.get(id) });
    return [{ sessionId, update: { sessionUpdate: "tool_call_update", ...update } }];
  }

  #isDue(call: string): boolean {
    const now = performance.now();
    if (now - (this.#progress.get(call) ?? Number.NEGATIVE_INFINITY) < PROGRESS_EVERY) return false;
    this.#progress.set(call, now);
    return true;
  }

  #completed(item: Extract<DisplayItem, { type: "message-end" }>, state: ConversationState): Update[] {
    const run = runOfMessage(state, item.message);
    const { message } = item;
    const updates = item.parts.flatMap((part, index): Update[] => {
      if (part.type === "text" || part.type === "reasoning")
        return this.#say({ kind: part.type, run: run ?? "", message, part: index, text: part.text, begins: 0 });
      const sessionId = this.#voice(run);
      const update = updateOf(part, item.message);
      return sessionId !== undefined && update ? [{ sessionId, update }] : [];
    });
    this.#written.end(message);
    // A call with incomplete arguments does not count.
    const made = new Set(item.parts.map((part) => (part.type === "call" ? part.call : undefined)));
    return [...updates, ...this.#dropped(item.message, made), ...this.#usage(state, item.message)];
  }

  /** An editor cannot remove text: a remark says that the text is discarded. */
  #abandoned(message: string): Update[] {
    const wasTold = this.#written.hasText(message);
    this.#written.end(message);
    const updates = this.#dropped(message, new Set());
    return wasTold ? [...updates, ...this.#remark(GIVEN_UP)] : updates;
  }

  #dropped(message: string, made: ReadonlySet<string | undefined>): Update[] {
    return [...this.#calls].flatMap(([call, of]): Update[] => {
      if (of !== message || made.has(call)) return [];
      this.#calls.delete(call);
      return this.#main({ sessionUpdate: "tool_call_update", toolCallId: call, status: "failed" });
    });
  }

  #usage(state: ConversationState, message: string): Update[] {
    const last = state.messages.get(message);
    if (last?.role !== "assistant" || !last.usage || last.call !== undefined) return [];
    const size = this.#parts.contextSize(last.model);
    if (size === undefined) return [];
    const used = last.usage.input + last.usage.output;
    const cost = state.cost === undefined ? {} : { cost: { amount: state.cost, currency: "USD" } };
    return this.#main({ sessionUpdate: "usage_update", used, size, ...cost });
  }

  #child(run: string, at: { readonly state: "running" | "idle" }, title?: string): Update[] {
    const { sessionId, branch, abilities } = this.#parts;
    const call = branch.callOf(run);
    if (!abilities.subagents || call === undefined) return [];
    const child = childSession(sessionId, call);
    const state = at.state === "idle" ? { state: "idle" as const, stopReason: null } : { state: "running" as const };
    return this.#main({
      sessionUpdate: "subagent_update",
      sessionId: child,
      state,
      ...(title === undefined ? {} : { title }),
    });
  }

  #endCompaction(): string | undefined {
    const compaction = this.#compaction;
    this.#compaction = undefined;
    return compaction;
  }
}

function childSession(sessionId: string, call: string): string {
  return `${sessionId}:${call}`;
}

function updateOf(part: Part, messageId: string): SessionUpdate | undefined {
  const content = contentBlock(part);
  if (!content) return undefined;
  return {
    sessionUpdate: part.type === "reasoning" ? "agent_thought_chunk" : "agent_message_chunk",
    content,
    messageId,
  };
}

function runOfMessage(state: ConversationState, message: string): string | undefined {
  const found = state.messages.get(message);
  return found?.role === "assistant" ? found.run : undefined;
}

/** Returns a call from the named message, even from an unfinished message. Default: the message of the call. */
export function callAt(state: ConversationState, call: string, named = state.calls.get(call)): Call | undefined {
  const message = state.messages.get(named ?? "");
  return message?.role === "assistant" ? message.calls.find(({ id }) => id === call) : undefined;
}
