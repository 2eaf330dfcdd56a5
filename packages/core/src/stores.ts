// For who writes a store: the port, its error, and the rights that conversations give each other.
export { noRights, type Rights, type RightsPlace } from "./ports/rights.ts";
export type * from "./ports/store.ts";
export { StoreError } from "./ports/store.ts";
