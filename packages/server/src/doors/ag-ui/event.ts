import type { Json } from "@banyan/core/conversation";

/** The protocol version that this server uses: AG-UI 1.0 (https://docs.ag-ui.com/spec/1.0). */
export const AG_UI_VERSION = "1.0";

/**
 * Token counts of a model. `inputTokens` includes cached tokens, `outputTokens` includes reasoning.
 * See {@link agUiEvents}.
 */
export interface AgUiUsage {
  readonly provider?: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteInputTokens: number;
}

/**
 * A question to the user. The field `resume` of the next run answers it, with a payload that fits `responseSchema`. See
 * {@link agUiEvents}.
 */
export interface AgUiInterrupt {
  readonly id: string;
  /**
   * Kind of the question. `tool_call`: may this call run? `input_required`: a question in words. `confirmation`: may
   * the turn exceed its limit?
   */
  readonly reason: "tool_call" | "input_required" | "confirmation";
  readonly message: string;
  readonly toolCallId?: string;
  readonly responseSchema: { readonly [key: string]: Json };
  readonly subagentRunId?: string;
}

/**
 * The outcome of an AG-UI run. A failed run has the event `RUN_ERROR` instead.
 * See {@link agUiEvents}.
 */
export type AgUiOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: "interrupt"; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/**
 * A message in the form of AG-UI.
 * @example const asked: AgUiMessage = { id: "1", role: "user", content: "Hello" };
 */
export type AgUiMessage =
  | { readonly id: string; readonly role: "user"; readonly content: string | readonly AgUiPart[] }
  | { readonly id: string; readonly role: "reasoning"; readonly content: string }
  | {
      readonly id: string;
      readonly role: "assistant";
      readonly content?: string;
      readonly toolCalls?: readonly {
        readonly id: string;
        readonly type: "function";
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    }
  | { readonly id: string; readonly role: "tool"; readonly toolCallId: string; readonly content: string };

/**
 * A part of a user message in the form of AG-UI.
 * @example const part: AgUiPart = { type: "text", text: "Hello" };
 */
export type AgUiPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "video" | "document";
      readonly source:
        | { readonly type: "data"; readonly value: string; readonly mimeType: string }
        | { readonly type: "url"; readonly value: string; readonly mimeType: string };
    };

/** An operation of a JSON Patch (RFC 6902). See {@link agUiEvents}. */
export interface AgUiPatch {
  readonly op: "replace";
  readonly path: string;
  readonly value: Json;
}

/** The sub-agent of an event; absent for the main agent. */
interface EventOwner {
  readonly subagentRunId?: string;
}

/** Extra information, under the key `banyan`. */
interface Extra {
  readonly metadata?: { readonly banyan: { readonly [key: string]: Json } };
}

/**
 * An AG-UI 1.0 event, of the types that this server sends. `CUSTOM` events are `banyan.output` (output of a running
 * call), `banyan.file` (a changed file), `banyan.part` (a file or source in a response) and `banyan.notice` (a sentence
 * about the turn). See {@link agUiEvents}.
 */
export type AgUiEvent = Extra &
  (
    | {
        readonly type: "RUN_STARTED";
        readonly threadId: string;
        readonly runId: string;
        readonly parentRunId?: string;
        readonly protocolVersion: string;
      }
    | {
        readonly type: "RUN_FINISHED";
        readonly threadId: string;
        readonly runId: string;
        readonly outcome: AgUiOutcome;
        readonly usage: readonly AgUiUsage[];
      }
    | {
        readonly type: "RUN_ERROR";
        readonly message: string;
        readonly code: string;
        readonly usage?: readonly AgUiUsage[];
      }
    | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: Json }
    | { readonly type: "STATE_DELTA"; readonly delta: readonly AgUiPatch[] }
    | { readonly type: "MESSAGES_SNAPSHOT"; readonly messages: readonly object[] }
    | {
        readonly type: "SUBAGENT_STARTED";
        readonly subagentRunId: string;
        readonly name: string;
        readonly parentToolCallId: string;
        readonly parentSubagentRunId?: string;
      }
    | {
        readonly type: "SUBAGENT_FINISHED";
        readonly subagentRunId: string;
        readonly outcome:
          | { readonly type: "success" }
          | { readonly type: "suspended"; readonly interruptIds: readonly string[] };
      }
    | {
        readonly type: "SUBAGENT_ERROR";
        readonly subagentRunId: string;
        readonly message: string;
        readonly code: string;
      }
    | (EventOwner &
        (
          | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" | "user" }
          | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
          | {
              readonly type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT";
              readonly messageId: string;
              readonly delta: string;
            }
          | {
              readonly type: "TEXT_MESSAGE_END" | "REASONING_START" | "REASONING_MESSAGE_END" | "REASONING_END";
              readonly messageId: string;
            }
          | {
              readonly type: "TOOL_CALL_START";
              readonly toolCallId: string;
              readonly toolCallName: string;
              readonly parentMessageId: string;
            }
          | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
          | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
          | {
              readonly type: "TOOL_CALL_RESULT";
              readonly messageId: string;
              readonly toolCallId: string;
              readonly content: string;
              readonly role: "tool";
            }
          | {
              readonly type: "CUSTOM";
              readonly name: `banyan.${"output" | "file" | "part" | "notice"}`;
              readonly value: Json;
            }
        ))
  );
