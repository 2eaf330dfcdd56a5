export { type BrokenTurn, describeUnreadable, endReason, failedCheckText } from "./broken-turn.ts";
export { base64Size, checkBroughtFile, LARGEST_FILE, mediaIn, TELLING_BYTES } from "./brought-file.ts";
export {
  DirectiveError,
  type PlainMessage,
  type PlainPart,
  readUserContent,
  type UserContent,
} from "./checked/user-content.ts";
export type * from "./event.ts";
export * from "./feed-item.ts";
export { historyOf } from "./forms/history-of.ts";
export { type AiSdkUiMessage, aiSdkFile, aiSdkUserPart } from "./forms/write-ai-sdk.ts";
export { writeHistory } from "./forms/write-history.ts";
export { createId, ID_PATTERN, ID_RULE, idInAddress, idToAddress, isId } from "./id.ts";
export type * from "./message.ts";
export { isEnded, isSettled, isUserMessage, textOf, typedText } from "./message.ts";
export { type OfferedTool, offeredName, providerName, toolNameOf } from "./offered-tool.ts";
export {
  checkArguments,
  checkTexts,
  OptionError,
  type OptionNames,
  pickOptions,
  refuseUnknown,
} from "./option-names.ts";
export type * from "./part.ts";
export { isBase64, isMediaType, isWebAddress, LONGEST_NAME } from "./shape-problem.ts";
export {
  type ApprovalQuestion,
  type BegunGoal,
  type ConversationState,
  type EarlierQuestion,
  emptyConversation,
  type FollowingCall,
  type InputChange,
  type LimitQuestion,
  type LiveRun,
  type OpenQuestion,
  type StayingProcess,
  type TextQuestion,
  type WaitingInput,
} from "./state.ts";
export { askingRuns, hasOpenQuestion, isAskerLost, latestRun, turnWaitingFor } from "./tree/asking-run.ts";
export { type Change, callIn, toolIn } from "./tree/call-state.ts";
export {
  lastAssistantMessage,
  lastUserMessage,
  leaves,
  newestLeaf,
  OWN_OUTPUT,
  pathTo,
  siblings,
  standingLeaf,
  usageOnPath,
  worktreeAt,
} from "./tree/path.ts";
export { readableEvent } from "./tree/readable-event.ts";
export { reduce } from "./tree/reduce.ts";
export {
  addCost,
  addUsage,
  type CacheMiss,
  type Cost,
  cacheMissCauses,
  cleanCost,
  cleanUsage,
  costOf,
  type EarlierUsage,
  noUsage,
  type Price,
  type TurnUsage,
  totalTokens,
  type Usage,
} from "./usage.ts";
