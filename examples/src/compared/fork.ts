// Three models answer the third message of one conversation, at the same time, on three branches.
import { Agent, retry, Session } from "@banyan/core";
import { resolveModel } from "@banyan/models";

const agent = new Agent({ model: await resolveModel("openai/gpt-5-mini") });
const session = Session.inMemory();
for (const text of ["Name a tree.", "Why that one?"]) await agent.send(text, { session });

const [, , third = ""] = session.state.messages.keys();
const ask = async (name: string) => {
  const other = agent.with({ model: await resolveModel(`openai/${name}`) });
  return `${name}: ${(await other.chat(retry(), { session, at: third, wait: false }).turn).text}`;
};
for (const answer of await Promise.all(["gpt-5", "gpt-5-nano", "gpt-4.1"].map(ask))) console.log(answer);
