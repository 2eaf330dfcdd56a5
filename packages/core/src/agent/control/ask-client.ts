import { defineTool, type Tool } from "../../ports/tool.ts";

/** `ask_client {question, default_answer?}`: asks a person; answers with the default where nobody can be asked. */
export function askClient(): Tool {
  return defineTool({
    name: "ask_client",
    description:
      "Asks the person who gave the task. Use it only for what you cannot decide or find out yourself, and give a default_answer where you can: it is the answer when nobody can be asked.",
    input: {
      type: "object",
      properties: {
        question: { type: "string", minLength: 1 },
        default_answer: { type: "string" },
      },
      required: ["question"],
      additionalProperties: false,
    },
    effects: "idempotent",
    control: true,
    about: (input) => ({ title: (input as { readonly question: string }).question }),
    execute(input: unknown, context) {
      const { question, default_answer } = input as { readonly question: string; readonly default_answer?: string };
      return context.ask(
        default_answer === undefined ? { text: question } : { text: question, default: default_answer },
      );
    },
  });
}
