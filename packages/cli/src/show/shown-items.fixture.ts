import type { Delta, EventType, Notice } from "@banyan/core/conversation";

/** Clients that show a conversation. */
export type Client = "full" | "plain" | "print" | "page";

/** All types of feed items. */
export type ItemType = EventType | Delta["type"] | Notice["type"];

/** A client's output for an item, in a few words, or `nothing: ` and the reason. */
type Shown = Readonly<Record<Client, string>>;

const same = (shown: string): Shown => ({ full: shown, plain: shown, print: shown, page: shown });
const nothing = (reason: string): Shown => same(`nothing: ${reason}`);

/**
 * The output of each client for a conversation (F37). A missing type of item does not compile. `attach` shows the same as
 * the full terminal and plain lines.
 */
export const SHOWN_ITEMS: Readonly<Record<ItemType, Shown>> = {
  "conversation.created": nothing("the conversation is empty"),
  "conversation.brought-in": nothing("the importing command reports it"),
  "content.stored": nothing("runs refer to it"),
  "message.added": {
    full: "the message, and a tool's text for the model",
    plain: "a tool's text for the model; the user typed the rest",
    print: "a tool's text for the model",
    page: "the message, and a tool's text for the model",
  },
  "memory.recalled": {
    full: "number of entries, and the key to show them",
    plain: "number of entries, and the command to show them",
    print: "the source of each entry",
    page: "number of entries, which can be opened",
  },
  "message.started": {
    full: "waiting for the model",
    plain: "nothing: its text follows",
    print: "nothing: its text follows",
    page: "waiting for the model",
  },
  "message.checkpoint": nothing("the deltas were shown"),
  "message.completed": same("why the answer is incomplete"),
  "message.abandoned": same("the partial answer is discarded"),
  "call.pending": {
    full: "the call",
    plain: "nothing: shown after a while, or at its end",
    print: "nothing: shown at its end",
    page: "the call",
  },
  "call.approval-requested": {
    full: "the question",
    plain: "nothing: a question outside the feed",
    print: "nothing: print asks nobody",
    page: "the question",
  },
  "call.approval-resolved": {
    full: "the call",
    plain: "nothing: the call continues, or is denied",
    print: "nothing: print asks nobody",
    page: "the call",
  },
  "call.executing": {
    full: "the running call, with its time",
    plain: "the call, after a while",
    print: "nothing: shown at its end",
    page: "the running call, with its time",
  },
  "call.completed": same("the outcome"),
  "call.failed": same("the outcome, and the last lines of output"),
  "call.denied": same("the denial, and its reason"),
  "call.cancelled": same("the cancellation"),
  "call.following": nothing("the call has its own line"),
  "call.followed": nothing("its outcome is a change, or a message to the model"),
  "file.changed": same("the file, and its diff"),
  "process.started": same("its name and title"),
  "process.ended": same("the outcome"),
  "question.asked": {
    full: "the question",
    plain: "nothing: a question outside the feed",
    print: "nothing: print asks nobody",
    page: "the question",
  },
  "question.answered": nothing("the prompt and the call show the answer"),
  "run.started": {
    full: "waiting for the model",
    plain: "nothing: its text follows",
    print: "nothing: its text follows",
    page: "working, and how to stop",
  },
  "run.paused": same("the limit, and the question whether to continue"),
  "run.continued": same("the continuation, or the end"),
  "run.ended": {
    full: "the reason, unless it answered",
    plain: "the reason, unless it answered",
    print: "nothing: the last line on stderr and the exit code",
    page: "the reason, unless it answered, and what to do",
  },
  "input.queued": nothing("waiting messages are shown outside the feed"),
  "input.edited": nothing("waiting messages are shown outside the feed"),
  "input.withdrawn": nothing("waiting messages are shown outside the feed"),
  "input.delivered": {
    full: "nothing: its message is shown",
    plain: "the message",
    print: "nothing: print takes no input",
    page: "nothing: its message is shown",
  },
  "memory.dismissed": {
    full: "nothing: /memory and its command show it",
    plain: "nothing: /memory and its command show it",
    print: "nothing: print takes no input",
    page: "the entry is not used",
  },
  "message.labelled": nothing("the tree shows it"),
  "message.starred": nothing("the tree shows it"),
  "message.removed": nothing("the tree shows it"),
  "message.restored": nothing("the tree shows it"),
  "title.changed": nothing("lists and headings show it"),
  "model.changed": nothing("the status and the command show it"),
  "rule.revoked": nothing("the revoking command reports it"),
  "usage.counted": nothing("the status and the usage count it"),
  "text.delta": same("its text"),
  "reasoning.delta": {
    full: "the reasoning",
    plain: "the reasoning",
    print: "nothing: --output jsonl has it",
    page: "the reasoning",
  },
  "call.input.delta": {
    full: "the growing call",
    plain: "nothing: shown when it runs",
    print: "nothing: shown at its end",
    page: "the growing call",
  },
  "call.output.delta": {
    full: "its last lines",
    plain: "nothing: printed lines never change",
    print: "nothing: shown at its end",
    page: "its last lines",
  },
  "call.draft.delta": {
    full: "the growing change",
    plain: "nothing: shown when made",
    print: "nothing: shown when made",
    page: "the growing change",
  },
  "model.retrying": same("reason, attempt and time"),
  "model.replaced": same("both models, and the reason"),
  "model.waiting": same("the time, and whether the connection is alive"),
  "turn.waiting": same("the awaited tools, and those missing at the start"),
  "message.left-out": same("the reason"),
  "request.changed": same("the change"),
  "memory.skipped": same("the reason"),
  "context.shortening": same("the compaction, and its reason"),
  "context.not-shortened": same("no compaction, and the reason"),
  "callback.failed": same("the callback, and the error"),
  "feed.reset": nothing("the next items repair the view"),
  "chat.ended": nothing("run.ended was shown"),
};
