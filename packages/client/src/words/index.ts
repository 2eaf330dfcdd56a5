export {
  compactedLine,
  formatBytes,
  formatDuration,
  formatSeconds,
  formatSpent,
  formatTokens,
  formatTook,
  shortCount,
} from "./amounts.ts";
export {
  type BrokenTurnReport,
  describeBrokenTurn,
  describeShortfall,
  type RecoveryOption,
  type ResponseShortfall,
  shortfallOf,
} from "./broken-turn.ts";
export { type CacheMissSum, cacheMissCause, cacheMissSums, cacheMissText } from "./cache-misses.ts";
export { changersText } from "./changers.ts";
export { type FilledField, filledByLine, filledText, questionText } from "./filled-fields.ts";
export { goalLines, openGoals } from "./goal-lines.ts";
export { withLevelBound } from "./markdown-levels.ts";
export { problemsOfCall, toolReport } from "./new-problems.ts";
export {
  type Finding,
  instructionsRequest,
  isReviewRequest,
  lastFindings,
  mendingRequest,
  REVIEWER,
  reviewRequest,
} from "./ready-made.ts";
export {
  isRootFolder,
  type Reference,
  referencedPath,
  referencesIn,
  referenceTo,
  type SlashLine,
  slashIn,
} from "./references.ts";
export {
  argumentsText,
  type CallText,
  type DiffLine,
  type DisplayedCallStatus,
  failedExit,
  readPatch,
  type ShownLine,
  shownCall,
  shownStatus,
  thingText,
} from "./shown-call.ts";
export { type SubAgent, subAgentLabel, subAgentsOf } from "./sub-agents.ts";
