import type { ConversationState } from "@banyan/core";
import type { ConversationSummary } from "@banyan/core/stores";
import { ConversationDirectory, type Host, listForUsers, searchForUsers, wasUnattended } from "@banyan/host";
import { excerpt } from "../show/fit-text.ts";
import { oneLine } from "../show/plain-text.ts";
import { formatTime } from "../show/table.ts";
import type { PickerItem } from "../terminal/full/views/picker.ts";
import { pick } from "../terminal/pick.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Previews } from "./previews.ts";

/** Characters of a title. */
const TITLE = 60;
/** Messages that a search finds at most. */
export const FOUND = 50;

/** Conversations that a person can choose among: of this machine, or of a server. */
export interface Choosable {
  /** What people call the agent. */
  readonly agent: string;
  /** The directory whose conversations come first. */
  readonly workspace: string;
  list(): Promise<readonly ConversationSummary[]>;
  /** The ids of those in which these words were said. */
  search(words: string): Promise<readonly string[]>;
  /** One as it is now, to be looked at only. */
  read(id: string): Promise<ConversationState>;
}

/** The conversations of this machine. */
export function conversationsHere({
  agent,
  store,
  redact,
  workspace,
}: Pick<Host, "agent" | "store" | "redact" | "workspace">): Choosable {
  const directory = new ConversationDirectory({ store, redact });
  return {
    agent: agent.name,
    workspace,
    list: () => listForUsers(directory),
    search: async (words) =>
      (await searchForUsers(directory, words, { limit: FOUND })).map(({ conversation }) => conversation),
    read: async (id) => (await directory.read(id)).state,
  };
}

/** Among which conversations a person chooses; all of them when `among` is absent. */
export interface ChooseOptions {
  readonly from: Choosable;
  readonly terminal: Terminal;
  readonly among?: readonly ConversationSummary[] | undefined;
  /** What the filter holds at first. */
  readonly filter?: string;
  readonly signal?: AbortSignal;
}

/**
 * Lets a person choose a conversation (T41): those of this directory first, by title or by any words that were said in
 * them, with a preview of where each stands. Returns its id, or nothing. Rejects as `list` does.
 */
export async function chooseConversation(options: ChooseOptions): Promise<string | undefined> {
  const { from, terminal, among, filter = "", signal } = options;
  const { workspace, agent } = from;
  const listed = among ?? (await from.list());
  const isHere = ({ labels }: ConversationSummary) => labels.cwd === workspace;
  const summaries = [...listed.filter(isHere), ...listed.filter((each) => !isHere(each))];
  const previews = new Previews(from.read, agent, () => terminal.live?.refresh());
  return pick(
    terminal,
    {
      title: "Conversations",
      items: summaries.map((summary) => itemOf(summary, isHere(summary))),
      filter,
      empty: "There are no conversations yet.",
      preview: (id, width, theme) => previews.of(id, width, theme, terminal.live?.prose.bind(terminal.live)),
      search: from.search,
    },
    signal,
  );
}

function itemOf(summary: ConversationSummary, isHere: boolean): PickerItem<string> {
  const { id, title, updatedAt, labels } = summary;
  const directory = oneLine(labels.cwd ?? "");
  const how = wasUnattended(summary) ? ["unattended"] : [];
  return {
    value: id,
    label: excerpt(title, TITLE) || id,
    // What one looks for first is seen in few columns, too.
    help: [...how, formatTime(updatedAt), ...(isHere || directory === "" ? [] : [directory])].join("  "),
    id,
  };
}
