import type {
  Delta,
  Event,
  FeedItem,
  FileChange,
  MessageAdded,
  Notice,
  RecalledMemory,
  WordQuestion,
} from "@banyan/core/conversation";
import type { Say } from "@banyan/core/shown";
import { hasSentence, itemSentence, type NoticeType } from "./item-sentence.ts";

type WithoutPosition<Item> = Item extends unknown ? Omit<Item, "seq" | "epoch" | "at" | "offset"> : never;

/**
 * A feed item without its position. A client can also make such an item from the conversation's state. See
 * {@link displayItem}.
 */
export type UnplacedItem = WithoutPosition<FeedItem>;

type ItemFields<Type extends FeedItem["type"], Name extends string> = Pick<
  Extract<WithoutPosition<Event | Delta | Notice>, { readonly type: Type }>,
  Name & keyof Extract<WithoutPosition<Event | Delta | Notice>, { readonly type: Type }>
>;

/**
 * A notice about a model's work or about the reading of a log, with its sentence and its feed item. See
 * {@link displayItem}.
 */
export interface NoticeDisplay {
  readonly type: "notice";
  readonly text: string | undefined;
  readonly notice: Extract<UnplacedItem, { readonly type: NoticeType }>;
}

/** An open question. For a limit, `text` is the question as a sentence. See {@link displayItem}. */
export type QuestionDisplay = { readonly type: "question"; readonly question: string } & (
  | { readonly about: "call"; readonly message: string; readonly call: string; readonly tool: string | undefined }
  | ({ readonly about: "text"; readonly message: string; readonly call: string } & Pick<
      WordQuestion,
      "text" | "choices" | "fields"
    >)
  | { readonly about: "limit"; readonly run: string; readonly reason: string; readonly text: string | undefined }
);

/** A closed question. `allowed` is the decision about a call or a limit. See {@link displayItem}. */
export type AnswerDisplay = { readonly type: "answer"; readonly question: string } & (
  | { readonly about: "call"; readonly message: string; readonly call: string; readonly allowed: boolean }
  | { readonly about: "text" }
  | { readonly about: "limit"; readonly run: string; readonly allowed: boolean; readonly text: string | undefined }
);

/** A call that is running, or whose arguments are complete. See {@link displayItem}. */
export type CallDisplay =
  | ({ readonly type: "call"; readonly status: "pending" } & ItemFields<
      "call.pending",
      "message" | "call" | "tool" | "inputText" | "input" | "about"
    >)
  | { readonly type: "call"; readonly status: "executing"; readonly message: string; readonly call: string };

/** The final state of a call. See {@link displayItem}. */
export type CallOutcome = "completed" | "failed" | "denied" | "cancelled";

/**
 * An item for display. The conversation's state has the data that the item lacks, such as the whole call of a
 * `call-end`. See {@link displaySentence}.
 */
export type DisplayItem =
  | ({ readonly type: "run-start" } & ItemFields<"run.started", "run" | "agent" | "leaf" | "call" | "continues">)
  | ({ readonly type: "run-end" } & ItemFields<"run.ended", "run" | "reason" | "leaf" | "error" | "limit">)
  | ({ readonly type: "message" } & Omit<MessageAdded, "type">)
  | ({ readonly type: "message-start" } & ItemFields<"message.started", "message" | "run" | "parentId" | "model">)
  | ({ readonly type: "message-end" } & ItemFields<
      "message.completed",
      "message" | "parts" | "finish" | "usage" | "cost" | "error"
    >)
  /** The model is asked again: the text so far is not part of the response. */
  | { readonly type: "message-discard"; readonly message: string }
  | ({ readonly type: "text"; readonly kind: "text" | "reasoning" } & ItemFields<
      "text.delta" | "reasoning.delta",
      "message" | "run" | "part" | "text" | "begins"
    >)
  | ({ readonly type: "call-input" } & ItemFields<"call.input.delta", "message" | "run" | "call" | "tool" | "text">)
  | CallDisplay
  | ({ readonly type: "call-output" } & ItemFields<"call.output.delta", "message" | "run" | "call" | "text">)
  /** A running call writes a change of a file. */
  | ({ readonly type: "call-draft" } & Omit<
      WithoutPosition<Extract<Delta, { readonly type: "call.draft.delta" }>>,
      "type"
    >)
  | {
      readonly type: "call-end";
      readonly outcome: CallOutcome;
      readonly message: string;
      readonly call: string;
      readonly output: string;
    }
  | { readonly type: "file-change"; readonly message: string; readonly call: string; readonly change: FileChange }
  | QuestionDisplay
  | AnswerDisplay
  | { readonly type: "memory"; readonly message: string; readonly items: readonly RecalledMemory[] }
  /** A waiting message has reached the turn. */
  | { readonly type: "delivery"; readonly input: string }
  /** The checks of a goal have run. `text`: a sentence about the results. */
  | ({ readonly type: "goal"; readonly text: string } & ItemFields<"goal.checked", "run" | "outcome" | "results">)
  /** A background process. `text`: a sentence about its start or end. */
  | { readonly type: "process"; readonly process: string; readonly hasEnded: boolean; readonly text: string }
  | NoticeDisplay;

