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
export {
  type EmbeddingModel,
  fromLanguageModel,
  type LanguageModelOptions,
  type LanguageModelRequest,
} from "./ai-sdk/language-model.ts";
export * from "./conversation/index.ts";
export type { AnswerBounds } from "./model/answer-size.ts";
export { type AskOptions, askModel, type ModelAnswer } from "./model/ask-model.ts";
export { isTooDeep } from "./model/depth.ts";
export { type FailedResponse, modelErrorFromNetwork, modelErrorFromResponse } from "./model/model-error.ts";
export { endOfImport } from "./past/recovery.ts";
export type * from "./ports/human.ts";
export type * from "./ports/loop.ts";
export type * from "./ports/memory.ts";
export type * from "./ports/model.ts";
export { ModelError } from "./ports/model.ts";
export { noRights, type Rights, type RightsPlace } from "./ports/rights.ts";
export type * from "./ports/store.ts";
export { StoreError } from "./ports/store.ts";
export type * from "./ports/tool.ts";
export { defineTool } from "./ports/tool.ts";
export type { TurnProblem } from "./run/ending.ts";
export { LimitError, type Limits } from "./run/limits.ts";
export { promptFrom } from "./run/prompt.ts";
export type { Callbacks, RetrySettings } from "./run/run.ts";
export type { FeedListener } from "./session/audience.ts";
export { Interruption, SessionError, type SessionErrorCode, UnfitAnswerError } from "./session/error.ts";
export { mergeDeltas } from "./session/feed.ts";
export type { AddOptions, HeldBranch, SayOptions, SessionOptions } from "./session/options.ts";
export { Session } from "./session/session.ts";
export { nearest } from "./toolbox/nearest.ts";
export { jsonSchemaOf, ToolDefinitionError } from "./toolbox/toolbox.ts";
export { keywordProblem, schemaProblem } from "./toolbox/usable-schema.ts";
export type { Turn } from "./turn/turn.ts";
