import { setImmediate } from "node:timers/promises";
import { subAgentLabel } from "@banyan/client/words";
import { type Answer, type Call, type ConversationState, type Session, UnfitAnswerError } from "@banyan/core";
import { type ApprovalQuestion, callIn, type LimitQuestion, toolNameOf } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { reportedProblem } from "../../program/problem.ts";
import { excerptLine } from "../../show/fit-text.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { callArguments } from "../../terminal/full/overlay/call-arguments.ts";
import type { DecisionChoice, DecisionRequest } from "../../terminal/questions/decision.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import type { AnswerApproval, AskingSession } from "../session/talk-session.ts";
import { AnswerDrafts, type WrittenAnswer } from "./answer-drafts.ts";
import { argumentWords, CallEditing } from "./call-editing.ts";
import { askTextQuestion } from "./text-question.ts";
import type { UnsentTexts } from "./unsent-texts.ts";

export interface QuestionSource {
  readonly agent: string;
}

/**
 * Asks the user about calls, about questions of calls, and about limits of runs (B64). Asks one question at a time
 * (B23), and shows its place in the queue. Text that the user writes meanwhile is no answer (S14, T64).
 */
export class Approvals {
  readonly #terminal: Terminal;
  readonly #view: FeedView;
  readonly #asking: QuestionSource;
  readonly #answering: AnswerDrafts;
  #asked: Promise<void> = Promise.resolve();
  /** Questions that wait here, the present one included, and those answered since none waited. */
  #waiting = 0;
  #answered = 0;

  /** With `unsent`, unfinished answers outlive the process. */
  constructor(terminal: Terminal, view: FeedView, asking: QuestionSource, unsent?: UnsentTexts) {
    this.#answering = new AnswerDrafts(terminal, view, unsent);
    this.#terminal = terminal;
    this.#view = view;
    this.#asking = asking;
  }

  /** Asks the question, and sends the answer to the session. Does nothing if the question is closed. Never rejects. */
  ask(session: AskingSession, question: string): Promise<void> {
    this.#waiting++;
    this.#asked = this.#asked
      .then(() => this.#ask(session, question))
      .catch((error: unknown) => this.#view.say(`Not asked: ${reportedProblem(error).message}`))
      .finally(() => {
        if (--this.#waiting === 0) this.#answered = 0;
      });
    return this.#asked;
  }

  /** The user entered a conversation: tells them about unfinished answers of earlier processes. */
  opened(state: ConversationState): void {
    if (this.#answering.putLeftAside(state))
      this.#view.note("Your unfinished answer is kept until the agent asks again.");
  }

  /** A run has ended, perhaps with calls whose unfinished answers are kept. */
  ended(state: ConversationState): void {
    this.#answering.putLeftAside(state);
  }

  async #ask(session: AskingSession, id: string): Promise<void> {
    // The previous answer may cover this call too. Its rule reaches the state a moment later.
    await setImmediate();
    const question = session.state.questions.get(id);
    if (!question) return;
    using open = whileOpen(session, id);
    const asker = subAgentLabel(session.state, question.message ?? "") ?? this.#asking.agent;
    const place = () => this.#place(session);
    if (question.type === "limit") {
      await this.#until(session, id, () => this.#continues(question, asker, { place, signal: open.signal }));
      return;
    }
    const call = callIn(session.state, question);
    if (!call) return;
    const written = this.#answering.begin(session.state, call.id);
    const reply = await this.#until(session, id, () =>
      question.type === "text"
        ? askTextQuestion(this.#terminal, question, {
            asker,
            part: (what) => written.part(what),
            place,
            signal: open.signal,
          })
        : this.#answer(session, call, question, asker, written, { place, signal: open.signal }),
    );
    written.end(reply === "given");
    if (reply === "closed" && open.said !== undefined)
      this.#view.note(`Answered in another client: ${excerptLine(plainLine(open.said), SHOWN)}`);
  }

  /** Repeats the question until the session accepts the answer, or the question is no longer open. */
  async #until(
    session: AskingSession,
    question: string,
    decide: () => Promise<ApprovalAnswer | undefined>,
  ): Promise<Exclude<AnswerOutcome, "refused">> {
    for (;;) {
      const answer = await decide();
      const reply = answer === undefined ? "closed" : await this.#give(session, question, answer);
      if (reply !== "refused") return reply;
    }
  }

