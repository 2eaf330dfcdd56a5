import { type Document, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { type SettingsFault, shown } from "../settings/fault.ts";
import { valueAt } from "../settings/key.ts";

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
 * write other ones. Answers what is wrong, with its line, in the place of what cannot be used.
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
  const lines = new LineCounter();
  const yaml = yamlOf(rest.slice(0, closing?.index ?? 0), lines);
  if ("problem" in yaml) return { source, ...yaml };
  const checked = schema.safeParse(yaml.value);
  if (!checked.success) return faultIn(source, checked.error.issues[0], lines, yaml);
  return { head: checked.data, text: (closing ? rest.slice(closing.index + closing[0].length) : markdown).trim() };
}

interface Yaml {
  readonly document: Document;
  readonly value: unknown;
}

function yamlOf(text: string, lines: LineCounter): Yaml | Omit<SettingsFault, "source"> {
  const fault = (message: string, at?: number) => {
    const { line, col } = at === undefined ? {} : lines.linePos(at);
    return {
      ...(line && { line: line + 1, column: col }),
      problem: `this is no YAML (${message.split("\n")[0]})`,
      advice: "correct it; a text that begins with a sign stands in quotes",
    };
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const [error] = document.errors;
    if (error) return fault(error.message, error.pos[0]);
    return { document, value: document.toJS({ maxAliasCount: 10 }) ?? {} };
  } catch (error) {
    // A `*name` that stands for nothing or for too much, or lists that are deeper than the stack.
    return fault(error instanceof Error ? error.message : String(error));
  }
}

function faultIn(
  source: string,
  issue: z.core.$ZodIssue | undefined,
  lines: LineCounter,
  { document, value }: Yaml,
): SettingsFault {
  const key = issue?.path.join(".") || undefined;
  const node =
    issue &&
    document.getIn(
      issue.path.filter((step) => typeof step !== "symbol"),
      true,
    );
  const at = node && typeof node === "object" && "range" in node ? (node.range as [number] | null)?.[0] : undefined;
  const { line, col } = at === undefined ? { line: 0, col: 1 } : lines.linePos(at);
  const known = key === undefined ? {} : { key };
  return {
    source,
    line: line + 1,
    column: col,
    ...known,
    problem: `found ${shown(valueAt(value, issue?.path ?? []))}`,
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
