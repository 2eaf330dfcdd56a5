import type { Delta, EventType, Notice } from "@banyan/core/conversation";

/** Where a conversation can be seen. */
export type Client = "full" | "plain" | "print" | "page";

/** Everything that a feed can bring. */
export type ItemType = EventType | Delta["type"] | Notice["type"];

/** What a client shows of an item: in a few words, or `nothing: ` and why it need not. */
type Shown = Readonly<Record<Client, string>>;

const same = (shown: string): Shown => ({ full: shown, plain: shown, print: shown, page: shown });
const nothing = (reason: string): Shown => same(`nothing: ${reason}`);

/**
 * What of a conversation is seen where (F37): a kind of item that is not in it does not compile. `attach` shows what the full
 * terminal and plain lines show.
 */
export const SHOWN_ITEMS: Readonly<Record<ItemType, Shown>> = {
  "conversation.created": nothing("there is nothing in it yet"),
  "conversation.brought-in": nothing("whoever brings it in is told by the command"),
  "content.stored": nothing("it is what runs refer to"),
  "message.added": {
    full: "what was said, and what a tool tells the model",
    plain: "what a tool tells the model; the person has typed the rest",
    print: "what a tool tells the model",
    page: "what was said, and what a tool tells the model",
  },
  "memory.recalled": {
    full: "how many entries, and the key that shows them",
    plain: "how many entries, and the command that shows them",
    print: "where each is from",
    page: "how many entries, which can be opened",
  },
  "message.started": {
    full: "that the model is waited for",
    plain: "nothing: its text follows",
    print: "nothing: its text follows",
    page: "that the model is waited for",
  },
  "message.checkpoint": nothing("its text was shown as it came"),
  "message.completed": same("why it is not whole, if it is not"),
  "message.abandoned": same("that what was written of it is given up"),
  "call.pending": {
    full: "the call",
    plain: "nothing: it is shown when it has run for a while, or ends",
    print: "nothing: it is shown when it ends",
    page: "the call",
  },
  "call.approval-requested": {
    full: "the question",
    plain: "nothing: the question is asked beside the feed",
    print: "nothing: nobody is asked",
    page: "the question",
  },
  "call.approval-resolved": {
    full: "the call",
    plain: "nothing: the call goes on, or is denied",
    print: "nothing: nobody is asked",
    page: "the call",
  },
  "call.executing": {
    full: "that it runs, and for how long",
    plain: "the call, when it has run for a while",
    print: "nothing: it is shown when it ends",
    page: "that it runs, and for how long",
  },
  "call.completed": same("how it ended"),
  "call.failed": same("how it ended, and the last lines of what it said"),
  "call.denied": same("that it was denied, and why"),
  "call.cancelled": same("that it was cancelled"),
  "call.following": nothing("the call has a line of its own"),
  "call.followed": nothing("what came of it is a change, or is told the model and shown as that"),
  "file.changed": same("the file, and what changed in it"),
  "process.started": same("what it is called, and what it is"),
  "process.ended": same("how it ended"),
  "question.asked": {
    full: "the question",
    plain: "nothing: the question is asked beside the feed",
    print: "nothing: nobody is asked",
    page: "the question",
  },
  "question.answered": nothing("the answer stands where it was typed, and in the call"),
  "run.started": {
    full: "that the model is waited for",
    plain: "nothing: its text follows",
    print: "nothing: its text follows",
    page: "that it works, and how to stop it",
  },
  "run.paused": same("which limit was reached, and that it is asked whether it may go on"),
  "run.continued": same("whether it goes on"),
  "run.ended": {
    full: "why, if it did not simply answer",
    plain: "why, if it did not simply answer",
    print: "nothing: the last line of the error output says why, and the exit code",
    page: "why, if it did not simply answer, and what can be done",
  },
  "input.queued": nothing("whoever wrote it sees it wait, beside the feed"),
  "input.edited": nothing("it still waits, beside the feed"),
  "input.withdrawn": nothing("it waits no more, beside the feed"),
  "input.delivered": {
    full: "nothing: the message that comes with it is shown",
    plain: "which message it was",
    print: "nothing: nobody writes to a print",
    page: "nothing: the message that comes with it is shown",
  },
  "memory.dismissed": {
    full: "nothing: /memory shows it, and whoever does it is told by the command",
    plain: "nothing: /memory shows it, and whoever does it is told by the command",
    print: "nothing: nobody can say so to a print",
    page: "that the entry is not used",
  },
  "message.labelled": nothing("the tree shows it"),
  "message.starred": nothing("the tree shows it"),
  "message.removed": nothing("the tree shows it"),
  "message.restored": nothing("the tree shows it"),
  "title.changed": nothing("lists and headings show it"),
  "model.changed": nothing("the status shows it; whoever changes it is told by the command"),
  "rule.revoked": nothing("whoever takes it back is told by the command"),
  "usage.counted": nothing("the status and the usage count it"),
  "text.delta": same("its text"),
  "reasoning.delta": {
    full: "that it thinks, and its thoughts",
    plain: "its thoughts",
    print: "nothing: the answer alone is asked for; --output jsonl has it",
    page: "that it thinks, and its thoughts",
  },
  "call.input.delta": {
    full: "the call as it is written",
    plain: "nothing: the call is shown when it runs",
    print: "nothing: the call is shown when it ends",
    page: "the call as it is written",
  },
  "call.output.delta": {
    full: "its last lines",
    plain: "nothing: what is shown is never touched again",
    print: "nothing: the call is shown when it ends",
    page: "its last lines",
  },
  "call.draft.delta": {
    full: "the change as it is written",
    plain: "nothing: the change is shown when it is made",
    print: "nothing: the change is shown when it is made",
    page: "the change as it is written",
  },
  "model.retrying": same("why, which attempt, and when"),
  "model.replaced": same("which model goes on in the place of which, and why"),
  "model.waiting": same("for how long, and whether the connection is alive"),
  "turn.waiting": same("what it waits for, and what is not there when it begins"),
  "message.left-out": same("why"),
  "request.changed": same("what is left out or changed"),
  "memory.skipped": same("why"),
  "context.shortening": same("that it is summed up, and why"),
  "context.not-shortened": same("that it stays, and why"),
  "callback.failed": same("which, and why"),
  "feed.reset": nothing("what follows is the conversation as it is"),
  "chat.ended": nothing("the end of the run was shown"),
};