  /** The place of the present question among those that wait. Calls that one answer covers are counted until then. */
  #place({ state }: AskingSession): string {
    const total = this.#answered + state.questions.size;
    return total > 1 ? `${this.#answered + 1} of ${total}` : "";
  }

  async #continues(
    { reason, offers }: LimitQuestion,
    asker: string,
    present: PresentQuestion,
  ): Promise<Answer | undefined> {
    const question = offers
      ? { title: "Your message is too large", question: "Store the message as a file?", choices: [STORE, KEEP_BACK] }
      : {
          title: `${excerptLine(visibleLine(asker), 40)} has reached a limit`,
          question: "Continue the turn until it reaches the same limit again?",
          choices: [MORE, ENOUGH],
        };
    const decided = await this.#terminal.decide({ ...question, body: [visibleLine(reason)], stops: true, ...present });
    return decided && { decision: decided.key === question.choices[0]?.key ? "allow" : "deny" };
  }

  /** Sends an answer. `closed`: the question was answered elsewhere or withdrawn meanwhile. */
  async #give(
    session: AskingSession,
    question: string,
    { approval, ...answer }: ApprovalAnswer,
  ): Promise<AnswerOutcome> {
    try {
      const problem = await session.answer(question, answer, approval);
      if (typeof problem === "string") this.#view.note(`Allowed for this conversation only. ${plainLine(problem)}`);
      this.#answered++;
      return "given";
    } catch (error) {
      if (this.#terminal.isClosed || !isOpen(session.state, question)) return "closed";
      // An invalid answer shows its fault and can be corrected. Unexpected errors are reported as defects.
      const { message } = error instanceof UnfitAnswerError ? error : reportedProblem(error);
      this.#view.say(`${this.#terminal.style.bad("Not answered:")} ${plainLine(message)}`);
      return "refused";
    }
  }

  async #answer(
    session: AskingSession,
    call: Call,
    { pattern, preview, message }: ApprovalQuestion,
    asker: string,
    written: WrittenAnswer,
    present: PresentQuestion,
  ): Promise<ApprovalAnswer | undefined> {
    const reason = written.part(WHY_NOT);
    const editing = new CallEditing(this.#terminal, call, written, (sentence) => this.#view.note(sentence));
    let isEditing = editing.isBegun;
    let again = false;
    for (;;) {
      if (isEditing) {
        if ((await editing.edit({ again, ...present })) === "stopped") return undefined;
        isEditing = false;
        // Going back shows the question again, or for the first time.
        continue;
      }
      const edited = editing.input;
      // The rule's pattern belongs to the original arguments.
      const rule = edited === undefined ? pattern : undefined;
      const shown = edited === undefined ? { preview } : { preview, input: edited };
      const changes = edited === undefined && preview?.changes?.length && session.allowChanges !== undefined;
      const decided = await this.#terminal.decide({
        ...this.#decision(call, asker, {
          rule,
          changes: Boolean(changes),
          sandbox: session.offersSandbox?.(call, preview) ?? false,
          thing: editing.thing,
        }),
        body: callArguments(call, this.#terminal.style, shown),
        painted: (paint) => callArguments(call, paint.theme, { ...shown, paint }),
        ...(reason.text !== "" && { begun: { key: NO.key, words: reason.text } }),
        onBegun: ({ words = "" }) => reason.draft(words),
        again,
        ...present,
      });
      again = true;
      const input = edited === undefined ? {} : { input: edited };
      if (!decided) return undefined;
      switch (decided.key) {
        case "y":
          return { decision: "allow", ...input };
        case "t":
          await this.#allowChanges(session, message);
          return { decision: "allow" };
        case FREELY.key:
          return { decision: "allow", ...input, approval: "edits" };
        case SANDBOX.key:
          return { decision: "allow", ...input, approval: "sandbox" };
        case "n":
          if (decided.words === undefined) return { decision: "deny" };
          reason.use(decided.words);
          return { decision: "deny", reason: decided.words };
        case "e":
          isEditing = true;
          break;
        default: {
          const scope = decided.key === "A" ? "always" : "conversation";
          return { decision: "allow", remember: { pattern: rule ?? "", scope } };
        }
      }
    }
  }

  /** Also allows pending calls. If this fails, each call is asked about. */
  async #allowChanges(session: AskingSession, id: string): Promise<void> {
    const message = session.state.messages.get(id);
    if (message?.role !== "assistant") return;
    await session.allowChanges?.(message.run).catch((error: unknown) => {
      this.#view.note(`Allowed only this once. ${plainLine(reportedProblem(error).message)}`);
    });
  }

  #decision(call: Call, asker: string, { rule, changes, sandbox, thing }: CallOffer): Omit<DecisionRequest, "body"> {
    const { style } = this.#terminal;
    const { folder } = call.about ?? {};
    const inFolder = folder === undefined ? "" : ` in ${visibleLine(folder)}`;
    if (call.about?.handsIn)
      return {
        title: `${excerptLine(visibleLine(asker), 40)} proposes a plan${inFolder}`,
        name: "Proposed plan",
        question: "Go ahead?",
        choices: [CARRY_OUT, FREELY, EDIT_PLAN, NOT_SO],
        stops: true,
      };
    return {
      // A long name must not push the tool out of the line.
      title: `${excerptLine(visibleLine(asker), 40)} asks to run ${style.bold(visibleLine(toolNameOf(call)))}${inFolder}`,
      name: `Proposed call: ${visibleLine(toolNameOf(call))}`,
      question: "Allow this?",
      choices: [
        YES,
        ...(changes ? [TURN] : []),
        ...(rule === undefined ? [] : always(allowedBy(rule, call))),
        ...(sandbox ? [SANDBOX] : []),
        { ...EDIT, text: `Edit the ${thing === undefined ? "arguments" : argumentWords(thing)} first` },
        NO,
      ],
      stops: true,
      asksLess: true,
    };
  }
}

