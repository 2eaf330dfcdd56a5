export { type BranchFromOptions, branchFrom } from "./branch-from.ts";
export { characterTexts, tornCharacters } from "./characters.ts";
export { checkConversation } from "./check-conversation.ts";
export * from "./collect.ts";
export { DeltaReader } from "./delta-reader.ts";
export { ODD_IDS } from "./odd-ids.ts";
export { type RecordedOptions, recorded } from "./recording/recorded.ts";
export * from "./scripted-model.ts";
export { type ConformanceCase, type StoreUnderTest, storeConformance } from "./store-conformance.ts";
