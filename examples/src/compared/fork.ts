// Three models answer the third message of one conversation, at the same time, on three branches.
import { Agent, retry, Session } from "@banyan/core";
import { openai } from "@banyan/models/openai";

const agent = new Agent({ model: openai("gpt-5-mini") });
const session = Session.inMemory();
for (const text of ["Name a tree.", "Why that one?"]) await agent.send(text, { session });

const [, , third = ""] = session.state.messages.keys();
const ask = async (name: string) => {
  const { turn } = agent.with({ model: openai(name) }).chat(retry(), { session, at: third, wait: false });
  return `${name}: ${(await turn).text}`;
};
for (const answer of await Promise.all(["gpt-5", "gpt-5-nano", "gpt-4.1"].map(ask))) console.log(answer);
