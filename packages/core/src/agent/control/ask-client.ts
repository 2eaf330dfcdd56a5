import { questionTextProblem } from "../../conversation/checked/question-fields.ts";
import type { QuestionChoice } from "../../conversation/event.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Question } from "../../ports/tool-values.ts";

interface AskInput {
  readonly question: string;
  readonly questions?: readonly {
    readonly heading: string;
    readonly question: string;
    readonly choices: readonly QuestionChoice[];
    readonly several?: boolean;
  }[];
  readonly default_answer?: string;
}

/**
 * Makes the tool `ask_client {question, questions?, default_answer?}`. It asks a user in words or with choices. If no
 * user can be asked, it returns the default answer. Task mode adds this tool; for a chat, add it to `tools`.
 * @example const guide = new Agent({ model, tools: [askClient()] });
 */
export function askClient(): Tool {
  return defineTool({
    name: "ask_client",
    description:
      "Asks the user what you cannot decide or find out yourself. If possible, offer choices with `questions` (1 to 4, each with 2 to 12 choices), and a default_answer in case no user is available.",
    input: {
      type: "object",
      properties: {
        question: { type: "string", minLength: 1, description: "The question, or the subject of the questions." },
        questions: {
          type: "array",
          items: {
            type: "object",
            properties: {
              heading: { type: "string", description: "1-3 words." },
              question: { type: "string" },
              choices: {
                type: "array",
                items: {
                  type: "object",
                  properties: { label: { type: "string" }, description: { type: "string" } },
                  required: ["label"],
                },
              },
              several: { type: "boolean", description: "Allows more than one choice." },
            },
            required: ["heading", "question", "choices"],
          },
        },
        default_answer: { type: "string" },
      },
      required: ["question"],
      additionalProperties: false,
    },
    effects: "idempotent",
    control: true,
    about: (input) => ({ title: (input as AskInput).question }),
    execute(input: unknown, context) {
      const question = askedQuestion(input as AskInput);
      const problem = questionTextProblem("The question", question.text, 10_000);
      if (problem !== undefined) throw new RangeError(problem);
      return context.ask(question);
    },
  });
}

function askedQuestion({ question: text, questions, default_answer }: AskInput): Question {
  const fields = questions?.map(({ question, ...field }) => ({ ...field, text: question }));
  return {
    text,
    ...(fields && { fields }),
    ...(default_answer !== undefined && { default: default_answer }),
  };
}
