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
export { AgentError } from "./agent/check-options.ts";
export type { CompactOptions } from "./agent/compact.ts";
export { askClient } from "./agent/control/ask-client.ts";
export { type LaunchAgentOptions, launchAgent, type NamedAgent } from "./agent/control/launch-agent.ts";
export { shortenConversation } from "./agent/control/shorten-conversation.ts";
export { type Directive, DirectiveError, resume, retry, say, stop } from "./agent/directive.ts";
export * from "./conversation/index.ts";
export type { AnswerBounds } from "./ports/answer-size.ts";
export { type AskOptions, askModel, type ModelAnswer } from "./ports/ask-model.ts";
export { isTooDeep } from "./ports/depth.ts";
export type * from "./ports/human.ts";
export {
  type EmbeddingModel,
  fromLanguageModel,
  type LanguageModelOptions,
  type LanguageModelRequest,
} from "./ports/language-model.ts";
export type * from "./ports/loop.ts";
export type * from "./ports/memory.ts";
export type * from "./ports/model.ts";
export { ModelError } from "./ports/model.ts";
export { type FailedResponse, modelErrorFromNetwork, modelErrorFromResponse } from "./ports/model-error.ts";
export { noRights, type Rights, type RightsPlace } from "./ports/rights.ts";
export type * from "./ports/store.ts";
export { StoreError } from "./ports/store.ts";
export type * from "./ports/tool.ts";
export { defineTool } from "./ports/tool.ts";
export type { FeedListener } from "./session/audience.ts";
export { Interruption, SessionError, type SessionErrorCode } from "./session/error.ts";
export { mergeDeltas } from "./session/feed.ts";
export type { SayOptions, SessionOptions } from "./session/options.ts";
export { endOfImport } from "./session/recovery.ts";
export { Session } from "./session/session.ts";
export type { TurnProblem } from "./turn/ending.ts";
export { LimitError, type Limits } from "./turn/limits.ts";
export { nearest } from "./turn/nearest.ts";
export { promptFrom } from "./turn/prompt.ts";
export type { Callbacks, RetrySettings } from "./turn/run.ts";
export { jsonSchemaOf, ToolDefinitionError } from "./turn/toolbox.ts";
export type { Turn } from "./turn/turn.ts";
export { keywordProblem, schemaProblem } from "./turn/usable-schema.ts";
