import { setImmediate } from "node:timers/promises";
import type { Agent, Answer, ApprovalQuestion, Call, Event, Json, Session } from "@banyan/core";
import type { Host } from "@banyan/host";
import { problemOf } from "../problem.ts";
import { callIn } from "../show/call-of.ts";
import { oneLine, visible } from "../show/plain-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { callArguments } from "./call-arguments.ts";
import type { ChatView } from "./chat-view.ts";

export type ApprovalRequested = Extract<Event, { type: "call.approval-requested" }>;

type Choice = "once" | "conversation" | "always" | "edit" | "deny";

/**
 * Asks a person about calls, one after the other (B23). Nothing but a choice that was typed after the question appeared
 * counts as one: not Enter, not a stray key (S14).
 */
export class Approvals {
  readonly #terminal: Terminal;
  readonly #view: ChatView;
  readonly #host: Host;

  constructor(terminal: Terminal, view: ChatView, host: Host) {
    this.#terminal = terminal;
    this.#view = view;
    this.#host = host;
  }

  /** Asks, and answers the session; does nothing when the question is not open any more. */
  async ask(session: Session, agent: Agent, event: ApprovalRequested): Promise<void> {
    // What was answered just now may cover this call too; the rule is in the state a moment later.
    await setImmediate();
    const question = session.state.questions.get(event.question);
    const call = callIn(session.state, event);
    if (question?.type !== "approval" || !call) return;
    using open = whileOpen(session, question.id);
    const allowed = await isAllowedNow(session, agent, call, open.signal);
    const answer = allowed ? ALLOW : await this.#answer(call, question, open.signal);
    // It may have been answered elsewhere, or withdrawn, in the meantime: the first answer counts.
    if (answer) await session.answer(question.id, answer).catch(() => {});
  }

  async #answer(call: Call, { pattern }: ApprovalQuestion, signal: AbortSignal): Promise<Answer | undefined> {
    let edited: Json | undefined;
    this.#show(call);
    this.#offer(pattern);
    for (let again = false; ; again = true) {
      // A rule was worked out for the arguments as they were.
      const rule = edited === undefined ? pattern : undefined;
      const line = await this.#terminal.ask({ prompt: "Allow this? ", again, signal });
      if (line === undefined) return undefined;
      const { choice, reason } = choiceIn(line, rule !== undefined);
      const input = edited === undefined ? {} : { input: edited };
      switch (choice) {
        case undefined:
          this.#view.note("Nothing is decided yet: type one of the choices, then Enter.");
          break;
        case "once":
          return { decision: "allow", ...input };
        case "deny":
          return { decision: "deny", ...(reason ? { reason } : {}) };
        case "edit": {
          const changed = await this.#edit(edited ?? call.input ?? {}, signal);
          if (changed === undefined) break;
          edited = changed;
          this.#show({ ...call, executedInput: edited });
          this.#offer(undefined);
          break;
        }
        case "conversation":
        case "always":
          return { decision: "allow", remember: { pattern: rule ?? "", scope: this.#remember(choice, rule ?? "") } };
      }
    }
  }

  #show(call: Call): void {
    const { style } = this.#terminal;
    this.#view.gap();
    this.#terminal.write(
      `${style.warning(`${this.#host.agent.name} asks to run ${style.bold(oneLine(call.tool))}`)} in ${visible(this.#host.workspace)}\n`,
    );
    for (const line of callArguments(call, style)) this.#terminal.write(`    ${line}\n`);
  }

  #offer(rule: string | undefined): void {
    const { numbered, style } = this.#terminal;
    const offered = CHOICES.filter(({ needsRule }) => rule !== undefined || !needsRule);
    for (const { key, number, text } of offered) {
      this.#terminal.write(`  ${style.bold(numbered ? number : key)}  ${text(visible(rule ?? ""))}\n`);
    }
  }

  #remember(scope: "conversation" | "always", rule: string): "conversation" | "always" {
    if (scope === "conversation") return scope;
    try {
      this.#host.remember(rule);
      return scope;
    } catch (error) {
      this.#view.note(`Allowed for this conversation only. ${problemOf(error).message}`);
      return "conversation";
    }
  }

  async #edit(input: Json, signal: AbortSignal): Promise<Json | undefined> {
    const line = await this.#terminal.ask({
      prompt: "Arguments: ",
      initial: JSON.stringify(input),
      again: true,
      signal,
    });
    if (line === undefined) return undefined;
    try {
      return JSON.parse(line) as Json;
    } catch (error) {
      this.#view.note(
        `The arguments stay as they were: that is not JSON (${error instanceof Error ? oneLine(error.message) : error}).`,
      );
      return undefined;
    }
  }
}

const ALLOW: Answer = { decision: "allow" };

const CHOICES: readonly {
  readonly choice: Choice;
  readonly key: string;
  readonly number: string;
  readonly needsRule?: boolean;
  text(rule: string): string;
}[] = [
  { choice: "once", key: "y", number: "1", text: () => "yes, once" },
  {
    choice: "conversation",
    key: "a",
    number: "2",
    needsRule: true,
    text: (rule) => `always ${rule}, in this conversation`,
  },
  { choice: "always", key: "A", number: "3", needsRule: true, text: (rule) => `always ${rule}, for good` },
  { choice: "edit", key: "e", number: "4", text: () => "edit the arguments first" },
  { choice: "deny", key: "n", number: "5", text: () => "no; you may say why: n there is a script for that" },
];

/** What a line chooses; nothing when it is no choice. */
export function choiceIn(line: string, hasRule: boolean): { readonly choice?: Choice; readonly reason?: string } {
  const text = line.trim();
  const [, reason] = /^(?:n|N|no|5)[\s,:]+(.+)$/s.exec(text) ?? [];
  if (reason !== undefined) return { choice: "deny", reason };
  const word = WORDS[text] ?? text;
  const found = CHOICES.find(({ key, number }) => word === key || word === number);
  return found && (hasRule || !found.needsRule) ? { choice: found.choice } : {};
}

const WORDS: Readonly<Record<string, string>> = { yes: "y", Y: "y", no: "n", N: "n", edit: "e", E: "e" };

/** Whether the rules, as they are now, allow a call. */
async function isAllowedNow(session: Session, agent: Agent, call: Call, signal: AbortSignal): Promise<boolean> {
  const { permission, tools = [] } = agent.options;
  const tool = tools.find(({ name }) => name === call.tool);
  if (!permission || !tool || call.input === undefined) return false;
  return (
    (await permission({ call: call.id, tool, input: call.input, conversation: session.state, signal })).decision ===
    "allow"
  );
}

/** A signal that aborts as soon as a question is open no more, whoever answered it. */
function whileOpen(session: Session, question: string): Disposable & { readonly signal: AbortSignal } {
  const closed = new AbortController();
  const feed = session.feed();
  const watch = async () => {
    for await (const _item of feed) if (!session.state.questions.has(question)) break;
    closed.abort();
  };
  // A feed that breaks off ends the question too.
  void watch().catch(() => closed.abort());
  return {
    signal: closed.signal,
    [Symbol.dispose]() {
      void feed.return?.();
    },
  };
}
