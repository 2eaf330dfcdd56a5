import type { Usage } from "@banyan/core";
import type { Json, QuestionField } from "@banyan/core/conversation";

/** A file in a UI message stream of the AI SDK. See {@link uiMessageChunks}. */
export interface UiFile {
  readonly type: "file";
  readonly mediaType: string;
  readonly url: string;
  readonly filename?: string;
}

/** Data about a turn. `cost` is in US dollars, and `null` while the price is unknown. See {@link uiMessageChunks}. */
export interface UiMetadata {
  readonly run: string;
  /** The reason for the turn's end, and the turn's last message. Absent while the turn works or waits for a user. */
  readonly reason?: "answered" | "finished" | "limit" | "failed" | "interrupted" | "waiting";
  readonly leaf?: string | null;
  readonly usage: Usage;
  readonly cost: number | null;
}

/**
 * A question to the user, but not an approval of a call in this message. It is a question in words, the limit of a turn
 * (`limit`), or the approval of a sub-agent's call (`approval`). See {@link uiMessageChunks}.
 */
export interface UiQuestion {
  readonly text: string;
  readonly choices?: readonly string[];
  /** Several questions at once, each with its choices; the answer is one text. */
  readonly fields?: readonly QuestionField[];
  readonly limit?: true;
  readonly approval?: true;
  readonly answered?: true;
}

/**
 * A chunk of the AI SDK's UI message stream, version 1 (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol), of the
 * types that this server sends. Our own parts are `data-question` (see `UiQuestion`), `data-file` (a call changed a
 * file) and `data-notice`. A notice is a sentence about the turn, such as a model retry, and is not stored.
 * See {@link uiMessageChunks}.
 */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata: UiMetadata }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "tool-input-start";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly dynamic: true;
    }
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: "tool-input-available";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
      readonly dynamic: true;
      readonly title?: string;
    }
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: "tool-approval-response"; readonly approvalId: string; readonly approved: boolean }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: string;
      /** Set if the call still runs. `output` is then its output so far. */
      readonly preliminary?: true;
      readonly dynamic: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title?: string }
  | UiFile
  | { readonly type: "steering-message"; readonly id: string; readonly parts: readonly UiPart[] }
  | { readonly type: "data-question"; readonly id: string; readonly data: UiQuestion }
  | { readonly type: "data-file"; readonly id: string; readonly data: object }
  | { readonly type: "data-notice"; readonly data: { readonly text: string }; readonly transient: true }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort"; readonly reason: string }
  | {
      readonly type: "finish";
      readonly finishReason?: "stop" | "length" | "tool-calls";
      readonly messageMetadata: UiMetadata;
    };

/** A part of a user message in a UI message of the AI SDK. See {@link uiMessageChunks}. */
export type UiPart = { readonly type: "text"; readonly text: string } | UiFile;
