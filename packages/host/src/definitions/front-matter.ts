import { z } from "zod";
import { type SettingsFault, shortJson } from "../settings/fault.ts";
import type { TextPosition } from "../settings/json-text.ts";
import { type KeyPath, valueAt } from "../settings/key.ts";
import { parseYaml, type YamlText } from "../settings/yaml-text.ts";

/** A Markdown file with its front matter. */
export interface FrontMatter<T> {
  readonly head: T;
  readonly text: string;
  /** Set if the front matter is invalid YAML and was read line by line. */
  readonly fault?: SettingsFault;
  /** Returns the position of a key in the file. */
  placeOf(path: KeyPath): Pick<SettingsFault, "line" | "column">;
}

const FENCE = /^---[ \t]*(?:\r?\n|$)/;
const CLOSING = /^---[ \t]*$/m;
/** Such long lines, which no user writes, break the YAML parser. */
const LONG_LINE = /^.{4096}/m;

/**
 * Reads the YAML front matter of a Markdown file. For a file without front matter, `head` is empty. Ignores unknown
 * names, because other programs use them. Reads almost valid YAML line by line (C19). If the head is unusable, returns
 * a fault with its line.
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
  const written = rest.slice(0, closing?.index ?? 0);
  const yaml = parseYaml(written);
  const text = (closing ? rest.slice(closing.index + closing[0].length) : markdown).trim();
  if (!yaml.ok) {
    const { at, problem, advice } = yaml;
    const fault = { source, ...frontMatterPlace(at), problem };
    const byLine = schema.safeParse(frontMatterLines(written));
    return byLine.success && !LONG_LINE.test(written)
      ? {
          head: byLine.data,
          text,
          placeOf: () => ({}),
          fault: { ...fault, advice: `it was read line by line; ${advice}` },
        }
      : { ...fault, advice };
  }
  const checked = schema.safeParse(yaml.value);
  if (!checked.success) return frontMatterFault(source, checked.error.issues[0], yaml);
  return { head: checked.data, text, placeOf: (path) => frontMatterPlace(yaml.places.value(path)) };
}

/** Reads lines of `name: value`. A line without a name continues the value; lines of `- item` are a list. */
function frontMatterLines(yaml: string): Readonly<Record<string, string | readonly string[]>> {
  const values = new Map<string, string | readonly string[]>();
  let current: string | undefined;
  for (const line of yaml.split(/\r?\n/)) {
    const [, name, value = ""] = /^([\w-]+):(?:\s+(.*))?$/.exec(line) ?? [];
    if (name !== undefined) values.set(name, readValue(value.trim()));
    current = name ?? current;
    const before = values.get(current ?? "");
    if (name !== undefined || current === undefined || /^\s*(?:#|$)/.test(line)) continue;
    const item = /^\s*- (.*)$/.exec(line)?.[1];
    if (item !== undefined && (before === "" || Array.isArray(before)))
      values.set(current, [...(before === "" ? [] : (before as readonly string[])), unquotedYaml(item.trim())]);
    else values.set(current, [before, line.trim()].flat().filter(Boolean).join(" "));
  }
  return Object.fromEntries(values);
}

function readValue(written: string): string | readonly string[] {
  if (/^[|>][+-]?\d?$/.test(written)) return "";
  const [, list] = /^\[([^[\]]*)\]$/.exec(written) ?? [];
  return list === undefined ? unquotedYaml(written) : list.split(",").map((each) => unquotedYaml(each.trim()));
}

function unquotedYaml(text: string): string {
  if (/^".*"$/.test(text)) return text.slice(1, -1).replaceAll('\\"', '"');
  return /^'.*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;
}

/** The YAML starts one line below the fence. */
function frontMatterPlace(at: TextPosition | undefined): Pick<SettingsFault, "line" | "column"> {
  return at === undefined ? {} : { line: at.line + 1, column: at.column };
}

function frontMatterFault(
  source: string,
  issue: z.core.$ZodIssue | undefined,
  { value, places }: Extract<YamlText, { ok: true }>,
): SettingsFault {
  const { path = [] } = issue ?? {};
  return {
    source,
    ...frontMatterPlace(places.value(path) ?? { line: 0, column: 1 }),
    ...(path.length > 0 && { key: path.join(".") }),
    problem: `found ${shortJson(valueAt(value, path))}`,
    advice: `expected ${issue?.message ?? "something else"}`,
  };
}

/** A schema for a list of names: `[a, b]`, or `a, b` as one text. */
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
