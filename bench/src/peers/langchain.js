import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { LOOK } from "./look.js";

/** LangChain's agent, without a checkpointer. */
export function connect(address) {
  const model = new ChatOpenAI({ model: "mock", apiKey: "none", streaming: true, configuration: { baseURL: address } });
  const agent = (look) => createAgent({ model, tools: look ? [tool(look, { ...LOOK, schema: LOOK.schema })] : [] });
  return {
    agent,
    async open(look) {
      const opened = agent(look);
      let messages = [];
      return {
        async ask(question) {
          const input = { messages: [...messages, { role: "user", content: question }] };
          const options = { streamMode: ["messages", "values"], recursionLimit: 1_000_000 };
          let characters = 0;
          for await (const [mode, item] of await opened.stream(input, options)) {
            if (mode === "values") messages = item.messages;
            else if (item[0].type === "ai" && typeof item[0].content === "string") characters += item[0].content.length;
          }
          return characters;
        },
      };
    },
  };
}