/** Types of items that only change the state, or that concern the reading of the feed. */
type UndisplayedType =
  | `conversation.${"created" | "brought-in"}`
  | `message.${"checkpoint" | "labelled" | "starred" | "removed" | "restored"}`
  | `call.${"following" | "followed"}`
  | `input.${"queued" | "edited" | "withdrawn"}`
  | "chat.ended"
  | "content.stored"
  | "feed.reset"
  | "memory.dismissed"
  | "model.changed"
  | "rule.revoked"
  | "title.changed"
  | "usage.counted";

/**
 * Returns a feed item for display; nothing for items that only change the state. `say` translates the texts.
 * @example
 * for await (const item of agent.chat(say("Hello"))) {
 *   const display = displayItem(item);
 *   if (display?.type === "text") process.stdout.write(display.text);
 * }
 */
export function displayItem(item: UnplacedItem, say?: Say): DisplayItem | undefined {
  switch (item.type) {
    case "text.delta":
      return { ...item, type: "text", kind: "text" };
    case "reasoning.delta":
      return { ...item, type: "text", kind: "reasoning" };
    case "call.input.delta":
      return { ...item, type: "call-input" };
    case "call.output.delta":
      return { ...item, type: "call-output" };
    case "call.draft.delta":
      return { ...item, type: "call-draft" };
    case "run.started":
      return { ...item, type: "run-start" };
    case "run.ended":
      return { ...item, type: "run-end" };
    case "message.added":
      return { ...item, type: "message" };
    case "message.started":
      return { ...item, type: "message-start" };
    case "message.completed":
      return { ...item, type: "message-end" };
    case "message.abandoned":
      return { type: "message-discard", message: item.message };
    case "call.pending":
      return { ...item, type: "call", status: "pending" };
    case "call.executing":
      return { type: "call", status: "executing", message: item.message, call: item.call };
    case "call.completed":
      return callEndDisplay("completed", item);
    case "call.failed":
      return callEndDisplay("failed", item);
    case "call.denied":
      return callEndDisplay("denied", item);
    case "call.cancelled":
      return callEndDisplay("cancelled", item);
    case "file.changed": {
      const { type: _, message, call, ...change } = item;
      return { type: "file-change", message, call, change };
    }
    case "call.approval-requested": {
      const { message, call, question, tool } = item;
      return { type: "question", about: "call", question, message, call, tool };
    }
    case "question.asked":
      return { ...item, type: "question", about: "text" };
    case "run.paused": {
      const { run, question, reason } = item;
      return { type: "question", about: "limit", question, run, reason, text: itemText(item, say) };
    }
    case "call.approval-resolved": {
      const { message, call, question, allowed } = item;
      return { type: "answer", about: "call", question, message, call, allowed };
    }
    case "question.answered":
      return { type: "answer", about: "text", question: item.question };
    case "run.continued": {
      const { run, question, allowed } = item;
      return { type: "answer", about: "limit", question, run, allowed, text: itemText(item, say) };
    }
    case "memory.recalled":
      return { type: "memory", message: item.message, items: item.items };
    case "input.delivered":
      return { type: "delivery", input: item.input };
    case "goal.checked":
      return { ...item, type: "goal", text: itemText(item, say) ?? "" };
    case "process.started":
    case "process.ended": {
      const { type, process } = item;
      return { type: "process", process, hasEnded: type === "process.ended", text: itemText(item, say) ?? "" };
    }
    default:
      if (hasSentence(item)) return { type: "notice", text: itemText(item, say), notice: item };
      item.type satisfies UndisplayedType;
      return undefined;
  }
}

function callEndDisplay(
  outcome: CallOutcome,
  { message, call, output }: ItemFields<`call.${CallOutcome}`, "message" | "call" | "output">,
): DisplayItem {
  return { type: "call-end", outcome, message, call, output };
}

function itemText(item: UnplacedItem, say: Say | undefined): string | undefined {
  return itemSentence(item as FeedItem, say);
}

/**
 * Returns a sentence about a notice, a process or a limit; `undefined` for other items.
 * @example
 * for await (const item of agent.chat(say("Hello"))) {
 *   const display = displayItem(item);
 *   if (display) console.error(displaySentence(display) ?? "");
 * }
 */
export function displaySentence(display: DisplayItem): string | undefined {
  switch (display.type) {
    case "goal":
    case "process":
    case "notice":
      return display.text;
    case "question":
    case "answer":
      return display.about === "limit" ? display.text : undefined;
    default:
      return undefined;
  }
}
