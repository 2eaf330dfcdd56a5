import type { ConversationState, Cost, FeedItem } from "@banyan/core";
import type { z } from "zod";
import type { OutputFormat } from "../program/prompt-arguments.ts";
import { PlainText, plainText } from "../show/plain-text.ts";
import { SubAgentItems } from "../show/sub-agents.ts";
import type { resultSchema } from "./schema.ts";

/** Writes a turn to stdout, in one of the output formats. */
export interface TurnReport {
  /** Called after the state has applied the item. */
  item(item: FeedItem, state: ConversationState): void;
  result(result: PrintResult): void;
}

/**
 * Creates a report in a format. A text report writes only the complete final answer (B80). With `live`, for a user who
 * watches, it streams all text of the agent.
 */
export function turnReport(
  format: OutputFormat,
  write: (text: string) => void,
  { live = false }: { readonly live?: boolean } = {},
): TurnReport {
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

/** Streams the agent's text. Each message ends with a line end. */
class TextReport implements TurnReport {
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

/** One JSON object per line: the feed, then the result. `seq` counts lines from 1. */
class LineReport implements TurnReport {
  readonly #write: (text: string) => void;
  #seq = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  item(item: FeedItem): void {
    // The result already describes the end of the chat, and a feed from its beginning is never reset.
    if (item.type !== "chat.ended" && item.type !== "feed.reset") this.#line(item);
  }

  result(result: PrintResult): void {
    this.#line(result);
  }

  #line(item: FeedItem | PrintResult): void {
    // Readers of these lines have no use for positions in the log.
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

/** The result of `--print`: all of `--output json`, and the last line of `--output jsonl`. */
export type PrintResult = z.infer<typeof resultSchema>;

/** Converts a cost to JSON; null if the cost is unknown. */
export function jsonCost(cost: Cost): number | null {
  return cost ?? null;
}
