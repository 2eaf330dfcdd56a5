export {
  type AnswerDisplay,
  type CallDisplay,
  type CallOutcome,
  type DisplayItem,
  displayItem,
  displaySentence,
  type NoticeDisplay,
  type QuestionDisplay,
  type UnplacedItem,
} from "./display-item.ts";
export { foldNeighbours, foldSentence, hasPlace, type QuietPart, quietCall } from "./fold.ts";
export { failureName, GIVEN_UP, GIVEN_UP_TOO, itemSentence } from "./item-sentence.ts";
export { approvalSubject, readableParts, type TurnItem, type WaitingQuestion } from "./turn-item.ts";
export { TurnReader } from "./turn-reader.ts";
export { isSameTurn, lastMessageOfTurn, newestTurn, openRun, runsOfTurn } from "./turn-runs.ts";
export { WrittenParts } from "./written-parts.ts";
