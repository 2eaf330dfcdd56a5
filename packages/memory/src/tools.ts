import { defineTool, type Tool } from "@banyan/core";
import type { ManagedMemory, MemoryEntry } from "./managed-memory.ts";
import { cutMemoryText } from "./pieces.ts";
import { tellingWords } from "./words.ts";

const CANDIDATES = 8;
const EXCERPT = 200;

/**
 * Returns the tools by which an agent changes a user's memory: `remember {fact}` and `forget {fact}`.
 * @example const agent = new Agent({ model, memory: { store: memory }, tools: memoryTools(memory) });
 */
export function memoryTools(memory: ManagedMemory): readonly Tool[] {
  return [rememberTool(memory), forgetTool(memory)];
}

function rememberTool(memory: ManagedMemory): Tool {
  return defineTool({
    name: "remember",
    description:
      "Keeps a fact for later conversations, when the user asks for it or mentions something lasting: a preference, a " +
      "decision, a name. Messages are remembered automatically.",
    input: schema("One fact in one or two sentences that can be understood without this conversation."),
    effects: "idempotent",
    async execute(input, { conversation, path }) {
      const message = path.at(-1)?.id;
      const { text } = await memory.add({
        text: factIn(input),
        conversation: conversation.id,
        ...(message !== undefined && { message }),
      });
      return `Remembered: ${text}`;
    },
  });
}

function forgetTool(memory: ManagedMemory): Tool {
  return defineTool({
    name: "forget",
    description:
      "Removes one entry from memory for good, when the user asks for this. If several entries fit, removes none and lists them.",
    input: schema("The entry to remove: some of its words, its whole text, or its number in a list, such as #12."),
    // Not idempotent: on a retry, the same words may match another entry.
    effects: "external",
    async execute(input, { signal }) {
      const [entry, ...others] = await candidates(memory, factIn(input), signal);
      if (!entry) throw new Error("No entry in memory has all of these words; try fewer words. Nothing was removed.");
      if (others.length > 0) {
        throw new Error(
          `Several entries fit. Choose an entry by its number:\n${[entry, ...others].map(({ id, text, source }) => `#${id} ${cutMemoryText(text.replace(/\s+/g, " "), EXCERPT)} (${source})`).join("\n")}`,
        );
      }
      await memory.remove(entry.id);
      return `Forgot: ${entry.text}`;
    },
  });
}

function schema(description: string) {
  return {
    type: "object",
    properties: { fact: { type: "string", description } },
    required: ["fact"],
    additionalProperties: false,
  } as const;
}

function factIn(input: unknown): string {
  return (input as { readonly fact: string }).fact;
}

/** Entries by number, by whole text or by words; without common words if no entry has all words. */
async function candidates(memory: ManagedMemory, fact: string, signal: AbortSignal): Promise<MemoryEntry[]> {
  const found = await entriesFor(memory, fact.trim(), signal);
  const whole = found.filter(({ text }) => text === fact.trim());
  const fitting = whole.length > 0 ? whole : found;
  const shown = await Promise.all(fitting.map(async ({ conversation }) => memory.isOn(conversation ?? "")));
  return fitting.filter((_, index) => shown[index]);
}

async function entriesFor(memory: ManagedMemory, fact: string, signal: AbortSignal): Promise<MemoryEntry[]> {
  const number = /^#(\d+)$/.exec(fact)?.[1];
  if (number !== undefined) {
    const [entry] = await memory.list({ limit: 1, after: Number(number) + 1 });
    return entry?.id === Number(number) ? [entry] : [];
  }
  const options = { limit: CANDIDATES, signal };
  const found = await memory.search(fact, options);
  return found.length > 0 ? found : memory.search(tellingWords(fact).join(" "), options);
}
