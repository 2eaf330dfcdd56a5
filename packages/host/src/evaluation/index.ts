export type {
  AttemptContext,
  Column,
  Competitor,
} from "./attempt.ts";
export {
  type Case,
  type CaseCheck,
  type Cases,
  type CasesSource,
  casesFrom,
  readCases,
  type ScriptedResponse,
  type WrittenCases,
} from "./cases.ts";
export { type EvaluateOptions, EvaluationError, evaluate } from "./evaluate.ts";
export type { Judge } from "./judge.ts";
export { type EvaluationOptions, type OpenEvaluation, openEvaluation } from "./open-evaluation.ts";
export type { Attempt, AttemptResult, AttemptStatus, CheckResult, Evaluation, EvaluationCost } from "./record.ts";
export {
  evaluationNotes,
  evaluationSentence,
  evaluationTable,
  junitReport,
  reasonsOf,
  type Tally,
  tallyOf,
  tallyText,
} from "./report.ts";
