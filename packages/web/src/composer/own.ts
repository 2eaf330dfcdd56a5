import { useKeptList } from "../shell/use-kept-list.ts";
import type { Mode } from "./model-choice.tsx";

// What a person has written for themselves, in this browser (W74).

/** A text that is written into the message box by its name. */
export interface OwnPrompt {
  /** Written behind a slash. */
  readonly name: string;
  /** `{field}` is asked for when it is used. */
  readonly text: string;
}

/** What a message is said with. */
export interface Preset {
  readonly name: string;
  /** `provider/model`, or `provider/model:effort`. */
  readonly model: string;
  readonly mode: Mode;
}

/** The prompts of one's own, and how others take their place. */
export function useOwnPrompts() {
  return useKeptList("prompts", isPrompt);
}

/** The presets, and how others take their place. */
export function usePresets() {
  return useKeptList("presets", isPreset);
}

/** What a prompt asks for when it is used, each once, in order. */
export function fieldsOf({ text }: OwnPrompt): readonly string[] {
  return [...new Set([...text.matchAll(FIELD)].map(([, field = ""]) => field))];
}

/** A prompt with its fields filled in. */
export function filledPrompt({ text }: OwnPrompt, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(FIELD, (place, field: string) => valueIn(values, field) ?? place);
}

/** A letter and what words are made of: braces of code hold something else. */
const FIELD = /\{(\p{L}[\p{L}\p{N} _-]{0,39})\}/gu;

/** What a field was filled in with; it may be called as something that every object has. */
export function valueIn(values: Readonly<Record<string, string>>, field: string): string | undefined {
  return Object.hasOwn(values, field) ? values[field] : undefined;
}

/** Something that is written into the message box once its fields are filled in. */
export interface PromptToFill {
  /** Written behind a slash. */
  readonly name: string;
  readonly fields: readonly PromptField[];
  filled(values: Readonly<Record<string, string>>): string;
}

/** Something that is asked for before a prompt is written. */
export interface PromptField {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** A prompt of one's own, as it is asked for. */
export function ownToFill(prompt: OwnPrompt): PromptToFill {
  const fields = fieldsOf(prompt).map((name) => ({ name, description: "", required: true }));
  return { name: prompt.name, fields, filled: (values) => filledPrompt(prompt, values) };
}

/** What can stand behind a slash. */
export const PROMPT_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,39}$/u;

function isPrompt(item: unknown): item is OwnPrompt {
  const { name, text } = item as Partial<OwnPrompt>;
  return typeof name === "string" && typeof text === "string";
}

function isPreset(item: unknown): item is Preset {
  const { name, model, mode } = item as Partial<Preset>;
  return typeof name === "string" && typeof model === "string" && (mode === "chat" || mode === "task");
}
