import type { Json } from "@banyan/core";
import type { ResponsesProvider } from "./provider.ts";

/** Everything that decides how a message is encoded, apart from the message itself. */
export interface ItemContext {
  readonly provider: ResponsesProvider;
  /** Media types of files that the model gets in tool results. */
  readonly takes: readonly string[];
  /** True if each message needs the field `type`. */
  readonly needsType: boolean;
  readonly reasons: boolean;
  /** Kinds of server tools by the user's names. */
  readonly kinds: ReadonlyMap<string, string>;
  /** True if the server stores items. Requests then refer to stored items. */
  readonly stores: boolean;
  /** True if the server adds the items of its own conversation. */
  readonly inConversation: boolean;
  /** True if the server adds the items of an earlier response. */
  readonly followsResponse: boolean;
  /** True if the driver sends files of all types. */
  readonly sendsAllFiles: boolean;
}

export type RequestItem = Readonly<Record<string, unknown>>;

/** This provider's data of a part, as stored in the log. */
export type ItemData = Readonly<Record<string, Json>>;
