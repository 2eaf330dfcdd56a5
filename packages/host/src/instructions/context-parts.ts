import type { Message, Tool } from "@banyan/core";
import { jsonSchemaOf, promptFrom } from "@banyan/core/hosts";
import type { InstructionPart } from "./instructions.ts";
import { tokenCounter } from "./tokens.ts";

/** A part of what a model is sent, and what it takes of the context. */
export interface ContextPart {
  readonly kind: "instructions" | "tool" | "conversation";
  /** The file that the text is from, the name of the tool, or who said it. */
  readonly source: string;
  readonly tokens: number;
  /** Whether they were counted with the model's own tokenizer. */
  readonly isExact: boolean;
}

/** What a request is made of. */
export interface ContextContent {
  /** As `provider/model`. */
  readonly model: string;
  readonly instructions: readonly InstructionPart[];
  readonly tools: readonly Tool[];
  /** From the root to where the conversation stands. */
  readonly path: readonly Message[];
}

/**
 * What the model is sent, part by part (B48). Pictures and other files are left out: only their provider knows how many
 * tokens they take.
 */
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

/** What was said on a path as the model sees it, by what kind of saying it is. */
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
