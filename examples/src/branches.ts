import { Agent, leaves, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const agent = new Agent({ model: scriptedModel(["A banyan.", "Its roots become trunks.", "A fig."]) });
const session = Session.inMemory();
const { message } = await agent.send("Name a tree.", { session });
for (const text of ["Why that one?", "Name another."])
  console.log((await agent.send(text, { session, at: message?.id })).text);
console.log(`${leaves(session.state).length} branches`);
