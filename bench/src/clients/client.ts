import type { Format } from "../measure.ts";

/** A client of the provider. */
export interface Client {
  /** Starts a conversation; this cost is not measured. With `look`, the model has a tool of that name. */
  open(look?: Look): Promise<Conversation>;
  /** Creates an agent over an existing model, with the tool if `look` is given. Only for clients with agents. */
  agent?(look?: Look): unknown;
}

export interface Conversation {
  /**
   * Sends a question, reads the answer to its end and runs the calls. Returns the number of characters of the text, or
   * undefined if the client does not read it.
   */
  ask(question: string): Promise<number | undefined>;
  /** Releases the conversation's resources. */
  close?(): Promise<void>;
}

/** The function of the tool. */
export type Look = (input: { readonly path: string }) => string;

/** Creates a client of the provider at an address. The address ends before the path of the format. */
export type Connect = (address: string, format: Format) => Client | Promise<Client>;