/** The question's place among several, and its end. */
type PresentQuestion = Required<Pick<DecisionRequest, "place" | "signal">>;

/** The user's answer; `approval` is the mode of an approved plan, or a new approval mode. */
type ApprovalAnswer = Answer & { readonly approval?: AnswerApproval };

interface CallOffer {
  readonly rule: string | undefined;
  readonly changes: boolean;
  readonly sandbox: boolean;
  /** The argument that can be edited on its own. */
  readonly thing: string | undefined;
}

/** Result of sending an answer. `refused`: the question is still open. */
type AnswerOutcome = "given" | "closed" | "refused";

const SHOWN = 200;
/** Name under which an unfinished reason is stored. Earlier versions wrote the same name. */
const WHY_NOT = "Why not";
const YES: DecisionChoice = { key: "y", text: "Yes, once", brief: "yes" };
const TURN: DecisionChoice = { key: "t", text: "Yes, allow all edits in this turn", brief: "this turn" };
const SANDBOX: DecisionChoice = {
  key: "s",
  text: "Yes, and run commands in the sandbox without asking (caches such as node_modules are rebuilt, not undone)",
  brief: "sandbox",
  holdsOn: true,
};
const EDIT: DecisionChoice = { key: "e", text: "Edit it first", brief: "edit" };
const NO: DecisionChoice = {
  key: "n",
  text: "No, and say why",
  brief: "no",
  takesWords: "Reason (optional)",
};
const CARRY_OUT: DecisionChoice = {
  key: "y",
  text: "Yes, and ask before each edit",
  brief: "yes, asking",
};
const FREELY: DecisionChoice = {
  key: "f",
  text: "Yes, and the agent edits files without asking",
  brief: "yes, freely",
};
const EDIT_PLAN: DecisionChoice = { ...EDIT, text: "Edit the plan first" };
const NOT_SO: DecisionChoice = {
  ...NO,
  text: "No, and say what to change",
  takesWords: "What should change",
};
const MORE: DecisionChoice = { key: "y", text: "Yes, continue", brief: "go on" };
const ENOUGH: DecisionChoice = { key: "n", text: "No, stop here", brief: "end" };

const STORE: DecisionChoice = {
  key: "y",
  text: "Yes, store the message as a file",
  brief: "store",
};
const KEEP_BACK: DecisionChoice = {
  key: "n",
  text: "No, don't send the message",
  brief: "do not send",
};

/** Describes the calls that a rule allows: a command, with `...` if harmless options may follow (S24). */
function allowedBy(rule: string, { about }: Call): string {
  const command = about?.command === undefined ? undefined : /\((.*)\)$/s.exec(rule)?.[1];
  return `\`${visibleLine(command?.replace(/ \[harmless\]$/, " ...") ?? rule)}\``;
}

function always(allowed: string): DecisionChoice[] {
  return [
    {
      key: "a",
      text: `Yes, and don't ask again for ${allowed} in this conversation`,
      brief: "don't ask again here",
      holdsOn: true,
    },
    { key: "A", text: `Always allow ${allowed} (saved in your settings)`, brief: "always allow", holdsOn: true },
  ];
}

/** A signal that aborts when a question is no longer open, and the text of an answer from any client. */
function whileOpen(
  session: Pick<Session, "listen" | "state">,
  question: string,
): Disposable & { readonly signal: AbortSignal; readonly said: string | undefined } {
  const closed = new AbortController();
  let said: string | undefined;
  const stop = session.listen({
    items(items) {
      for (const item of items) if (item.type === "question.answered" && item.question === question) said = item.text;
      if (!isOpen(session.state, question)) closed.abort();
    },
    ended: () => closed.abort(),
  });
  return {
    signal: closed.signal,
    get said() {
      return said;
    },
    [Symbol.dispose]: stop,
  };
}

function isOpen({ questions }: ConversationState, question: string): boolean {
  return questions.has(question);
}
