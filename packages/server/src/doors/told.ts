import type { Cost, FeedItem, RunEnd, Usage } from "@banyan/core";
import {
  type FileChange,
  type FilePart,
  type Json,
  type QuestionField,
  type SourcePart,
  toldUnreadable,
  type UserPart,
} from "@banyan/core/conversation";

/** What waits for a person. `text` says it in words, where somebody has put it in words. */
export type WaitingQuestion = { readonly id: string } & (
  | {
      readonly type: "approval";
      readonly call: string;
      readonly tool: string;
      /** The folder that the call would work in. */
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

/** The tool that a question is about, with the folder that its call would work in. */
export function askedWhat({ tool, folder }: Extract<WaitingQuestion, { type: "approval" }>): string {
  return folder === undefined ? tool : `${tool} in ${folder}`;
}

/** How a call came to its result. */
export type CallEnd = "completed" | "failed" | "denied" | "cancelled";

/** Whose voice it is, and whether its reader has it already. */
interface Heard {
  /** The run of the sub-agent that says it; absent for the turn itself. */
  readonly by?: string;
  /** The reader has it: it is said again so that what follows is understood. */
  readonly known?: true;
}

/**
 * What a turn says while it works: the one reading of the feed that all doors tell, each in its own words. Texts are said
 * once, whatever broke off in between.
 */
export type Told = Heard &
  /** The turn itself has begun. */
  (
    | { readonly type: "began" }
    /** A response begins, of this `provider/model`. */
    | { readonly type: "begun"; readonly message: string; readonly model: string }
    | {
        readonly type: "said";
        readonly kind: "text" | "reasoning";
        readonly message: string;
        readonly part: number;
        readonly text: string;
      }
    /** The model writes the arguments of a call. */
    | {
        readonly type: "input";
        readonly message: string;
        readonly call: string;
        readonly tool: string;
        readonly text: string;
      }
    | { readonly type: "part"; readonly message: string; readonly index: number; readonly part: FilePart | SourcePart }
    | {
        readonly type: "complete";
        readonly message: string;
        readonly text: string;
        readonly usage: Usage;
        readonly cost: Cost;
      }
    /** The response is no part of the answer: the model is asked again. */
    | { readonly type: "taken-back"; readonly message: string }
    | {
        readonly type: "call";
        readonly message: string;
        readonly call: string;
        readonly tool: string;
        readonly inputText: string;
        /** Absent where the model wrote no JSON. */
        readonly input?: Json;
        readonly title?: string;
      }
    /** A running call says something. */
    | { readonly type: "output"; readonly call: string; readonly text: string }
    | {
        readonly type: "ended";
        readonly how: CallEnd;
        readonly message: string;
        readonly call: string;
        readonly output: string;
        /** A person was asked about it. */
        readonly asked: boolean;
      }
    | { readonly type: "changed"; readonly call: string; readonly change: FileChange }
    | { readonly type: "asks"; readonly question: WaitingQuestion }
    /** `allowed`: of an approval, and of a limit. */
    | { readonly type: "answered"; readonly question: WaitingQuestion; readonly allowed?: boolean }
    /** Somebody says something to the turn while it works. */
    | { readonly type: "steered"; readonly message: string; readonly parts: readonly UserPart[] }
    /** `call` launches a sub-agent, and `run` is its run; `by` is who launches it. */
    | { readonly type: "agent-began"; readonly run: string; readonly agent: string; readonly call: string }
    | { readonly type: "agent-ended"; readonly run: string; readonly reason: RunEnd; readonly error?: string }
    /** A sentence about the turn, which is kept nowhere. */
    | { readonly type: "notice"; readonly text: string }
    | {
        readonly type: "over";
        readonly reason: RunEnd;
        readonly leaf: string | null;
        readonly error?: string;
        /** Of the error. */
        readonly code?: string;
      }
  );

/** An item without its place in a log: what is said again of a turn that stands in the state. */
export type Said = FeedItem extends infer Item
  ? Item extends unknown
    ? Omit<Item, "seq" | "epoch" | "at" | "offset">
    : never
  : never;

/** What a user said, or, where that cannot be read, a sentence that says so (F77). */
export function readableParts(message: { readonly parts: readonly UserPart[]; readonly unreadable?: string }) {
  const text = toldUnreadable(message);
  return text === undefined ? message.parts : [{ type: "text" as const, text }];
}
