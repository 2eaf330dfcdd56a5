import type { Format } from "../measure.ts";

/** A way to talk to the provider. */
export interface Client {
  /** Begins a conversation; what that costs is not measured. With `look`, the model has a tool of that name. */
  open(look?: Look): Promise<Conversation>;
  /** Makes an agent, with the tool where `look` is given, over a model that is there: of clients that have agents. */
  agent?(look?: Look): unknown;
}

export interface Conversation {
  /**
   * Says something and reads the answer to its end, running the calls that the model asks for. Answers the characters of
   * the text that came; nothing for a client that does not look into it.
   */
  ask(question: string): Promise<number | undefined>;
  /** Gives back what it holds open. */
  close?(): Promise<void>;
}

/** What the tool does. */
export type Look = (input: { readonly path: string }) => string;

/** Makes a client of the provider at an address, which ends before the path of the format. */
export type Connect = (address: string, format: Format) => Client | Promise<Client>;
