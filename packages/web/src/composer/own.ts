import { useKeptList } from "../parts/browser/use-kept-list.ts";

// The user's own prompts and presets, stored in this browser (W74).

/** What ends a turn. Chat: an answer without calls. Task: the model finishes the task. */
export type TurnMode = "chat" | "task";

/** A prompt of the user: `/name` inserts its text into the message box. */
export interface OwnPrompt {
  readonly name: string;
  /** The text. The page asks for the value of each `{field}` when the prompt is used. */
  readonly text: string;
}

/** A preset of the user: a model and a mode under one name. */
export interface Preset {
  readonly name: string;
  /** `provider/model`, or `provider/model:effort`. */
  readonly model: string;
  readonly mode: TurnMode;
}

export function useOwnPrompts() {
  return useKeptList("prompts", isPrompt);
}

export function usePresets() {
  return useKeptList("presets", isPreset);
}

/** Returns the names of the fields in a prompt's text, each once, in order. */
export function fieldsOf({ text }: OwnPrompt): readonly string[] {
  return [...new Set([...text.matchAll(FIELD)].map(([, field = ""]) => field))];
}

/** Returns the text of a prompt with its fields filled in. */
export function filledPrompt({ text }: OwnPrompt, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(FIELD, (place, field: string) => valueIn(values, field) ?? place);
}

/** A field begins with a letter and contains only word characters: braces in code contain more. */
const FIELD = /\{(\p{L}[\p{L}\p{N} _-]{0,39})\}/gu;

/** Returns the value of a field, whose name may be that of a built-in property such as `constructor`. */
export function valueIn(values: Readonly<Record<string, string>>, field: string): string | undefined {
  return Object.hasOwn(values, field) ? values[field] : undefined;
}

/** A prompt that enters the message box after its fields are filled in. */
export interface PromptToFill {
  readonly name: string;
  readonly fields: readonly PromptField[];
  filled(values: Readonly<Record<string, string>>): string;
}

export interface PromptField {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

export function promptToFill(prompt: OwnPrompt): PromptToFill {
  const fields = fieldsOf(prompt).map((name) => ({ name, description: "", required: true }));
  return { name: prompt.name, fields, filled: (values) => filledPrompt(prompt, values) };
}

export const PROMPT_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,39}$/u;

function isPrompt(item: unknown): item is OwnPrompt {
  const { name, text } = item as Partial<OwnPrompt>;
  return typeof name === "string" && typeof text === "string";
}

function isPreset(item: unknown): item is Preset {
  const { name, model, mode } = item as Partial<Preset>;
  return typeof name === "string" && typeof model === "string" && (mode === "chat" || mode === "task");
}
