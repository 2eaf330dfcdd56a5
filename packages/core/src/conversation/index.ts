export { type BrokenTurn, type ToldBreak, toldBreak, type WayOn } from "./broken-turn.ts";
export type * from "./event.ts";
export { cursorOf, isDelta, isEvent } from "./event.ts";
export { createId, ID_PATTERN, ID_RULE, idInAddress, idSource, isId, pieceOfAddress } from "./id.ts";
export type * from "./message.ts";
export { isEnded, isSettled, textOf, typedText } from "./message.ts";
export {
  counted,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatSpent,
  formatTook,
  shortCount,
} from "./shown/amounts.ts";
export { enclosed } from "./shown/enclosed.ts";
export { type DiffLine, readPatch } from "./shown/patch.ts";
export { type ShownLine, shownCall } from "./shown/shown-call.ts";
export { GIVEN_UP, hitchName, type ToldType, toldItem, type UntoldType } from "./shown/told-item.ts";
export { visibleLine, visibleProse, visibleText } from "./shown/visible-text.ts";
export {
  type ApprovalQuestion,
  type ConversationState,
  emptyConversation,
  type Following,
  type InputChange,
  type LimitQuestion,
  type LiveRun,
  type OpenQuestion,
  type TextQuestion,
  type WaitingInput,
} from "./state.ts";
export type { Change } from "./tree/call-state.ts";
export { lastAnswer, leaves, newestLeaf, pathTo, siblings, spentOn, standing } from "./tree/path.ts";
export { reduce } from "./tree/reduce.ts";
export {
  addCost,
  addUsage,
  type Cost,
  cleanUsage,
  costOf,
  noUsage,
  type Price,
  totalTokens,
  type Usage,
} from "./usage.ts";
