import {
  type Cost,
  describeUnreadable,
  type FilePart,
  type QuestionField,
  type RunEnd,
  type SourcePart,
  type Usage,
  type UserPart,
} from "@banyan/core/conversation";
import type { CallDisplay, CallOutcome, DisplayItem } from "./display-item.ts";

/** An open question to a user, with the tool of its call. See {@link approvalSubject}. */
export type WaitingQuestion = { readonly id: string } & (
  | {
      readonly type: "approval";
      readonly call: string;
      readonly tool: string;
      /** The folder in which the call would work. */
      readonly folder?: string;
    }
  | {
      readonly type: "text";
      readonly call: string;
      readonly tool: string;
      readonly text: string;
      readonly choices?: readonly string[];
      readonly fields?: readonly QuestionField[];
    }
  | { readonly type: "limit"; readonly text: string }
);

/**
 * Returns the name of the tool in an approval question, and the folder in which the call would work.
 * @example approvalSubject({ id: "1", type: "approval", call: "2", tool: "write", folder: "docs" }) // "write in docs"
 */
export function approvalSubject({ tool, folder }: Extract<WaitingQuestion, { type: "approval" }>): string {
  return folder === undefined ? tool : `${tool} in ${folder}`;
}

/** The display item with this type. */
export type TurnDisplay<Type extends DisplayItem["type"]> = Extract<DisplayItem, { readonly type: Type }>;

interface ItemSpeaker {
  /** The run of the sub-agent that wrote the item. Absent: the turn's own agent wrote it. */
  readonly by?: string;
  /** True if the reader already has this item. The item is repeated as context for the items after it. */
  readonly known?: true;
}

/**
 * A display item of one turn. The reader gets every text only once, even if the connection breaks. See
 * {@link TurnReader}.
 */
export type TurnItem = ItemSpeaker &
  (
    | { readonly type: "turn-start" }
    | {
        readonly type: "turn-end";
        readonly reason: RunEnd;
        readonly leaf: string | null;
        readonly error?: string;
        readonly code?: string;
      }
    /** `call` launched the sub-agent of `run`; `by` is the run of the launching agent. */
    | { readonly type: "agent-start"; readonly run: string; readonly agent: string; readonly call: string }
    | { readonly type: "agent-end"; readonly run: string; readonly reason: RunEnd; readonly error?: string }
    /** A response begins. `model` is `provider/model`. */
    | Pick<TurnDisplay<"message-start">, "type" | "message" | "model">
    | Pick<TurnDisplay<"text">, "type" | "kind" | "message" | "part" | "text">
    | { readonly type: "part"; readonly message: string; readonly index: number; readonly part: FilePart | SourcePart }
    | {
        readonly type: "message-end";
        readonly message: string;
        readonly text: string;
        readonly usage: Usage;
        readonly cost: Cost;
      }
    | TurnDisplay<"message-discard">
    /** A user steers the turn while it runs. */
    | { readonly type: "message"; readonly message: string; readonly parts: readonly UserPart[] }
    | Pick<TurnDisplay<"call-input">, "type" | "message" | "call" | "tool" | "text">
    | (Omit<Extract<CallDisplay, { readonly status: "pending" }>, "status" | "about"> & { readonly title?: string })
    | Pick<TurnDisplay<"call-output">, "type" | "call" | "text">
    | {
        readonly type: "call-end";
        readonly outcome: CallOutcome;
        readonly message: string;
        readonly call: string;
        readonly output: string;
        /** True if a user was asked about the call. */
        readonly asked: boolean;
      }
    | Pick<TurnDisplay<"file-change">, "type" | "call" | "change">
    | { readonly type: "question"; readonly question: WaitingQuestion }
    /** `allowed`: the decision about a call or a limit. */
    | { readonly type: "answer"; readonly question: WaitingQuestion; readonly allowed?: boolean }
    /** `notice`: a sentence about the turn that no log contains. `goal`: a sentence about the results of a goal. */
    | { readonly type: "notice" | "goal"; readonly text: string }
  );

/**
 * Returns the parts of a user message, or a sentence if they cannot be read (F77).
 * @example
 * for (const message of session.state.messages.values())
 *   if (message.role === "user") console.log(readableParts(message));
 */
export function readableParts(message: { readonly parts: readonly UserPart[]; readonly unreadable?: string }) {
  const text = describeUnreadable(message);
  return text === undefined ? message.parts : [{ type: "text" as const, text }];
}
