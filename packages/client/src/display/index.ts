export {
  type AnswerDisplay,
  type CallDisplay,
  type CallOutcome,
  type DisplayItem,
  displayItem,
  type NoticeDisplay,
  type QuestionDisplay,
  type UnplacedItem,
} from "./display-item.ts";
export { WrittenParts } from "./written-parts.ts";
