import type { Call, FileChange, Json, Preview } from "../message.ts";
import { readPatch } from "./patch.ts";
import { visibleLine, visibleText } from "./visible-text.ts";

/** A line of a question about a call. Its text is written out already: a client paints it, and leaves nothing away. */
export interface ShownLine {
  /**
   * `note`: something to know before one decides. `head`: what the lines below are. `argument`: a name with its value.
   * `command`: a line of the program text. `text`: a line of any other value that has several; a mark stands before it, so
   * that it is taken for nothing else. `added`, `removed`, `same`: a line of a change of a file; `gap`: between two places of it.
   */
  readonly look: "note" | "head" | "argument" | "command" | "text" | "added" | "removed" | "same" | "gap";
  readonly text: string;
  /** Of a line of a change: its number in the file, from 1; of one that goes, in the old file. */
  readonly number?: number;
}

/** Characters of a text that stand on the line of its name. */
const SHORT = 200;

/**
 * All that a person is shown of a call that they decide about, the same in every client (S15). What it would change stands
 * first, where its tool can tell; then every argument by its name, whole. Nothing is chosen by how an argument is called: a
 * tool says what a call is about, and `input` (by default the arguments as they were checked; others when a person changes
 * them) is what runs.
 */
export function shownCall(
  call: Pick<Call, "input" | "inputText" | "about">,
  { input = call.input, preview }: { readonly input?: Json | undefined; readonly preview?: Preview | undefined } = {},
): ShownLine[] {
  const { notes = [], changes = [] } = preview ?? {};
  const changed = changes.map(changeLines);
  const said = changed.flat().filter(({ look }) => look === "added" || look === "removed" || look === "same");
  return [
    ...notes.map((text) => ({ look: "note" as const, text: visibleLine(text) })),
    ...changed.flat(),
    ...argumentsOf(call, input, new Set(said.map(({ text }) => text))),
  ];
}

function changeLines({ path, kind, added, removed, diff }: FileChange): ShownLine[] {
  const lines = readPatch(diff).flatMap((line, index): ShownLine[] => {
    const number = line.kind === "removed" ? line.before : line.after;
    if (line.kind !== "place") {
      return [{ look: line.kind, text: visibleText(line.text), ...(number !== undefined && { number }) }];
    }
    // Where a place begins is told by the numbers of its lines.
    if (line.text.startsWith("@@")) return index === 0 ? [] : [{ look: "gap", text: "⋮" }];
    return [{ look: "gap", text: visibleLine(line.text) }];
  });
  const count = (look: ShownLine["look"]) => lines.filter((line) => line.look === look).length;
  const isWhole = count("added") === added && count("removed") === removed;
  const words = { created: "New file", changed: "Changes", deleted: "Removes" }[kind];
  const amounts = [
    added > 0 ? `${linesInWords(added)} added` : "",
    removed > 0 ? `${linesInWords(removed)} removed` : "",
  ];
  const head = [`${words} ${visibleLine(path)}`, ...amounts.filter((text) => text !== "")].join(", ");
  const rest =
    diff === "" ? "The difference cannot be shown as lines." : "The difference is longer than what is shown of it.";
  return [{ look: "head", text: head }, ...lines, ...(isWhole ? [] : [{ look: "note" as const, text: rest }])];
}

function argumentsOf(
  call: Pick<Call, "input" | "inputText" | "about">,
  input: Json | undefined,
  said: ReadonlySet<string>,
): ShownLine[] {
  if (input === undefined) return linesOf(call.inputText, "text");
  if (!isRecord(input) || Object.keys(input).length === 0) return linesOf(JSON.stringify(input, null, 2), "text");
  const looks = looksOf(call);
  return Object.entries(input).flatMap(([name, value]) => {
    // Of a name, too, nothing hides, and none looks like a line of its own.
    const shown = /^[\w.-]+$/.test(name) ? name : visibleLine(JSON.stringify(name));
    return typeof value === "string" ? textLines(shown, value, looks.get(name), said) : valueLines(shown, value);
  });
}

/** The arguments that have a look of their own, by what the tool said of those that it was asked about. */
function looksOf({ input, about }: Pick<Call, "input" | "about">): ReadonlyMap<string, ShownLine["look"]> {
  const looks = new Map<string, ShownLine["look"]>();
  if (about?.change?.goes !== undefined) looks.set(about.change.goes, "removed");
  if (about?.change) looks.set(about.change.comes, "added");
  const command = isRecord(input) ? Object.keys(input).find((name) => input[name] === about?.command) : undefined;
  if (about?.command !== undefined && command !== undefined) looks.set(command, "command");
  return looks;
}

function textLines(
  name: string,
  text: string,
  look: ShownLine["look"] | undefined,
  said: ReadonlySet<string>,
): ShownLine[] {
  if (look === "command") return [{ look: "head", text: name }, ...linesOf(text, look)];
  const isShort = text.length <= SHORT && !text.includes("\n");
  if (look === undefined && isShort)
    return [{ look: "argument", text: `${name}: ${visibleLine(JSON.stringify(text))}` }];
  const lines = look === undefined ? linesOf(text, "text") : linesOf(text.replace(/\n$/, ""), look);
  const head = `${name}, ${linesInWords(lines.length)}`;
  if (look !== undefined && lines.every((line) => said.has(line.text)))
    return [{ look: "argument", text: `${head}: as above` }];
  return [{ look: "head", text: text === "" ? `${name}: nothing` : `${head}:` }, ...(text === "" ? [] : lines)];
}

function valueLines(name: string, value: Json): ShownLine[] {
  const [first = "", ...rest] = visibleText(JSON.stringify(value, null, 2)).split("\n");
  return [{ look: "argument", text: `${name}: ${first}` }, ...rest.map((text) => ({ look: "text" as const, text }))];
}

function linesOf(text: string, look: ShownLine["look"]): ShownLine[] {
  return visibleText(text)
    .split("\n")
    .map((line) => ({ look, text: line }));
}

function linesInWords(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}

function isRecord(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
