import type { ConversationSummary } from "@banyan/core";
import { ConversationDirectory, type Host } from "@banyan/host";
import { excerpt } from "../show/excerpt.ts";
import { oneLine } from "../show/plain-text.ts";
import { formatTime } from "../show/time.ts";
import type { PickerItem } from "../terminal/full/views/picker.ts";
import { pick } from "../terminal/pick.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Previews } from "./previews.ts";

/** Characters of a title. */
const TITLE = 60;
/** Conversations that words are looked for in at once. */
const FOUND = 50;

/** Among which conversations a person chooses; all of this machine when `among` is absent. */
export interface ChooseOptions {
  readonly host: Pick<Host, "agent" | "store" | "workspace">;
  readonly terminal: Terminal;
  readonly among?: readonly ConversationSummary[] | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Lets a person choose a conversation (T41): those of this directory first, by title or by any words that were said in
 * them, with a preview of where each stands. Answers its id, or nothing. Rejects with `StoreError`.
 */
export async function chooseConversation({
  host,
  terminal,
  among,
  signal,
}: ChooseOptions): Promise<string | undefined> {
  const { store, workspace, agent } = host;
  const listed = among ?? (await store.list());
  const isHere = ({ labels }: ConversationSummary) => labels.cwd === workspace;
  const summaries = [...listed.filter(isHere), ...listed.filter((each) => !isHere(each))];
  const previews = new Previews(new ConversationDirectory({ store }), agent.name, () => terminal.live?.refresh());
  return pick(
    terminal,
    {
      title: "Conversations",
      items: summaries.map((summary) => itemOf(summary, isHere(summary))),
      empty: "There are no conversations yet.",
      preview: (id, width, theme) => previews.of(id, width, theme),
      search: async (words) => (await store.search(words, { limit: FOUND })).map(({ conversation }) => conversation),
    },
    signal,
  );
}

function itemOf({ id, title, updatedAt, labels }: ConversationSummary, isHere: boolean): PickerItem<string> {
  const directory = oneLine(labels.cwd ?? "");
  return {
    value: id,
    label: excerpt(title, TITLE) || id,
    help: [formatTime(updatedAt), ...(isHere || directory === "" ? [] : [directory])].join("  "),
    more: id,
  };
}
