import { Agent, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";

const store = sqliteStore({ directory: "conversations" });
await using session = await Session.open(store, "garden", { create: true });
const agent = new Agent({ model: scriptedModel(["Because of chlorophyll."]) });
await agent.send("Why are leaves green?", { session });
console.log(`${session.state.messages.size} messages`);
