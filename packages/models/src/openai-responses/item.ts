import type { Json } from "@banyan/core";
import type { ResponsesProvider } from "./provider.ts";

/** Everything besides the message that decides its encoding. */
export interface ItemContext {
  readonly provider: ResponsesProvider;
  /** Media types of files that the model gets in tool results. */
  readonly takes: readonly string[];
  /** Each message needs its type. */
  readonly needsType: boolean;
  readonly reasons: boolean;
  /** Kinds of server tools by the user's names. */
  readonly kinds: ReadonlyMap<string, string>;
  /** The server stores items, so the request refers to them. */
  readonly stores: boolean;
  /** The server adds the items of its own conversation. */
  readonly inConversation: boolean;
  /** The server adds the items of an earlier response. */
  readonly followsResponse: boolean;
  /** Files of all types are sent. */
  readonly sendsAllFiles: boolean;
}

export type RequestItem = Readonly<Record<string, unknown>>;

/** Data of this provider with a part, as the log has it. */
export type ItemData = Readonly<Record<string, Json>>;
