import type { Delta, EventType, Notice } from "@banyan/core/conversation";

/** Clients that show a conversation. */
export type Client = "full" | "plain" | "print" | "page";

/** All types of feed items. */
export type ItemType = EventType | Delta["type"] | Notice["type"];

/** A client's output for an item in one sentence, or `nothing: ` and the reason. */
type Shown = Readonly<Record<Client, string>>;

const same = (shown: string): Shown => ({ full: shown, plain: shown, print: shown, page: shown });
const nothing = (reason: string): Shown => same(`nothing: ${reason}`);
const ASKS_NO_USER = "nothing: Print mode asks no user.";
const TAKES_NO_INPUT = "nothing: Print mode takes no input.";
const SHOWN_AT_ITS_END = "nothing: A line shows the call at its end.";
const ANSWER_FOLLOWS = "nothing: The answer's text follows.";

/**
 * The output of each client for a conversation (F37). A missing type of item does not compile. `attach` shows the same as
 * the full terminal and plain lines.
 */
export const SHOWN_ITEMS: Readonly<Record<ItemType, Shown>> = {
  "conversation.created": nothing("The conversation is still empty."),
  "conversation.brought-in": nothing("The command that imports the conversation reports it."),
  "content.stored": nothing("Other events refer to this text."),
  "message.added": {
    full: "Shows the message, or a tool's text for the model.",
    plain: "Shows a tool's text for the model. The user typed the other messages.",
    print: "Shows a tool's text for the model.",
    page: "Shows the message, or a tool's text for the model.",
  },
  "memory.recalled": {
    full: "Shows the number of entries, and the key that opens them.",
    plain: "Shows the number of entries, and the command that lists them.",
    print: "Shows the source of each entry.",
    page: "Shows the number of entries, which a click opens.",
  },
  "message.started": {
    full: "Shows that the model is about to answer.",
    plain: ANSWER_FOLLOWS,
    print: ANSWER_FOLLOWS,
    page: "Shows that the model is about to answer.",
  },
  "message.checkpoint": nothing("The deltas have shown the text."),
  "message.completed": same("Shows why the answer is incomplete, if it is."),
  "message.abandoned": same("Shows that the partial answer is discarded."),
  "call.pending": {
    full: "Shows the call.",
    plain: "nothing: A line shows the call after a while, or at its end.",
    print: SHOWN_AT_ITS_END,
    page: "Shows the call.",
  },
  "call.approval-requested": {
    full: "Shows the question.",
    plain: "nothing: The prompt shows the question.",
    print: ASKS_NO_USER,
    page: "Shows the question.",
  },
  "call.approval-resolved": {
    full: "Shows the call.",
    plain: "nothing: The call continues, or is denied.",
    print: ASKS_NO_USER,
    page: "Shows the call.",
  },
  "call.executing": {
    full: "Shows the running call and its time.",
    plain: "Shows the call after a while.",
    print: SHOWN_AT_ITS_END,
    page: "Shows the running call and its time.",
  },
  "call.completed": same("Shows the outcome of the call."),
  "call.failed": same("Shows the outcome of the call, and the last lines of its output."),
  "call.denied": same("Shows that the call was denied, and why."),
  "call.cancelled": same("Shows that the call was cancelled."),
  "call.following": nothing("The call has a line already."),
  "call.followed": nothing("The outcome is a file change, or a message to the model."),
  "file.changed": same("Shows the file and its diff."),
  "process.started": same("Shows the name and title of the process."),
  "process.ended": same("Shows the outcome of the process."),
  "question.asked": {
    full: "Shows the question.",
    plain: "nothing: The prompt shows the question.",
    print: ASKS_NO_USER,
    page: "Shows the question.",
  },
  "question.answered": nothing("The prompt and the call show the answer."),
  "run.started": {
    full: "Shows that the model is about to answer.",
    plain: ANSWER_FOLLOWS,
    print: ANSWER_FOLLOWS,
    page: "Shows that the agent works, and how to stop it.",
  },
  "goal.checked": same("Shows whether the goal is reached, and which tests and configurations were changed."),
  "run.paused": same("Shows the limit, and that a user must decide."),
  "run.continued": same("Shows whether the turn continues or ends."),
  "run.ended": {
    full: "Shows time, changed files and cost, and the reason unless the run ended with an answer.",
    plain: "Shows the reason, unless the run ended with an answer.",
    print: "nothing: The last line on stderr and the exit code show the reason.",
    page: "Shows the reason and what to do, unless the run ended with an answer.",
  },
  "input.queued": nothing("Clients list waiting messages separately."),
  "input.edited": nothing("Clients list waiting messages separately."),
  "input.withdrawn": nothing("Clients list waiting messages separately."),
  "input.delivered": {
    full: "nothing: The message itself appears.",
    plain: "Shows the message.",
    print: TAKES_NO_INPUT,
    page: "nothing: The message itself appears.",
  },
  "memory.dismissed": {
    full: "nothing: `/memory` shows the entry.",
    plain: "nothing: `/memory` shows the entry.",
    print: TAKES_NO_INPUT,
    page: "Shows that the entry is not used.",
  },
  "message.labelled": nothing("The tree shows the name."),
  "message.starred": nothing("The tree shows the star."),
  "message.removed": nothing("The tree shows the change."),
  "message.restored": nothing("The tree shows the change."),
  "title.changed": nothing("Lists and headings show the title."),
  "model.changed": nothing("The status and the command show the model."),
  "rule.revoked": nothing("The command that revokes the rule reports it."),
  "usage.counted": nothing("The status and the usage include the cost."),
  "text.delta": same("Shows the text."),
  "reasoning.delta": {
    full: "Shows the reasoning.",
    plain: "Shows the reasoning.",
    print: "nothing: `--output jsonl` prints the reasoning.",
    page: "Shows the reasoning.",
  },
  "call.input.delta": {
    full: "Shows the call while the model writes it.",
    plain: "nothing: A line shows the call when it runs.",
    print: SHOWN_AT_ITS_END,
    page: "Shows the call while the model writes it.",
  },
  "call.output.delta": {
    full: "Shows the last lines of the output.",
    plain: "nothing: Printed lines never change.",
    print: SHOWN_AT_ITS_END,
    page: "Shows the last lines of the output.",
  },
  "call.draft.delta": {
    full: "Shows the change while the model writes it.",
    plain: "nothing: The finished change appears.",
    print: "nothing: The finished change appears.",
    page: "Shows the change while the model writes it.",
  },
  "model.retrying": same("Shows the reason, the wait, and the number of the next attempt."),
  "model.replaced": same("Shows both models and the reason."),
  "model.waiting": same("Shows how long the model is silent, and whether its connection is alive."),
  "turn.waiting": same(
    "Shows the tools that the turn waits for. When the turn starts, shows the tools that are still missing.",
  ),
  "message.left-out": same("Shows why the message is not sent to the model."),
  "request.changed": same("Shows the change of the request."),
  "memory.skipped": same("Shows why memory was not used."),
  "approval.withdrawn": same("Shows why calls need approval again."),
  "context.shortening": same("Shows that the conversation is being compacted, and why."),
  "context.not-shortened": same("Shows that the conversation was not compacted, and why."),
  "callback.failed": same("Shows the callback and the error."),
  "feed.reset": nothing("The next items correct the view."),
  "chat.ended": nothing("`run.ended`, which comes before, reports the end."),
};
