export { countAccesses, type FileAccesses } from "./counted-files.fixture.ts";
export { manyConversations, numberedId } from "./many-conversations.fixture.ts";
export {
  killPostgres,
  type LocalPostgres,
  makeFolder,
  nativeFolder,
  restartPostgres,
  startPostgres,
  superuser,
  testDatabase,
  whyNoPostgres,
} from "./postgres-server.fixture.ts";
export { failOver, makePairs, type Pair, startPair } from "./standby.fixture.ts";
export { type Swallowed, type Wire, wireTo } from "./wire.fixture.ts";
