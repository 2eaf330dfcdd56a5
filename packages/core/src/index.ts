// For users of the library. docs/library.md has the page of each name.
export { Agent, type AgentBuilder, type AgentOptions, type TurnHandler } from "./agent/agent.ts";
export type { Chat } from "./agent/chat.ts";
export { ChatError, type ChatOptions, type Conversation } from "./agent/chat-options.ts";
export { askClient } from "./agent/control/ask-client.ts";
export { handOff } from "./agent/control/hand-off.ts";
export { type LaunchAgentOptions, launchAgent, type NamedAgent } from "./agent/control/launch-agent.ts";
export { shortenConversation } from "./agent/control/shorten-conversation.ts";
export { type Directive, resume, retry, say, stop } from "./agent/directive.ts";
export { TurnError } from "./agent/turn-error.ts";
export type { CompactionOptions } from "./agent/turn-options.ts";
export { DirectiveError } from "./conversation/checked/user-content.ts";
export { cursorOf, isDelta, isEvent } from "./conversation/feed-item.ts";
export { createId, isId } from "./conversation/id.ts";
// Only types: the functions behind this entry would be loaded at the start of a page.
export type {
  AssistantMessage,
  Call,
  ConversationState,
  Cost,
  Cursor,
  Delivery,
  Delta,
  Event,
  EventType,
  FeedItem,
  Json,
  Message,
  Notice,
  Part,
  RunEnd,
  SummaryMessage,
  Usage,
  UserMessage,
  UserPart,
} from "./conversation/index.ts";
export { textOf } from "./conversation/message.ts";
export { OptionError } from "./conversation/option-names.ts";
export { emptyConversation } from "./conversation/state.ts";
export { leaves, newestLeaf, pathTo, usageOnPath } from "./conversation/tree/path.ts";
export { reduce } from "./conversation/tree/reduce.ts";
export { defineTool, isCallOf, ToolDefinitionError } from "./ports/define-tool.ts";
export type { CallHooks, Permission, PermitRequest } from "./ports/human.ts";
export type { Memory, MemoryItem, MemoryKind, RecallOptions } from "./ports/memory.ts";
export { type ModelDriver, ModelError, type ModelErrorCode, type ModelSettings } from "./ports/model.ts";
export { RateLimit } from "./ports/rate-limit.ts";
export { type Store, StoreError, type StoreErrorCode } from "./ports/store.ts";
export type { Tool, ToolContext } from "./ports/tool.ts";
export type { Effects, Follower, FollowResult, JsonSchema, Question } from "./ports/tool-values.ts";
export type { Answer, Permit } from "./ports/verdict.ts";
export { LimitError, type Limits } from "./run/limits.ts";
export type { Callbacks, RetrySettings } from "./run/run.ts";
export { Interruption, SessionError, type SessionErrorCode, UnfitAnswerError } from "./session/error.ts";
export type { SayOptions, SessionOptions } from "./session/options.ts";
export { Session } from "./session/session.ts";
export type { Turn } from "./turn/turn.ts";
