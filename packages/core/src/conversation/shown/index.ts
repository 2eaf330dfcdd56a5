export { errorMessage } from "../error-message.ts";
export { isJsonRecord, type JsonRecord, parseJsonText } from "../shape-problem.ts";
export { counted, formatCost, formatCount } from "./amounts.ts";
export {
  ALL_APPLIED,
  type AttachedText,
  attachedText,
  EDIT_MODE_ENDED,
  encloseInTags,
  endedIn,
  endedReport,
  formatReport,
  isAppliedReport,
  NEW_PROBLEMS,
  problemsIn,
  undoneIn,
  undoneReport,
} from "./enclosed-text.ts";
export { nearest, nearestNameAdvice } from "./nearest.ts";
export { inEnglish, type PhraseValues, type Say } from "./say.ts";
export {
  editablePlan,
  isPlanSteps,
  planHeadline,
  planIn,
  planOnPath,
  type ShownStep,
  shownPlan,
} from "./shown-plan.ts";
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
