// Texts about conversations that are the same in all clients: terminal, page and logs.
export {
  compactedLine,
  counted,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatSpent,
  formatTokens,
  formatTook,
  shortCount,
} from "./amounts.ts";
export { type AttachedText, attachedText, enclosed } from "./enclosed.ts";
export { adviceOn, nearest } from "./nearest.ts";
export {
  isRootFolder,
  type Reference,
  referencedPath,
  referencesIn,
  referenceTo,
  type SlashLine,
  slashIn,
} from "./references.ts";
export { inEnglish, type PhraseValues, type Say } from "./say.ts";
export {
  argumentsText,
  type CallText,
  type DiffLine,
  type DisplayedCallStatus,
  readPatch,
  type ShownLine,
  shownCall,
  shownStatus,
  thingText,
} from "./shown-call.ts";
export { planHeadline, planOn, type ShownStep, shownPlan } from "./shown-plan.ts";
export {
  cutAfter,
  cutBefore,
  cutTo,
  cutToEnd,
  visibleLine,
  visibleProse,
  visibleText,
  withoutMarks,
} from "./visible-text.ts";
