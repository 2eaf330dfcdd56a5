import { displayItem, displaySentence, GIVEN_UP, GIVEN_UP_TOO } from "@banyan/client/display";
import { describeShortfall } from "@banyan/client/words";
import type { Call, ConversationState, FeedItem, RunEnd } from "@banyan/core";
import { callIn, endReason, isEnded } from "@banyan/core/conversation";
import { callBegin, callDetails, callEndText } from "../../show/call-line.ts";
import { changeHead, diffLines } from "../../show/diff-lines.ts";
import { wrapSentence } from "../../show/fit-text.ts";
import { recalledLine } from "../../show/memory-lines.ts";
import { gist, modelNoticeLines, ReportedEnds } from "../../show/message-label.ts";
import { PlainText, plainLine, plainText } from "../../show/plain-text.ts";
import { SubAgentItems, subAgentLine } from "../../show/sub-agents.ts";
import { runEndSentence } from "../../show/turn-end.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";

/** Milliseconds before a running call is shown. Shorter calls are shown at their end. */
const SHOWN_AFTER = 300;

const DIFF_SHOWN = 40;

/**
 * Shows a feed on a plain terminal: text as it streams, and one line per call. Printed text never changes. If a call
 * takes long, its line begins when the call starts and is completed at its end, unless other output came between.
 */
export class ChatView implements FeedView {
  readonly #terminal: Terminal;
  #plain = new PlainText();
  #last: "nothing" | "text" | "reasoning" | "call" = "nothing";
  #openCall: string | undefined;
  #isWritten = false;
  /** True if a response of this turn was abandoned, and the user told. */
  #gaveUp = false;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #subAgents = new SubAgentItems();
  readonly #toldEnds = new ReportedEnds();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(item: FeedItem, state: ConversationState): void {
    if (this.#subAgents.has(item, state)) this.#showSubAgent(item, state);
    else this.#show(item, state);
  }

  /** Work of a sub-agent is progress of its call, not an answer. */
  #showSubAgent(item: FeedItem, state: ConversationState): void {
    const { style, columns } = this.#terminal;
    const line = subAgentLine(item, state, style, columns);
    if (line !== undefined) this.line(line);
  }

  #show(item: FeedItem, state: ConversationState): void {
    const display = displayItem(item);
    switch (display?.type) {
      case "message-start":
        this.#plain = new PlainText();
        this.#isWritten = false;
        break;
      case "text":
        if (display.kind === "text") this.#text(display.text);
        else this.#reasoning(display.text);
        break;
      case "message-end": {
        this.#endLine();
        const shortfall = describeShortfall(state.messages.get(display.message));
        if (shortfall !== undefined) this.note(plainLine(shortfall));
        break;
      }
      case "message-discard":
        this.#endLine();
        if (this.#isWritten) {
          this.note(this.#gaveUp ? GIVEN_UP_TOO : GIVEN_UP);
          this.#gaveUp = true;
        }
        break;
      case "message": {
        const message = state.messages.get(display.message);
        if (!this.#toldEnds.has(message)) for (const line of modelNoticeLines(message)) this.note(line);
        break;
      }
      case "memory":
        this.note(recalledLine(display.items, "/memory"));
        break;
      case "call":
        if (display.status === "executing") this.#running(display, state);
        break;
      case "call-end":
        this.#ended(display, state);
        break;
      case "file-change": {
        const { style } = this.#terminal;
        const { change } = display;
        for (const line of [changeHead(change, style), ...diffLines(change.diff, { style, most: DIFF_SHOWN })])
          this.line(line);
        break;
      }
      case "delivery": {
        const message = state.messages.get(display.input);
        if (message) this.note(`delivered: ${gist(message, this.#terminal.columns - 11)}`);
        break;
      }
      case "run-end":
        this.#runEnded(display.reason, endReason(display), display.error?.code);
        break;
      case "question":
      case "answer":
      case "goal":
      case "process":
      case "notice": {
        // The user types below the question, so the line of its call waits until the call has ended.
        if (display.type === "question" && display.about === "text") clearTimeout(this.#timers.get(display.call));
        this.#toldEnds.note(item);
        const sentence = displaySentence(display);
        if (sentence !== undefined) this.note(sentence);
        break;
      }
      case "call-input":
      case "call-output":
      case "call-draft":
      case "run-start":
      case undefined:
        break;
      default:
        display satisfies never;
    }
  }

  say(sentence: string): void {
    this.#endLine();
    this.#terminal.write(`${wrapSentence(sentence, this.#terminal.columns)}\n`);
  }

  note(sentence: string): void {
    this.say(this.#terminal.style.dim(sentence));
  }

  answer(text: string): void {
    for (const line of plainText(text).trim().split("\n")) this.line(line);
  }

  line(text: string): void {
    this.#endLine();
    this.#terminal.write(`${text}\n`);
  }

  /** The command's output already shows that it runs. */
  busyWith(): Disposable {
    return { [Symbol.dispose]() {} };
  }

  gap(): void {
    this.#endLine();
    this.#terminal.write("\n");
  }

  #text(text: string): void {
    const plain = this.#plain.push(text);
    this.#isWritten ||= plain.trim() !== "";
    if (this.#last === "text") return this.#terminal.write(plain);
    // Models often begin with line ends, which would leave a gap.
    const begun = plain.trimStart();
    if (begun === "") return;
    this.#endLine();
    this.#last = "text";
    this.#terminal.write(begun);
  }

  #reasoning(text: string): void {
    const { style } = this.#terminal;
    const compact = this.#plain.push(text).replace(/\s+/g, " ");
    if (this.#last !== "reasoning") {
      if (compact.trim() === "") return;
      this.#endLine();
      this.#last = "reasoning";
      this.#terminal.write(style.dim(`Thinking: ${compact.trimStart()}`));
    } else this.#terminal.write(style.dim(compact));
  }

  #running(item: { readonly message: string; readonly call: string }, state: ConversationState): void {
    const timer = setTimeout(() => {
      this.#timers.delete(item.call);
      const call = callIn(state, item);
      if (!call || isEnded(call.status) || this.#last === "call") return;
      this.#endLine();
      this.#terminal.write(this.#begin(call));
      this.#last = "call";
      this.#openCall = call.id;
    }, SHOWN_AFTER);
    this.#timers.set(item.call, timer);
  }

  #ended(item: { readonly message: string; readonly call: string }, state: ConversationState): void {
    clearTimeout(this.#timers.get(item.call));
    this.#timers.delete(item.call);
    const call = callIn(state, item);
    if (!call) return;
    const { style, columns } = this.#terminal;
    if (this.#openCall !== call.id) {
      this.#endLine();
      this.#terminal.write(this.#begin(call));
    }
    const lines = [callEndText(call, style), ...callDetails(call, style, columns)];
    this.#terminal.write(`${lines.join("\n")}\n`);
    this.#last = "nothing";
    this.#openCall = undefined;
  }

  #begin(call: Call): string {
    return callBegin(call, this.#terminal.style, this.#terminal.columns);
  }

  #runEnded(reason: RunEnd, why: string | undefined, code: string | undefined): void {
    this.#endLine();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#gaveUp = false;
    const sentence = runEndSentence(reason, why, this.#terminal.style, code);
    if (sentence !== undefined) this.say(sentence);
  }

  #endLine(): void {
    this.#terminal.freshLine();
    this.#last = "nothing";
    this.#openCall = undefined;
  }
}
