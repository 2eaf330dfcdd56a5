import { createParser } from "eventsource-parser";
import { LOOK } from "./look.js";

const TOOLS = [
  { type: "function", function: { name: LOOK.name, description: LOOK.description, parameters: LOOK.schema } },
];

/**
 * A client for this format as a developer would write it by hand: events by `eventsource-parser`, each parsed as JSON,
 * and the whole conversation encoded for every request. `send` posts a body and passes on the response as text.
 */
export function handWritten(send) {
  return {
    async open(look) {
      const messages = [];
      return {
        async ask(question) {
          let characters = 0;
          messages.push({ role: "user", content: question });
          for (;;) {
            const message = { role: "assistant", content: "" };
            const parser = createParser({ onEvent: ({ data }) => take(message, data) });
            const body = JSON.stringify({ model: "mock", stream: true, messages, ...(look && { tools: TOOLS }) });
            await send(body, (text) => parser.feed(text));
            characters += message.content.length;
            messages.push(message);
            if (!message.tool_calls) return characters;
            for (const { id, function: called } of message.tool_calls) {
              messages.push({ role: "tool", tool_call_id: id, content: look(JSON.parse(called.arguments)) });
            }
          }
        },
      };
    },
  };
}

function take(message, data) {
  if (data === "[DONE]") return;
  const delta = JSON.parse(data).choices[0]?.delta;
  if (delta?.content) message.content += delta.content;
  for (const { index, id, function: piece } of delta?.tool_calls ?? []) {
    message.tool_calls ??= [];
    message.tool_calls[index] ??= { id, type: "function", function: { name: piece.name, arguments: "" } };
    message.tool_calls[index].function.arguments += piece.arguments;
  }
}
