// For users of the library. docs/library.md has the page of each name.
export {
  Agent,
  type AgentOptions,
  type CompactionOptions,
  type Conversation,
  TurnError,
  type TurnHandler,
} from "./agent/agent.ts";
export type { AgentBuilder } from "./agent/builder.ts";
export { type Chat, ChatError, type ChatOptions } from "./agent/chat.ts";
export { askClient } from "./agent/control/ask-client.ts";
export { type LaunchAgentOptions, launchAgent, type NamedAgent } from "./agent/control/launch-agent.ts";
export { shortenConversation } from "./agent/control/shorten-conversation.ts";
export { type Directive, resume, retry, say, stop } from "./agent/directive.ts";
export {
  type AssistantMessage,
  type Call,
  type ConversationState,
  type Cost,
  type Cursor,
  createId,
  cursorOf,
  type Delivery,
  type Delta,
  DirectiveError,
  type Event,
  type EventType,
  emptyConversation,
  type FeedItem,
  isDelta,
  isEvent,
  isId,
  type Json,
  leaves,
  type Message,
  type Notice,
  newestLeaf,
  OptionError,
  type Part,
  pathTo,
  type RunEnd,
  reduce,
  type SummaryMessage,
  spentOn,
  textOf,
  type Usage,
  type UserMessage,
  type UserPart,
} from "./conversation/index.ts";
export type { Answer, CallHooks, Permission, Permit, PermitRequest } from "./ports/human.ts";
export type { Memory, MemoryItem, MemoryKind, RecallOptions } from "./ports/memory.ts";
export { type ModelDriver, ModelError, type ModelErrorCode, type ModelSettings } from "./ports/model.ts";
export { type Store, StoreError, type StoreErrorCode } from "./ports/store.ts";
export {
  defineTool,
  type Effects,
  type Followed,
  type Follower,
  type JsonSchema,
  type Question,
  type Tool,
  type ToolContext,
} from "./ports/tool.ts";
export { LimitError, type Limits } from "./run/limits.ts";
export type { Callbacks, RetrySettings } from "./run/run.ts";
export { Interruption, SessionError, type SessionErrorCode, UnfitAnswerError } from "./session/error.ts";
export type { SayOptions, SessionOptions } from "./session/options.ts";
export { Session } from "./session/session.ts";
export { ToolDefinitionError } from "./toolbox/toolbox.ts";
export type { Turn } from "./turn/turn.ts";
