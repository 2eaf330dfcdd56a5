// A conversation on disk: close it, find it in the list, and continue it on two branches.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, leaves, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";

const directory = await mkdtemp(join(tmpdir(), "conversations-"));
const store = sqliteStore({ directory });
const agent = new Agent({ model: scriptedModel(["Green.", "Because of chlorophyll.", "Not all: some are red."]) });

const first = await Session.open(store, undefined, { labels: { project: "garden" } });
await agent.send("What colour are leaves?", { session: first });
await first.close();

const [found] = await store.list({ labels: { project: "garden" }, limit: 1 });
const session = await Session.open(store, found?.id);
console.log(`${found?.title} (${session.state.messages.size} messages)`);

const fork = session.state.leaf ?? undefined;
console.log((await agent.send("Why?", { session, at: fork })).text);
console.log((await agent.send("All of them?", { session, at: fork })).text);
console.log(`${leaves(session.state).length} branches`);

await session.close();
await store.close();
await rm(directory, { recursive: true });
