import type { Message, Tool } from "@banyan/core";
import { jsonSchemaOf, promptFrom } from "@banyan/core/hosts";
import type { InstructionPart } from "./instructions.ts";
import { tokenCounter } from "./tokens.ts";

/** A part of a model's context, with its tokens. */
export interface ContextPart {
  readonly kind: "instructions" | "tool" | "conversation";
  /** Where the part comes from: a file, a tool's name, or a kind of message. */
  readonly source: string;
  readonly tokens: number;
  /** True if the model's own tokenizer counted the tokens. */
  readonly isExact: boolean;
}

/** The content of a request to a model. */
export interface ContextContent {
  /** `provider/model`. */
  readonly model: string;
  readonly instructions: readonly InstructionPart[];
  readonly tools: readonly Tool[];
  /** The messages from the root to the current message. */
  readonly path: readonly Message[];
}

/** Counts the tokens of each part of a request (B48), without files: only the provider knows their tokens. */
export async function contextParts({ model, instructions, tools, path }: ContextContent): Promise<ContextPart[]> {
  const count = await tokenCounter(model);
  const part = (kind: ContextPart["kind"], source: string, text: string): ContextPart => ({
    kind,
    source,
    ...count(text),
  });
  return [
    ...instructions.map(({ source, text }) => part("instructions", source, text)),
    ...tools.filter(({ unlisted }) => !unlisted).map((tool) => part("tool", tool.name, definitionOf(tool))),
    ...Object.entries(spokenIn(path))
      .filter(([, texts]) => texts.length > 0)
      .map(([source, texts]) => part("conversation", source, texts.join("\n"))),
  ];
}

function definitionOf({ name, description, input }: Tool): string {
  return JSON.stringify({ name, description, input: jsonSchemaOf(`tool "${name}"`, input) });
}

function spokenIn(path: readonly Message[]): Record<"messages" | "answers" | "calls and their results", string[]> {
  const said = { messages: [] as string[], answers: [] as string[], "calls and their results": [] as string[] };
  for (const message of promptFrom(path)) {
    for (const part of message.parts) {
      if (part.type === "call") said["calls and their results"].push(part.tool, JSON.stringify(part.input));
      else if (part.type === "text" || part.type === "reasoning")
        said[message.role === "user" ? "messages" : "answers"].push(part.text);
    }
    if (message.role === "assistant")
      said["calls and their results"].push(...message.results.map(({ output }) => output));
  }
  return said;
}
