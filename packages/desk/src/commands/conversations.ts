import { type Event, isEvent, type Session } from "@banyan/core";
import { type StoredConversation, withRedactedTitle } from "@banyan/host";
import { CONVERSATIONS_AT_ONCE } from "@banyan/protocol/values";
import { itemForViewer } from "../live/frame.ts";
import { NotThereError } from "../request/problem.ts";
import type { Handlers, Workplace } from "./workplace.ts";

/** Loaded on first use: the schemas are large, and terminals have a desk, too. */
const exchange = () => import("@banyan/host/exchange");

const BEGINNING = { epoch: 0, seq: 0, offset: 0 };

/** Handlers of the commands about whole conversations. */
export const conversationHandlers: Handlers<
  | "conversation.list"
  | "conversation.search"
  | "conversation.create"
  | "conversation.open"
  | "conversation.rename"
  | "conversation.remove"
  | "conversation.seen"
  | "conversation.export"
  | "conversation.import"
  | "context.read"
> = {
  async "conversation.list"({ cwd, limit = CONVERSATIONS_AT_ONCE, after, programs = false }, { conversations }) {
    return { conversations: await conversations.list({ ...labelled(cwd), limit, after, programs }) };
  },

  async "conversation.search"({ query, limit, cwd, conversation, programs = false }, { conversations, signal }) {
    const within = { ...labelled(cwd), ...(conversation === undefined ? {} : { conversation }), signal };
    return { hits: await conversations.search(query, { ...within, programs, limit: limit ?? 20 }) };
  },

  async "conversation.create"({ conversation, program }, { conversations }) {
    return { conversation: (await conversations.create(conversation, program)).session.id };
  },

  async "conversation.open"({ named, cwd }, { conversations, directory }) {
    const found =
      named === undefined
        ? (await conversations.list({ ...labelled(cwd), limit: 1, programs: false }))[0]
        : await directory.find(named);
    if (!found) throw new NotThereError("There is no conversation yet. Send a message to start one.");
    return { conversation: found.id, title: found.title };
  },

  async "conversation.rename"({ conversation, title }, { conversations, host }) {
    await (await conversations.open(conversation)).session.notes.rename(host.redact(title));
    return {};
  },

  async "conversation.remove"({ conversation }, { conversations, host, shares }) {
    await conversations.remove(conversation);
    try {
      shares?.forget(conversation);
    } finally {
      await host.worktrees.sweep(conversation, undefined);
    }
    return {};
  },

  "conversation.seen"({ conversation }, { conversations }) {
    conversations.seen(conversation);
    return {};
  },

  async "conversation.export"({ conversation, format, leaf }, desk, viewer) {
    const { state, events } = await asItIs(conversation, desk);
    const name = fileNameFor(conversation);
    const { toHtml, toJson, toMarkdown } = await exchange();
    switch (format) {
      case "json":
        return {
          name: `${name}.json`,
          mediaType: "application/json",
          text: toJson(events.flatMap((event) => itemForViewer(event, viewer) ?? [])),
        };
      case "markdown":
        return { name: `${name}.md`, mediaType: "text/markdown", text: toMarkdown(state, leaf) };
      case "html":
        return { name: `${name}.html`, mediaType: "text/html", text: toHtml(state) };
    }
  },

  async "conversation.import"({ text }, { conversations, directory }) {
    const { fromJson } = await exchange();
    const read = fromJson(text);
    const conversation = await directory.bringIn(read);
    conversations.appeared(conversation);
    return { conversation, ...(read.unknown !== undefined && { notice: read.unknown }) };
  },

  async "context.read"({ conversation, leaf }, desk) {
    const { state } = await asItIs(conversation, desk);
    return { parts: await desk.host.contextParts(state, leaf ?? state.leaf) };
  },
};

/** A file name that is valid everywhere and cannot lead to another folder. */
function fileNameFor(conversation: string): string {
  const kept = conversation.replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").replace(/^[.-]+/, "_");
  return Array.from(kept).slice(0, 60).join("");
}

function labelled(cwd: string | undefined): { readonly labels?: Readonly<Record<string, string>> } {
  return cwd === undefined ? {} : { labels: { cwd } };
}

/** Read only: another program may have the conversation open. */
async function asItIs(
  conversation: string,
  { conversations, directory, host: { redact } }: Workplace,
): Promise<Pick<StoredConversation, "state" | "events">> {
  const session = conversations.ifOpen(conversation)?.session;
  if (!session) return directory.read(conversation);
  const events = (await readEvents(session)).map((event) => withRedactedTitle(event, redact));
  const { title } = session.state;
  const state = title === undefined ? session.state : { ...session.state, title: redact(title) };
  // The session keeps only what this version understands; the log has the whole event.
  if (!events.some((event) => "unreadable" in event)) return { state, events };
  const stored = (await directory.read(conversation)).events;
  const last = stored.at(-1)?.seq ?? 0;
  return { state, events: [...stored, ...events.filter(({ seq }) => seq > last)] };
}

/** Returns the events of an open conversation. */
export async function readEvents(session: Session): Promise<Event[]> {
  const events: Event[] = [];
  const { seq } = session.cursor;
  if (seq === 0) return events;
  for await (const item of session.feed({ from: BEGINNING })) {
    if (isEvent(item)) events.push(item);
    if (isEvent(item) && item.seq >= seq) break;
  }
  return events;
}
