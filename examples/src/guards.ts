// A guard refuses a message, and another replaces card numbers before anybody sees the answer.
import { Agent, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const agent = new Agent({
  model: scriptedModel(["Your card is 4000123456789010."]),
  guards: {
    input: ({ text }) => (text.includes("password") ? { refuse: "Write no passwords here." } : undefined),
    output: ({ text }) => ({ replace: text.replaceAll(/\d{16}/g, "[card number]") }),
  },
});

await agent.send("My password is 1234.").catch((error: Error) => console.log(error.message));
for await (const text of agent.chat(say("Which card do I have?")).text) console.log(text);
