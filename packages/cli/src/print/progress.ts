import type { ConversationState, FeedItem } from "@banyan/core";
import { formatDuration } from "../show/amounts.ts";
import { callDetails, callEnd, callHead } from "../show/call-line.ts";
import { callIn } from "../show/call-of.ts";
import { cutSentence } from "../show/cut-sentence.ts";
import { oneLine } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";

/** The calls and hitches of a turn, one line each: what stderr is told while stdout gets the answer (T32). */
export class Progress {
  readonly #write: (text: string) => void;
  readonly #style: Style;
  readonly #columns: number;

  constructor(write: (text: string) => void, style: Style, columns: number) {
    this.#write = write;
    this.#style = style;
    this.#columns = columns;
  }

  notice(sentence: string): void {
    this.#write(`${this.#style.dim(sentence)}\n`);
  }

  problem(sentence: string): void {
    this.#write(`banyan: ${oneLine(sentence)}\n`);
  }

  item(item: FeedItem, state: ConversationState): void {
    switch (item.type) {
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled": {
        const call = callIn(state, item);
        if (!call) break;
        const line = `${callHead(call, this.#style, this.#columns)} … ${callEnd(call, this.#style)}`;
        for (const text of [line, ...callDetails(call, this.#style, this.#columns)]) this.#write(`${text}\n`);
        break;
      }
      case "model.retrying":
        this.notice(`${oneLine(item.reason)}; trying again in ${formatDuration(item.delay)} (attempt ${item.attempt})`);
        break;
      case "message.completed": {
        const cut = cutSentence(item);
        if (cut) this.notice(cut);
        break;
      }
    }
  }
}
