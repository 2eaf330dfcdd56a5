// Checks of the store in SQLite that hold in every runtime with `node:sqlite`. Prints the outcome as JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, type StoreError } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";

const directory = mkdtempSync(join(tmpdir(), "sqlite-"));
const store = sqliteStore({ directory });
const session = await Session.open(store, "garden", { create: true });
await new Agent({ model: scriptedModel(["An oak."]) }).send("Which tree?", { session });
const other = sqliteStore({ directory });
const locked = await Session.open(other, "garden").then(
  () => undefined,
  ({ code }: StoreError) => code,
);
await session.close();
await store.close();

const again = await Session.open(other, "garden");
const { messages } = again.state;
const [found] = await other.search("oak");
const listed = await other.list();
await again.close();
await other.close();
rmSync(directory, { recursive: true });
console.log(
  JSON.stringify({ locked, messages: messages.size, found: found?.excerpt, listed: listed.map(({ id }) => id) }),
);
