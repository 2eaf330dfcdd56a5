export {
  counted,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatSpent,
  formatTook,
  shortCount,
} from "./amounts.ts";
export { type BrokenTurn, type ToldBreak, toldBreak, type WayOn } from "./broken-turn.ts";
export type { Change } from "./call-state.ts";
export { enclosed } from "./enclosed.ts";
export type * from "./event.ts";
export { cursorOf, isDelta, isEvent } from "./event.ts";
export { createId, ID_PATTERN, ID_RULE, idInAddress, idSource, isId, pieceOfAddress } from "./id.ts";
export type * from "./message.ts";
export { isEnded, isSettled, textOf, typedText } from "./message.ts";
export { type DiffLine, readPatch } from "./patch.ts";
export { lastAnswer, leaves, newestLeaf, pathTo, siblings, spentOn, standing } from "./path.ts";
export { reduce } from "./reduce.ts";
export { type ShownLine, shownCall } from "./shown-call.ts";
export {
  type ApprovalQuestion,
  type ConversationState,
  emptyConversation,
  type Following,
  type InputChange,
  type LiveRun,
  type OpenQuestion,
  type TextQuestion,
  type WaitingInput,
} from "./state.ts";
export { GIVEN_UP, hitchName, toldItem } from "./told-item.ts";
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
export { visibleLine, visibleProse, visibleText } from "./visible-text.ts";
