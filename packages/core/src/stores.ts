export type { OpenQuestion } from "./conversation/state.ts";
export { noteQuestions, survivesProcess } from "./conversation/tree/questions.ts";
export { listInPages } from "./ports/list-in-pages.ts";
export { noRights, type Rights, type RightsPlace } from "./ports/rights.ts";
export type * from "./ports/store.ts";
export { StoreError } from "./ports/store.ts";
