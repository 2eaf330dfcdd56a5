// For authors of drivers: of a model with a provider's format, or of a loop that runs turns elsewhere.
export { isTooDeep } from "./conversation/checked/written-input.ts";
export { CallArguments } from "./model/call-arguments.ts";
export { isCut } from "./model/cut-prompt.ts";
export { type FinishReason, finishReason } from "./model/finish-reasons.ts";
export { type FailedResponse, modelErrorFromNetwork, modelErrorFromResponse } from "./model/model-error.ts";
export type { ResponseBounds } from "./model/response-size.ts";
export { encodableResult, filesHeading, PDF, PICTURES } from "./model/result-shown.ts";
export { type RequestTarget, withProviderRules } from "./model/rules/driver.ts";
export { rulesFor } from "./model/rules/providers.ts";
export type { RequestRules } from "./model/rules/rules.ts";
export { TextCalls } from "./model/text-calls.ts";
export { ThinkTags } from "./model/think-tags.ts";
export type * from "./ports/model.ts";
export { ModelError } from "./ports/model.ts";
export type { LoopDriver, LoopTurn, ReportedCall, TurnSink } from "./ports/tool.ts";
