import { setImmediate } from "node:timers/promises";
import type { AgentOptions, Store } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import {
  type ConversationSummary,
  type ListQuery,
  listInPages,
  type SearchHit,
  type SearchOptions,
} from "@banyan/core/stores";

/** The error of a name that matches no conversation or several conversations. `message` says what to do. */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
  readonly code: "not-found" | "ambiguous";
  /** The conversations that match the name. */
  readonly matches: readonly ConversationSummary[];

  constructor(code: ConversationError["code"], message: string, matches: readonly ConversationSummary[] = []) {
    super(message);
    this.code = code;
    this.matches = matches;
  }
}

/** The label of a conversation that began without a user to ask, for example by `banyan -p`. */
export const UNATTENDED = "unattended";

/** Returns whether a conversation began without a user to ask. */
export function wasUnattended({ labels }: Pick<ConversationSummary, "labels">): boolean {
  return labels[UNATTENDED] !== undefined;
}

/** The label of a conversation that a program began through the HTTP interface `/v1`. */
export const PROGRAM = "program";

/** The form in which a program at `/v1` reads answers: streamed or whole. */
export type AnswerStyle = "streamed" | "whole";

/**
 * Returns the labels of a new conversation: its machine, whether it has a user to ask, and whether a program began it.
 */
export function labelsOfBeginning({
  machine,
  unattended,
  program,
}: {
  readonly machine: string | undefined;
  readonly unattended: boolean;
  readonly program: AnswerStyle | undefined;
}): Readonly<Record<string, string>> {
  return {
    ...(machine !== undefined && { machine }),
    ...(unattended && { [UNATTENDED]: "true" }),
    ...(program !== undefined && { [PROGRAM]: program }),
  };
}

/** Lists at most `limit` conversations, without those of programs (W89). Rejects with `StoreError`. */
export function listForUsers(store: Pick<Store, "list">, query: ListQuery = {}): Promise<ConversationSummary[]> {
  return store.list({ ...query, without: [PROGRAM] });
}

/**
 * Searches messages. Leaves out programs' conversations, unless `conversation` is one of them (W89). Rejects with
 * `StoreError`.
 */
export async function searchForUsers(
  store: Pick<Store, "search">,
  query: string,
  options: SearchOptions = {},
): Promise<SearchHit[]> {
  refuseUnknown("searchForUsers", options, SEARCH_OPTIONS);
  return store.search(query, options.conversation === undefined ? { ...options, without: [PROGRAM] } : options);
}

const SEARCH_OPTIONS: OptionNames<SearchOptions> = {
  limit: true,
  labels: true,
  without: true,
  conversation: true,
  signal: true,
};

/** Number of conversations in a page of `allConversations`. */
const PAGE = 500;

/**
 * Yields all conversations once. The conversation with the newest message comes first. Lets other work run between two
 * pages. Rejects with `StoreError`.
 */
export async function* allConversations(
  store: Pick<Store, "list">,
  query: ListQuery = {},
): AsyncGenerator<ConversationSummary> {
  const page = async (after?: ConversationSummary) => {
    if (after) await setImmediate();
    return store.list({ ...query, after, limit: PAGE });
  };
  for await (const conversations of listInPages(page, PAGE)) yield* conversations;
}

/** Number of recent conversations to search for one that a user began. */
const RECENT = 20;

/**
 * Returns the conversation of a directory that has the newest message. If a user can be asked, prefers a conversation
 * that a user began. `passed` is then a newer conversation that began without a user.
 */
export async function lastConversation(
  store: Store,
  cwd: string,
  { unattended = false }: Pick<AgentOptions, "unattended">,
): Promise<{ readonly last?: ConversationSummary | undefined; readonly passed?: ConversationSummary | undefined }> {
  const labels = { cwd };
  const recent = await listForUsers(store, { labels, limit: unattended ? 1 : RECENT });
  const [latest] = recent;
  if (unattended) return { last: latest };
  const isHeld = (summary: ConversationSummary) => !wasUnattended(summary);
  const held =
    recent.find(isHeld) ?? (recent.length < RECENT ? undefined : (await listForUsers(store, { labels })).find(isHeld));
  return held && held !== latest ? { last: held, passed: latest } : { last: latest };
}

/** Finds a conversation by its id, at least four characters of its start, or a part of its title. */
export async function findConversation(store: Store, named: string): Promise<ConversationSummary> {
  const wanted = named.trim().toLowerCase();
  // Any text may be an id, so try the exact text first.
  const whole = named === "" ? [] : [named, named.trim(), wanted];
  const exact = await store.list({ conversations: whole });
  for (const each of whole) {
    const one = exact.find(({ id }) => id === each);
    if (one) return one;
  }
  const ways =
    wanted === ""
      ? []
      : [
          ({ id }: ConversationSummary) => id.toLowerCase() === wanted,
          ({ id }: ConversationSummary) => wanted.length >= 4 && id.toLowerCase().startsWith(wanted),
          ({ title }: ConversationSummary) => title.toLowerCase() === wanted,
          ({ title }: ConversationSummary) => title.toLowerCase().includes(wanted),
        ];
  const fitting = ways.map((): ConversationSummary[] => []);
  if (ways.length > 0)
    for await (const summary of allConversations(store))
      for (const [at, way] of ways.entries()) if (way(summary)) fitting[at]?.push(summary);
  for (const found of fitting) {
    if (found.length > 1) throw ambiguousNameError(named, found);
    if (found[0]) return found[0];
  }
  throw new ConversationError(
    "not-found",
    `There is no conversation '${named}'. Name a conversation by its id, the start of its id, or its title.`,
  );
}

function ambiguousNameError(named: string, found: readonly ConversationSummary[]): ConversationError {
  const some = found.slice(0, 5).map(({ id, title }) => `${visibleLine(id)} (${title.slice(0, 40)})`);
  const more = found.length > some.length ? ` and ${found.length - some.length} more` : "";
  return new ConversationError(
    "ambiguous",
    `'${named}' matches several conversations: ${some.join(", ")}${more}. Give the id of one.`,
    found,
  );
}
