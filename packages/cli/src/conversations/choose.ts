import type { ConversationState } from "@banyan/core";
import type { ConversationSummary } from "@banyan/core/stores";
import { ConversationDirectory, type Host, listForUsers, searchForUsers, wasUnattended } from "@banyan/host";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { formatTime } from "../show/table.ts";
import type { Terminal } from "../terminal/contract/terminal.ts";
import type { PickerItem } from "../terminal/full/views/picker.ts";
import { pick } from "../terminal/pick.ts";
import { Previews } from "./previews.ts";

const TITLE = 60;
export const FOUND = 50;

/** Conversations from which the user chooses, on this machine or a server. */
export interface Choosable {
  readonly agent: string;
  /** Conversations of this directory come first. */
  readonly workspace: string;
  list(): Promise<readonly ConversationSummary[]>;
  search(words: string): Promise<readonly string[]>;
  /** Reads the present state of a conversation without opening it. */
  read(id: string): Promise<ConversationState>;
}

/** Lets the user choose among the conversations of this machine. */
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

/** Options of {@link chooseConversation}. Without `among`, the user chooses from all conversations. */
export interface ChooseConversationOptions {
  readonly from: Choosable;
  readonly terminal: Terminal;
  readonly among?: readonly ConversationSummary[] | undefined;
  readonly filter?: string;
  readonly signal?: AbortSignal;
}

/**
 * Lets the user choose a conversation (T41) with a preview. Conversations of this directory come first. A search covers
 * titles and messages. Returns the id, or undefined without a choice. Rejects like `list`.
 */
export async function chooseConversation(options: ChooseConversationOptions): Promise<string | undefined> {
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
      items: summaries.map((summary) => conversationItem(summary, isHere(summary))),
      filter,
      empty: "There are no conversations yet.",
      preview: (id, width, theme) => previews.of(id, width, theme, terminal.live?.prose.bind(terminal.live)),
      search: from.search,
    },
    signal,
  );
}

function conversationItem(summary: ConversationSummary, isHere: boolean): PickerItem<string> {
  const { id, title, updatedAt, labels } = summary;
  const directory = plainLine(labels.cwd ?? "");
  const how = wasUnattended(summary) ? ["unattended"] : [];
  return {
    value: id,
    label: excerptLine(title, TITLE) || id,
    // Put the most useful facts first: a narrow terminal cuts the rest.
    help: [...how, formatTime(updatedAt), ...(isHere || directory === "" ? [] : [directory])].join("  "),
    id,
  };
}
