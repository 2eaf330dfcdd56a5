import type { Look } from "../client.ts";

/** What a client written by hand knows of a wire format. */
export interface WireFormat {
  /** Where requests go, behind the address. */
  readonly path: string;
  /** A request without its messages, with the tool or without. */
  head(tool: boolean): object;
  /** What stands in a chunk of text before its text, which `"}` ends. */
  readonly beforeText: string;
  /** The text of a chunk of text. */
  textOf(chunk: string): string;
  /** Adds to the calls what any other chunk says of them. */
  takeCalls(chunk: string, calls: Call[]): void;
  /** An answer, and the results of its calls, as the next request tells them. */
  messages(text: string, calls: readonly Call[], look: Look | undefined): readonly object[];
}

/** A call of an answer, its input as far as it has come. */
export interface Call {
  readonly id: string;
  readonly name: string;
  input: string;
}
