import { type ConversationState, type FeedItem, textOf } from "@banyan/core";
import { callIn, toldShortfall } from "@banyan/core/conversation";
import { GIVEN_UP, GIVEN_UP_TOO, type ToldType, toldItem, type UntoldType } from "@banyan/core/shown";
import { callBegin, callDetails, callEnd } from "../show/call-line.ts";
import { changeHead } from "../show/diff-lines.ts";
import { gist, toldModelLines } from "../show/message-label.ts";
import { oneLine, plainText } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";
import { SubAgentItems, subAgentLine } from "../show/sub-agents.ts";

/** Nobody is asked, a call is told when it ends, and how the turn ended the verdict says. */
type ShownElsewhere =
  | `question.${"asked" | "answered"}`
  | `call.${"pending" | "approval-requested" | "approval-resolved" | "executing"}`
  | `call.${"input" | "output" | "draft"}.delta`
  | "run.started"
  | "input.delivered"
  | "reasoning.delta";

/** After what is said, these come also where it is the last: a call that is not executed, and the end. */
const NO_SIGN_OF_MORE: ReadonlySet<FeedItem["type"]> = new Set([
  "call.failed",
  "call.pending",
  "run.ended",
  "usage.counted",
]);

/** What is told besides problems. */
export interface ProgressOptions {
  /** Nothing. */
  readonly quiet: boolean;
  /** How what the agent says between its calls is told: in a line, whole, or not at all, as it is written beside this as it comes. */
  readonly said: "gist" | "whole" | "nothing";
}

/**
 * The calls and hitches of a turn, one line each, and what the agent says between its calls: what stderr is told while
 * stdout gets the answer (T32, B80). Quiet, it tells problems alone.
 */
export class Progress {
  readonly #write: (text: string) => void;
  readonly #style: Style;
  readonly #columns: number;
  readonly #quiet: boolean;
  readonly #said: ProgressOptions["said"];
  readonly #subAgents = new SubAgentItems();
  /** Something of the answer that the model gives now was written. */
  #isWritten = false;
  /** A part of this turn was given up, and that was told. */
  #gaveUp = false;
  /** The gist of what was said last, until it shows whether that is the answer for stdout; and what is told behind it. */
  #gist: string | undefined;
  #behind: string[] = [];
  /** How what was said last falls short, which is told. */
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
    // What the answer lacks may be all that is wrong with the turn.
    if (sentence !== this.#shortfall) this.#put(`banyan: ${oneLine(sentence)}\n`);
  }

  item(item: FeedItem, state: ConversationState): void {
    if (this.#quiet) return;
    if (!NO_SIGN_OF_MORE.has(item.type)) this.#tellGist();
    if (this.#subAgents.has(item, state)) {
      const line = subAgentLine(item, state, this.#style, this.#columns);
      if (line !== undefined) this.#put(`${line}\n`);
      return;
    }
    switch (item.type) {
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled": {
        const call = callIn(state, item);
        if (!call) break;
        const line = `${callBegin(call, this.#style, this.#columns)}${callEnd(call, this.#style)}`;
        for (const text of [line, ...callDetails(call, this.#style, this.#columns)]) this.#put(`${text}\n`);
        break;
      }
      case "memory.recalled":
        this.notice(
          `Memory added to what the model is told: ${item.items.map(({ source }) => oneLine(source)).join("; ")}`,
        );
        break;
      case "message.started":
        this.#isWritten = false;
        break;
      case "text.delta":
        // What is given up was seen only where the answer is written as it comes.
        this.#isWritten ||= this.#said === "nothing" && item.text.trim() !== "";
        break;
      case "message.abandoned":
        if (this.#isWritten) {
          this.notice(this.#gaveUp ? GIVEN_UP_TOO : GIVEN_UP);
          this.#gaveUp = true;
        }
        break;
      case "message.added": {
        for (const line of toldModelLines(state.messages.get(item.message))) this.notice(line);
        break;
      }
      case "run.ended":
        // What it says at a limit, or as its answer, is what it came to.
        if (item.reason === "limit" || item.reason === "answered") this.#gist = "";
        this.#tellGist();
        break;
      case "file.changed":
        this.#put(`${changeHead(item, this.#style)}\n`);
        break;
      case "message.completed": {
        const message = state.messages.get(item.message);
        if (message && textOf(message).trim() !== "") {
          if (this.#said === "gist") this.#gist = `${this.#style.dim(gist(message, this.#columns))}\n`;
          // The last answer, which asks for no call, is for stdout.
          if (this.#said === "whole" && item.parts.some(({ type }) => type === "call"))
            this.#put(`${plainText(textOf(message)).trimEnd()}\n`);
        }
        this.#shortfall = toldShortfall(message);
        if (this.#shortfall !== undefined) this.notice(oneLine(this.#shortfall));
        break;
      }
      default: {
        item.type satisfies UntoldType | ToldType | ShownElsewhere;
        const told = toldItem(item);
        if (told !== undefined) this.notice(told);
      }
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
