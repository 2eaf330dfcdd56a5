import type { Look } from "../client.ts";

/** A wire format for a client written by hand. */
export interface WireFormat {
  /** The path of requests after the address. */
  readonly path: string;
  /** The field of a request with its messages. */
  readonly list: string;
  /** Returns a request without its messages, with or without the tool. */
  head(tool: boolean): object;
  /** Returns a message of the user. */
  question(text: string): object;
  /** The characters before the text in a text chunk. */
  readonly beforeText: string;
  /** The characters after the text. Default `"}`. */
  readonly afterText?: string;
  /** Returns the text of a text chunk. */
  textOf(chunk: string): string;
  /** Adds the content of any other chunk to the calls. */
  takeCalls(chunk: string, calls: Call[]): void;
  /** Returns an answer and the results of its calls as messages of the next request. */
  messages(text: string, calls: readonly Call[], look: Look | undefined): readonly object[];
}

/** A call of an answer, with its input so far. */
export interface Call {
  readonly id: string;
  readonly name: string;
  input: string;
}
