import { Agent, defineTool, Session, type Store, say } from "@banyan/core";
import { openAIChat } from "@banyan/models";
import type { Client } from "./client.ts";

/** Our engine over our driver of the format, in memory, with one consumer of the feed. */
export function connect(address: string): Client {
  return engine(address);
}

/** The engine with its conversations in a store, or in memory without one. */
export function engine(address: string, store?: Store): Client {
  const model = openAIChat({ id: "mock/mock", model: "mock", baseURL: address });
  return {
    async open(look) {
      const tools = look && [
        defineTool({
          name: "look",
          description: "Reads a file.",
          input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
          effects: "none",
          execute: (input) => look(input as { path: string }),
        }),
      ];
      const agent = new Agent({ model, tools: tools ?? [], limits: { steps: 1_000_000 } });
      const session = store ? await Session.open(store) : Session.inMemory();
      return {
        async ask(question) {
          let characters = 0;
          for await (const item of agent.chat(say(question), { session })) {
            if (item.type === "text.delta") characters += item.text.length;
            if (item.type === "run.ended" && item.error) throw new Error(item.error.message);
          }
          return characters;
        },
      };
    },
  };
}
