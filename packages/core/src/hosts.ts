// For applications around agents: functions in addition to agents and sessions.

export { earlier } from "./agent/control/earlier.ts";
export { updatePlan } from "./agent/control/update-plan.ts";
export { type AddressedText, EARLIER, earlierTextsToSearch, readEarlier } from "./context/earlier.ts";
export { editSummary } from "./context/edit-summary.ts";
export { mergeDeltas } from "./conversation/deltas.ts";
export { goalOfMessage } from "./goal/asked-goal.ts";
export { onAbort, orAborted } from "./model/alarm.ts";
export { type AskOptions, askModel, type ModelResponse } from "./model/ask-model.ts";
export { learntWindow, windowOf } from "./model/context-window.ts";
export { modernSchema } from "./model/rules/schema-dialect.ts";
export { endOfImport, recoveredState } from "./past/recovery.ts";
export { NotExecutedError } from "./ports/define-tool.ts";
export type { Goal, GoalCheck, GoalFinding, GoalMoment } from "./ports/goal.ts";
export type { SummaryRequest } from "./ports/human.ts";
export type { PreviewContext } from "./ports/tool.ts";
export type { BeforeSummary } from "./ports/verdict.ts";
export { promptFrom } from "./run/prompt.ts";
export type { FeedListener } from "./session/audience.ts";
export type { AddMessageOptions, HeldBranch } from "./session/options.ts";
export { jsonSchemaOf } from "./toolbox/toolbox.ts";
export { keywordProblem, schemaProblem } from "./toolbox/usable-schema.ts";
