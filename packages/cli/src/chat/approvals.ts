import { setImmediate } from "node:timers/promises";
import type { Agent, Answer, ApprovalQuestion, Call, Event, Json, Session } from "@banyan/core";
import type { Host } from "@banyan/host";
import { problemOf } from "../problem.ts";
import { callIn } from "../show/call-of.ts";
import { oneLine, visible } from "../show/plain-text.ts";
import { subAgentLabel } from "../show/sub-agents.ts";
import type { Choice, Decision } from "../terminal/decision.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { callArguments } from "./call-arguments.ts";
import { answerInWords } from "./text-question.ts";
import { whileOpen } from "./while-open.ts";

/** A call waits for a person: whether it may run, or for what it wants to know. */
export type PersonAsked = Pick<
  Extract<Event, { type: "call.approval-requested" | "question.asked" }>,
  "question" | "message" | "call"
>;

/** A conversation in which calls wait for a person, here or on a server. */
export type AskingSession = Pick<Session, "answer" | "listen" | "state">;

/** Who asks, where, and where to keep what is allowed for good. */
export type AskingHost = Pick<Host, "remember" | "workspace"> & { readonly agent: Pick<Agent, "name"> };

/**
 * Asks a person about calls, and what calls want to know, one after the other (B23). Nothing but a choice that was made after the question appeared
 * counts as one: not Enter, not a stray key (S14).
 */
export class Approvals {
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #host: AskingHost;
  /** The question before. */
  #asked: Promise<void> = Promise.resolve();

  constructor(terminal: Terminal, view: FeedView, host: AskingHost) {
    this.#terminal = terminal;
    this.#view = view;
    this.#host = host;
  }

  /** Asks, and answers the session; does nothing when the question is not open any more. Never rejects. */
  ask(session: AskingSession, agent: Pick<Agent, "options"> | undefined, event: PersonAsked): Promise<void> {
    this.#asked = this.#asked
      .then(() => this.#ask(session, agent, event))
      .catch((error: unknown) => this.#view.say(`Not asked: ${problemOf(error).message}`));
    return this.#asked;
  }

  async #ask(session: AskingSession, agent: Pick<Agent, "options"> | undefined, event: PersonAsked): Promise<void> {
    // What was answered just now may cover this call too; the rule is in the state a moment later.
    await setImmediate();
    const question = session.state.questions.get(event.question);
    const call = callIn(session.state, event);
    if (!question || !call) return;
    using open = whileOpen(session, question.id);
    const asker = subAgentLabel(session.state, event.message) ?? this.#host.agent.name;
    const answer =
      question.type === "text"
        ? await answerInWords(this.#terminal, question, asker, open.signal)
        : (await isAllowedNow(session, agent, call, open.signal))
          ? ALLOW
          : await this.#answer(call, question, asker, open.signal);
    // It may have been answered elsewhere, or withdrawn, in the meantime: the first answer counts.
    if (answer) await session.answer(question.id, answer).catch(() => {});
  }

  async #answer(
    call: Call,
    { pattern }: ApprovalQuestion,
    asker: string,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    let edited: Json | undefined;
    for (let again = false; ; again = true) {
      // A rule was worked out for the arguments as they were.
      const rule = edited === undefined ? pattern : undefined;
      const shown = edited === undefined ? call : { ...call, executedInput: edited };
      const decided = await this.#terminal.decide({ ...this.#decision(shown, asker, rule), again, signal });
      const input = edited === undefined ? {} : { input: edited };
      if (!decided) return undefined;
      switch (decided.key) {
        case "y":
          return { decision: "allow", ...input };
        case "n":
          return { decision: "deny", ...(decided.words === undefined ? {} : { reason: decided.words }) };
        case "e":
          edited = (await this.#edit(edited ?? call.input ?? {}, signal)) ?? edited;
          if (signal.aborted) return undefined;
          break;
        default: {
          const scope = decided.key === "A" ? this.#remember(rule ?? "") : "conversation";
          return { decision: "allow", remember: { pattern: rule ?? "", scope } };
        }
      }
    }
  }

  #decision(call: Call, asker: string, rule: string | undefined): Decision {
    const { style } = this.#terminal;
    const { workspace } = this.#host;
    return {
      title: `${oneLine(asker)} asks to run ${style.bold(oneLine(call.tool))} in ${visible(workspace)}`,
      body: callArguments(call, style),
      question: "Allow this?",
      choices: [YES, ...(rule === undefined ? [] : always(visible(rule))), EDIT, NO],
    };
  }

  #remember(rule: string): "conversation" | "always" {
    try {
      this.#host.remember(rule);
      return "always";
    } catch (error) {
      this.#view.note(`Allowed for this conversation only. ${problemOf(error).message}`);
      return "conversation";
    }
  }

  async #edit(input: Json, signal: AbortSignal): Promise<Json | undefined> {
    const initial = JSON.stringify(input);
    const line = await this.#terminal.ask({ prompt: "Arguments: ", initial, again: true, signal });
    if (line === undefined) return undefined;
    try {
      return JSON.parse(line) as Json;
    } catch (error) {
      const why = error instanceof Error ? oneLine(error.message) : error;
      this.#view.note(`The arguments stay as they were: that is not JSON (${why}).`);
      return undefined;
    }
  }
}

const ALLOW: Answer = { decision: "allow" };

const YES: Choice = { key: "y", text: "yes, once", brief: "yes", words: ["yes", "Y"] };
const EDIT: Choice = { key: "e", text: "edit the arguments first", brief: "edit", words: ["edit", "E"] };
const NO: Choice = {
  key: "n",
  text: "no; you may say why",
  brief: "no",
  words: ["no", "N"],
  takesWords: "Why not",
};

function always(rule: string): Choice[] {
  return [
    { key: "a", text: `always ${rule}, in this conversation`, brief: "always here" },
    { key: "A", text: `always ${rule}, for good`, brief: "always" },
  ];
}

/** Whether the rules, as they are now, allow a call. */
async function isAllowedNow(
  session: AskingSession,
  agent: Pick<Agent, "options"> | undefined,
  call: Call,
  signal: AbortSignal,
): Promise<boolean> {
  const { permission, tools = [] } = agent?.options ?? {};
  const tool = tools.find(({ name }) => name === call.tool);
  if (!permission || !tool || call.input === undefined) return false;
  return (
    (await permission({ call: call.id, tool, input: call.input, conversation: session.state, signal })).decision ===
    "allow"
  );
}
