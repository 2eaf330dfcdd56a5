import type { ConversationState, Cost, FeedItem } from "@banyan/core";
import type { z } from "zod";
import type { OutputFormat } from "../arguments.ts";
import { PlainText, plainText } from "../show/plain-text.ts";
import { SubAgentItems } from "../show/sub-agents.ts";
import type { resultSchema } from "./schema.ts";

/** What goes to stdout while a turn runs, and at its end. */
export interface Report {
  /** The state has the item already. */
  item(item: FeedItem, state: ConversationState): void;
  result(result: Result): void;
}

/**
 * A report in a format, written with `write`. As a text it is the final answer alone (B80): which answer that is, is known
 * when it is whole. With `live`, for a person who watches, it is written as it comes, and so is what was said between calls.
 */
export function reportIn(
  format: OutputFormat,
  write: (text: string) => void,
  { live = false }: { readonly live?: boolean } = {},
): Report {
  switch (format) {
    case "text":
      return live ? new TextReport(write) : { item() {}, result: ({ text }) => writeText(text, write) };
    case "json":
      return { item() {}, result: (result) => write(`${JSON.stringify(result)}\n`) };
    case "jsonl":
      return new LineReport(write);
  }
}

function writeText(text: string, write: (text: string) => void): void {
  const plain = plainText(text);
  if (plain !== "") write(plain.endsWith("\n") ? plain : `${plain}\n`);
}

/** What the agent says as it comes, and nothing else; each message ends with a line end. */
class TextReport implements Report {
  readonly #write: (text: string) => void;
  readonly #subAgents = new SubAgentItems();
  #plain = new PlainText();
  #said = "";
  #answers = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  item(item: FeedItem, state: ConversationState): void {
    if (this.#subAgents.has(item, state)) return;
    switch (item.type) {
      case "message.started":
        this.#plain = new PlainText();
        break;
      case "text.delta":
        this.#say(this.#plain.push(item.text));
        break;
      case "message.completed":
      case "message.abandoned":
        this.#end();
        break;
    }
  }

  result(): void {
    this.#end();
  }

  #say(text: string): void {
    if (text === "") return;
    // Answers of one turn stand apart from each other.
    if (this.#said === "" && this.#answers > 0) this.#write("\n");
    this.#said = text;
    this.#write(text);
  }

  #end(): void {
    if (this.#said === "") return;
    if (!this.#said.endsWith("\n")) this.#write("\n");
    this.#said = "";
    this.#answers++;
  }
}

/** One JSON object in each line: the feed, then the result. `seq` counts the lines from 1. */
class LineReport implements Report {
  readonly #write: (text: string) => void;
  #seq = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  item(item: FeedItem): void {
    // The result says how the chat ended; a feed that is followed from its beginning is never set back.
    if (item.type !== "chat.ended" && item.type !== "feed.reset") this.#line(item);
  }

  result(result: Result): void {
    this.#line(result);
  }

  #line(item: FeedItem | Result): void {
    // Where an item stands in the log is of no use to whoever reads these lines.
    const {
      type,
      seq: _seq,
      epoch: _epoch,
      offset: _offset,
      ...rest
    } = item as LinePosition & { readonly type: string };
    this.#write(`${JSON.stringify({ seq: ++this.#seq, type, ...rest })}\n`);
  }
}

interface LinePosition {
  readonly seq?: number;
  readonly epoch?: number;
  readonly offset?: number;
}

/** What `--print` comes to: the whole of `--output json`, the last line of `--output jsonl`. */
export type Result = z.infer<typeof resultSchema>;

/** A cost as JSON has it. */
export function jsonCost(cost: Cost): number | null {
  return cost ?? null;
}
