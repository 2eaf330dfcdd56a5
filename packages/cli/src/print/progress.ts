import { displayItem, displaySentence, GIVEN_UP, GIVEN_UP_TOO } from "@banyan/client/display";
import { describeShortfall } from "@banyan/client/words";
import { type ConversationState, type FeedItem, textOf } from "@banyan/core";
import { callIn } from "@banyan/core/conversation";
import { callBegin, callDetails, callEndText } from "../show/call-line.ts";
import { changeHead } from "../show/diff-lines.ts";
import { gist, modelNoticeLines } from "../show/message-label.ts";
import { plainLine, plainText } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";
import { SubAgentItems, subAgentLine } from "../show/sub-agents.ts";

/** Items that may follow even the last text: a call that is not executed, and the end. */
const NO_SIGN_OF_MORE: ReadonlySet<FeedItem["type"]> = new Set([
  "call.failed",
  "call.pending",
  "run.ended",
  "usage.counted",
]);

export interface ProgressOptions {
  readonly quiet: boolean;
  /**
   * How to show text between calls: as one line, in full, or not at all, because the text already streams to stdout.
   */
  readonly said: "gist" | "whole" | "nothing";
}

/**
 * Writes the progress of a turn to stderr (T32, B80): a line per call and per problem, and the agent's text between
 * calls. The answer goes to stdout. If quiet, writes only problems.
 */
export class ProgressLines {
  readonly #write: (text: string) => void;
  readonly #style: Style;
  readonly #columns: number;
  readonly #quiet: boolean;
  readonly #said: ProgressOptions["said"];
  readonly #subAgents = new SubAgentItems();
  #isWritten = false;
  /** True if a response of this turn was abandoned, and the user told. */
  #gaveUp = false;
  /** Gist of the latest text until it is known not to be the answer for stdout, and later lines. */
  #gist: string | undefined;
  #behind: string[] = [];
  #shortfall: string | undefined;

  constructor(
    write: (text: string) => void,
    style: Style,
    columns: number,
    { quiet = false, said = "gist" }: Partial<ProgressOptions> = {},
  ) {
    this.#quiet = quiet;
    this.#said = said;
    this.#write = write;
    this.#style = style;
    this.#columns = columns;
  }

  notice(sentence: string): void {
    if (!this.#quiet) this.#put(`${this.#style.dim(sentence)}\n`);
  }

  problem(sentence: string): void {
    this.#tellGist();
    // An incomplete answer may be the only problem of the turn, and was already reported.
    if (sentence !== this.#shortfall) this.#put(`banyan: ${plainLine(sentence)}\n`);
  }

  item(item: FeedItem, state: ConversationState): void {
    if (this.#quiet) return;
    if (!NO_SIGN_OF_MORE.has(item.type)) this.#tellGist();
    if (this.#subAgents.has(item, state)) {
      const line = subAgentLine(item, state, this.#style, this.#columns);
      if (line !== undefined) this.#put(`${line}\n`);
      return;
    }
    const display = displayItem(item);
    switch (display?.type) {
      case "call-end": {
        const call = callIn(state, display);
        if (!call) break;
        const line = `${callBegin(call, this.#style, this.#columns)}${callEndText(call, this.#style)}`;
        for (const text of [line, ...callDetails(call, this.#style, this.#columns)]) this.#put(`${text}\n`);
        break;
      }
      case "memory":
        this.notice(`Memory added to the prompt: ${display.items.map(({ source }) => plainLine(source)).join("; ")}`);
        break;
      case "message-start":
        this.#isWritten = false;
        break;
      case "text":
        // Discarded text was visible only where the response streams.
        if (display.kind === "text") this.#isWritten ||= this.#said === "nothing" && display.text.trim() !== "";
        break;
      case "message-discard":
        if (this.#isWritten) {
          this.notice(this.#gaveUp ? GIVEN_UP_TOO : GIVEN_UP);
          this.#gaveUp = true;
        }
        break;
      case "message": {
        for (const line of modelNoticeLines(state.messages.get(display.message))) this.notice(line);
        break;
      }
      case "run-end":
        // At a limit, or with a response, the last text is the result for stdout.
        if (display.reason === "limit" || display.reason === "answered") this.#gist = "";
        this.#tellGist();
        break;
      case "file-change":
        this.#put(`${changeHead(display.change, this.#style)}\n`);
        break;
      case "message-end": {
        const message = state.messages.get(display.message);
        if (message && textOf(message).trim() !== "") {
          if (this.#said === "gist") this.#gist = `${this.#style.dim(gist(message, this.#columns))}\n`;
          // The last response has no calls and goes to stdout.
          if (this.#said === "whole" && display.parts.some(({ type }) => type === "call"))
            this.#put(`${plainText(textOf(message)).trimEnd()}\n`);
        }
        this.#shortfall = describeShortfall(message);
        if (this.#shortfall !== undefined) this.notice(plainLine(this.#shortfall));
        break;
      }
      case "question":
      case "answer":
      case "goal":
      case "process":
      case "notice": {
        const sentence = displaySentence(display);
        if (sentence !== undefined) this.notice(sentence);
        break;
      }
      // A call's line comes at its end, and the verdict describes the end of the turn.
      case "call":
      case "call-input":
      case "call-output":
      case "call-draft":
      case "run-start":
      case "delivery":
      case undefined:
        break;
      default:
        display satisfies never;
    }
  }

  #put(text: string): void {
    if (this.#gist === undefined) this.#write(text);
    else this.#behind.push(text);
  }

  #tellGist(): void {
    const lines = [this.#gist ?? "", ...this.#behind];
    this.#gist = undefined;
    this.#behind = [];
    for (const line of lines) if (line !== "") this.#write(line);
  }
}
