import { z } from "zod";
import { type SettingsFault, shown } from "../settings/fault.ts";
import type { Position } from "../settings/json-text.ts";
import { valueAt } from "../settings/key.ts";
import { parseYaml, type YamlText } from "../settings/yaml-text.ts";

/** A Markdown file with what stands before its text. */
export interface FrontMatter<T> {
  readonly head: T;
  readonly text: string;
}

const FENCE = /^---[ \t]*(?:\r?\n|$)/;
const CLOSING = /^---[ \t]*$/m;

/**
 * Reads the YAML between two lines of three dashes at the beginning of a Markdown file, as the field writes agents,
 * skills and commands. A file without them has an empty head. Names that are not known are passed over: other programs
 * write other ones. Returns what is wrong, with its line, in the place of what cannot be used.
 */
export function readFrontMatter<Schema extends z.ZodType>(
  source: string,
  content: string,
  schema: Schema,
): FrontMatter<z.infer<Schema>> | SettingsFault {
  const markdown = content.replace(/^\uFEFF/, "");
  const opening = FENCE.exec(markdown);
  const rest = opening ? markdown.slice(opening[0].length) : "";
  const closing = opening ? CLOSING.exec(rest) : null;
  if (opening && !closing) {
    return {
      source,
      line: 1,
      column: 1,
      problem: "the lines before the text do not end",
      advice: "end them with a line of three dashes",
    };
  }
  const yaml = parseYaml(rest.slice(0, closing?.index ?? 0));
  if (!yaml.ok) {
    const { at, problem, advice } = yaml;
    return { source, ...placeOf(at), problem, advice };
  }
  const checked = schema.safeParse(yaml.value);
  if (!checked.success) return faultIn(source, checked.error.issues[0], yaml);
  return { head: checked.data, text: (closing ? rest.slice(closing.index + closing[0].length) : markdown).trim() };
}

/** What stands there comes after a line of dashes. */
function placeOf(at: Position | undefined): Pick<SettingsFault, "line" | "column"> {
  return at === undefined ? {} : { line: at.line + 1, column: at.column };
}

function faultIn(
  source: string,
  issue: z.core.$ZodIssue | undefined,
  { value, places }: Extract<YamlText, { ok: true }>,
): SettingsFault {
  const { path = [] } = issue ?? {};
  return {
    source,
    ...placeOf(places.value(path) ?? { line: 0, column: 1 }),
    ...(path.length > 0 && { key: path.join(".") }),
    problem: `found ${shown(valueAt(value, path))}`,
    advice: `expected ${issue?.message ?? "something else"}`,
  };
}

/** A list of names: `[a, b]`, or `a, b` as one text. */
export const nameList = z.union(
  [
    z.string().transform((text) =>
      text
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean),
    ),
    z.array(z.string()),
  ],
  {
    error: "names, separated by commas or as a list",
  },
);
