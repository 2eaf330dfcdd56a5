export type { CaseCheck, CheckResult, EvaluationCost } from "../checks/case-check.ts";
export type { Judge } from "../checks/judge.ts";
export type {
  AttemptContext,
  Column,
  Competitor,
} from "./attempt.ts";
export {
  type Case,
  type Cases,
  type CasesSource,
  casesFrom,
  readCases,
  type ScriptedResponse,
  type WrittenCases,
} from "./cases.ts";
export { type EvaluateOptions, EvaluationError, evaluate } from "./evaluate.ts";
export { type EvaluationOptions, type OpenEvaluation, openEvaluation } from "./open-evaluation.ts";
export type { Attempt, AttemptResult, AttemptStatus, Evaluation } from "./record.ts";
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
