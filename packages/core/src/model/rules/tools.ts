import type { Json } from "../../conversation/part.ts";
import type { ToolSchema } from "../../ports/model.ts";
import { legalName, mapKeys, wellFormed } from "./form.ts";
import type { RequestRules } from "./rules.ts";
import { legalSchema } from "./schema.ts";

/** The tools of a request as a provider accepts them, with their original names. */
export interface LegalTools {
  readonly schemas: readonly ToolSchema[];
  /** One line for the user about each omission or change. */
  readonly notes: readonly string[];
  /** Original tools by their legal names, for tools whose two names differ. */
  readonly originals: ReadonlyMap<string, OriginalTool>;
  /** For each tool, by its legal name: a map from original to legal property names. */
  readonly renamed: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface OriginalTool {
  readonly name: string;
  /** Map from legal property names to original property names. */
  readonly properties: ReadonlyMap<string, string>;
}

/** Tools at the end that are never omitted, because a mode appends the tools that end a task. */
const LAST = 8;

/** Changes tools so that a provider accepts them, and omits tools that cannot be changed. */
export function legalTools(tools: readonly ToolSchema[], rules: RequestRules): LegalTools {
  const schemas: ToolSchema[] = [];
  const originals = new Map<string, OriginalTool>();
  const renamed = new Map<string, ReadonlyMap<string, string>>();
  const unusable: string[] = [];
  const rewritten: string[] = [];
  let changed = false;
  for (const tool of tools) {
    const legal = legalSchema(tool.input, rules);
    if (!legal) {
      unusable.push(tool.name);
      continue;
    }
    const name = legalName(wellFormed(tool.name), rules.toolName);
    const description = wellFormed(legal.said === "" ? tool.description : `${tool.description}\n\n${legal.said}`);
    if (legal.said !== "" || legal.renamed.size > 0) rewritten.push(tool.name);
    if (name !== tool.name || legal.renamed.size > 0) {
      const properties = new Map([...legal.renamed].map(([original, shown]) => [shown, original]));
      originals.set(name, { name: tool.name, properties });
    }
    if (legal.renamed.size > 0) renamed.set(name, legal.renamed);
    const same = name === tool.name && description === tool.description && legal.schema === tool.input;
    changed ||= !same;
    schemas.push(same ? tool : { name, description, input: legal.schema });
  }
  const { maxTools = schemas.length } = rules;
  const over = schemas.splice(Math.max(0, maxTools - LAST), Math.max(0, schemas.length - maxTools));
  const overNames = over.map(({ name }) => originals.get(name)?.name ?? name);
  return {
    schemas: changed || schemas.length !== tools.length ? schemas : tools,
    originals,
    renamed,
    notes: [
      ...renamedToolsNote(
        unusable,
        "is left out: the provider cannot take its schema",
        "are left out: the provider cannot take their schemas",
      ),
      ...renamedToolsNote(
        overNames,
        `is left out: the provider takes at most ${maxTools} tools`,
        `are left out: the provider takes at most ${maxTools} tools`,
      ),
      ...renamedToolsNote(
        rewritten,
        "is shown to the model with a simpler schema",
        "are shown to the model with simpler schemas",
      ),
    ],
  };
}

const NAMED = 5;

function renamedToolsNote(names: readonly string[], one: string, many: string): string[] {
  if (names.length === 0) return [];
  if (names.length === 1) return [`The tool ${names[0]} ${one}.`];
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return [`The tools ${names.slice(0, NAMED).join(", ")}${more} ${many}.`];
}

/**
 * Renames the properties of arguments. No two properties get the same name, so the renaming can be reversed exactly.
 */
export function renameProperties(input: Json, names: ReadonlyMap<string, string>): Json {
  return mapKeys(input, (key) => names.get(key) ?? key);
}
