import type { AgentOptions, Store } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import type { ConversationSummary, ListQuery, SearchHit, SearchOptions } from "@banyan/core/stores";

/** No conversation, or more than one, is meant by a name. `message` says what to do. */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
  readonly code: "not-found" | "ambiguous";
  /** Those that may be meant. */
  readonly matches: readonly ConversationSummary[];

  constructor(code: ConversationError["code"], message: string, matches: readonly ConversationSummary[] = []) {
    super(message);
    this.code = code;
    this.matches = matches;
  }
}

/** The label of a conversation that was begun where nobody could be asked: by `banyan -p`, say. */
export const UNATTENDED = "unattended";

/** Whether a conversation was begun where nobody could be asked. */
export function wasUnattended({ labels }: Pick<ConversationSummary, "labels">): boolean {
  return labels[UNATTENDED] !== undefined;
}

/** The label of a conversation that a program began at `/v1`: "streamed" if its answers go there as streams, else "whole". */
export const PROGRAM = "program";

/** How a program that began a conversation takes its answers. */
export type ProgramAnswers = "streamed" | "whole";

/** The labels that say how a conversation began: on which machine, where nobody could be asked, or by a program. */
export function labelsOfBeginning({
  machine,
  unattended,
  program,
}: {
  readonly machine: string | undefined;
  readonly unattended: boolean;
  readonly program: ProgramAnswers | undefined;
}): Readonly<Record<string, string>> {
  return {
    ...(machine !== undefined && { machine }),
    ...(unattended && { [UNATTENDED]: "true" }),
    ...(program !== undefined && { [PROGRAM]: program }),
  };
}

/**
 * The conversations of a list that users see: those that programs began are left out (W89). `limit` counts what is left.
 * Rejects with `StoreError`.
 */
export async function listForUsers(store: Pick<Store, "list">, query: ListQuery = {}): Promise<ConversationSummary[]> {
  const listed = await store.list(query);
  const users = listed.filter(({ labels }) => labels[PROGRAM] === undefined);
  const { limit, ...rest } = query;
  if (limit === undefined || users.length === listed.length || listed.length < limit) return users;
  const all = await store.list(rest);
  return all.filter(({ labels }) => labels[PROGRAM] === undefined).slice(0, limit);
}

/**
 * The messages that users find: those of conversations that programs began are left out (W89), unless `conversation` names one.
 * `limit` counts what is left. Rejects with `StoreError`.
 */
export async function searchForUsers(
  store: Pick<Store, "list" | "search">,
  query: string,
  options: SearchOptions = {},
): Promise<SearchHit[]> {
  refuseUnknown("searchForUsers", options, SEARCH_OPTIONS);
  if (options.conversation !== undefined) return store.search(query, options);
  const answers: readonly ProgramAnswers[] = ["streamed", "whole"];
  const begun = await Promise.all(answers.map((each) => store.list({ labels: { [PROGRAM]: each } })));
  const hidden = new Set(begun.flat().map(({ id }) => id));
  const { limit = USUAL_HITS } = options;
  for (let most = limit; ; most *= 4) {
    const hits = await store.search(query, { ...options, limit: most });
    const found = hits.filter(({ conversation }) => !hidden.has(conversation));
    if (found.length >= limit || hits.length < most) return found.slice(0, limit);
  }
}

const SEARCH_OPTIONS: OptionNames<SearchOptions> = { limit: true, labels: true, conversation: true };

/** Hits of a search that names no limit. */
const USUAL_HITS = 20;

/** Conversations that are looked through first for one that a person held. */
const RECENT = 20;

/**
 * Returns the conversation of a directory that was written to last. Where a user can be asked, the conversations that a user
 * began come first, and `passed` is a later conversation that began where nobody could be asked.
 */
export async function lastFor(
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

/**
 * The conversation that a person means: by its id, the beginning of its id (from four characters on) or its title,
 * whole or in part. Rejects with `ConversationError`.
 */
export async function findConversation(store: Store, named: string): Promise<ConversationSummary> {
  const wanted = named.trim().toLowerCase();
  const summaries = named === "" ? [] : await store.list();
  // Any text may be an id: so it is looked for as it was written, capitals included, and only then in other ways.
  for (const whole of [named, named.trim(), wanted]) {
    const exact = summaries.find(({ id }) => id === whole);
    if (exact) return exact;
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
  for (const way of ways) {
    const found = summaries.filter(way);
    if (found.length > 1) throw ambiguous(named, found);
    if (found[0]) return found[0];
  }
  throw new ConversationError(
    "not-found",
    `There is no conversation '${named}'. Give its id, the start of its id, or its title.`,
  );
}

function ambiguous(named: string, found: readonly ConversationSummary[]): ConversationError {
  const some = found.slice(0, 5).map(({ id, title }) => `${visibleLine(id)} (${title.slice(0, 40)})`);
  const more = found.length > some.length ? ` and ${found.length - some.length} more` : "";
  return new ConversationError(
    "ambiguous",
    `'${named}' matches several conversations: ${some.join(", ")}${more}. Give the id of one.`,
    found,
  );
}
