import type { Call, CallStatus, FileChange, Json, PlanStep, Preview } from "../message.ts";
import { inEnglish, type Say } from "./say.ts";
import { isSteps, planIn, planText, shownPlan } from "./shown-plan.ts";
import { visibleLine, visibleText } from "./visible-text.ts";

/** A line of a question about a call. Its text is written out already: a client paints it, and leaves nothing away. */
export interface ShownLine {
  /**
   * `note`: something to know before one decides. `head`: what the lines below are, or where what it names stands.
   * `argument`: a name with its value. `command`: a line of the program text. `text`: a line of any other value that has
   * several; a mark stands before it, so that it is taken for nothing else. `added`, `removed`, `same`: a line of a change of a
   * file; `gap`: between two places of it.
   */
  readonly look: "note" | "head" | "argument" | "command" | "text" | "added" | "removed" | "same" | "gap";
  readonly text: string;
  /** Of a line of a change: its number in the file, from 1; of one that goes, in the old file. */
  readonly number?: number;
  /** The file that the line is of, or is to be: its name says in which language it is. */
  readonly path?: string;
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
  {
    input = call.input,
    preview,
    say = inEnglish,
  }: { readonly input?: Json | undefined; readonly preview?: Preview | undefined; readonly say?: Say } = {},
): ShownLine[] {
  const { notes = [], changes = [] } = preview ?? {};
  // What other arguments would change, nobody has worked out.
  const isAsAsked = isSame(input, call.input);
  const changed = isAsAsked ? changes.map((change) => changeLines(change, say)) : [];
  const unknown =
    isAsAsked || changes.length === 0 ? [] : [say("You edited this, so its changes to the file are not shown.")];
  return [
    ...[...unknown, ...notes].map((text) => ({ look: "note" as const, text: visibleLine(text) })),
    ...changed.flatMap(({ lines }) => lines),
    ...argumentsOf(call, input, changed, say),
  ];
}

/** What a person writes in place of what a call says, to have it otherwise. */
export interface CallText {
  /** The argument that it is: the command, what comes into the file, the address, the steps of a plan. Absent: all of them. */
  readonly name?: string;
  /** As it is now. */
  readonly text: string;
  /** All arguments, with what is written in its place. Throws `SyntaxError`, with a sentence, where that cannot be. */
  read(written: string): Json;
}

/**
 * The thing itself that a call is about, as a text that a person can change: a plan is a line for each step, with its mark.
 * Nothing where it is about none: then it is all of its arguments, `argumentsText`.
 */
export function thingText({ input, about }: Pick<Call, "input" | "about">, say: Say = inEnglish): CallText | undefined {
  if (!isRecord(input)) return undefined;
  const plan = about?.plan;
  const steps = Object.keys(input).find((key) => plan !== undefined && isSame(input[key], plan as unknown as Json));
  if (plan && steps !== undefined) {
    const text = planText(plan);
    const read = (written: string) =>
      written === text ? input : { ...input, [steps]: planIn(written, say) as unknown as Json };
    return { name: steps, text, read };
  }
  const main = about?.command ?? about?.url;
  const name = about?.change?.comes ?? Object.keys(input).find((key) => main !== undefined && input[key] === main);
  const text = name === undefined ? undefined : input[name];
  if (name === undefined || typeof text !== "string") return undefined;
  return { name, text, read: (written) => ({ ...input, [name]: written }) };
}

/** All arguments as JSON; on one line, unless it may take several. */
export function argumentsText(
  input: Json = {},
  { lines = false, say = inEnglish }: { readonly lines?: boolean; readonly say?: Say } = {},
): CallText {
  return {
    text: JSON.stringify(input, undefined, lines ? 2 : undefined),
    read(written) {
      try {
        return JSON.parse(written) as Json;
      } catch (error) {
        const problem = error instanceof Error ? visibleLine(error.message) : String(error);
        throw new SyntaxError(say("The arguments are not JSON: {problem}", { problem }), { cause: error });
      }
    },
  };
}

/** What is shown of a change that a call would make. */
interface ShownChange {
  readonly path: string;
  readonly kind: FileChange["kind"];
  readonly lines: readonly ShownLine[];
  /** All of it is shown. */
  readonly isWhole: boolean;
}

function changeLines({ path, kind, added, removed, diff }: FileChange, say: Say): ShownChange {
  const lines = readPatch(diff).flatMap((line, index): ShownLine[] => {
    const number = line.kind === "removed" ? line.before : line.after;
    if (line.kind !== "place") {
      return [{ look: line.kind, text: visibleText(line.text), path, ...(number !== undefined && { number }) }];
    }
    // Where a place begins is told by the numbers of its lines.
    if (line.text.startsWith("@@")) return index === 0 ? [] : [{ look: "gap", text: "⋮" }];
    return [{ look: "gap", text: visibleLine(line.text) }];
  });
  const count = (look: ShownLine["look"]) => lines.filter((line) => line.look === look).length;
  const isWhole = count("added") === added && count("removed") === removed;
  const name = { path: visibleLine(path) };
  const words = {
    created: () => say("New file {path}", name),
    changed: () => say("Changes {path}", name),
    deleted: () => say("Removes {path}", name),
  }[kind]();
  const amounts = [
    added > 0 ? say.count(added, "{count} line added", "{count} lines added") : "",
    removed > 0 ? say.count(removed, "{count} line removed", "{count} lines removed") : "",
  ];
  const head = [words, ...amounts.filter((text) => text !== "")].join(", ");
  const rest = diff === "" ? say("The changes cannot be shown as lines.") : say("Only a part of the changes is shown.");
  const note = isWhole ? [] : [{ look: "note" as const, text: rest }];
  return { path, kind, isWhole, lines: [{ look: "head", text: head }, ...lines, ...note] };
}

/** A difference writes these as pictures, which a text may hold as well: such a text is shown itself, too (S15). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const HAS_CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;

/** A name that is taken for nothing else where it stands in a sentence. */
const PLAIN_PATH = /^[\w@./-]+$/;

function argumentsOf(
  call: Pick<Call, "input" | "inputText" | "about">,
  input: Json | undefined,
  changed: readonly ShownChange[],
  say: Say,
): ShownLine[] {
  if (input === undefined) return linesOf(call.inputText, "text");
  if (!isRecord(input) || Object.keys(input).length === 0) return linesOf(JSON.stringify(input, null, 2), "text");
  const isTold = changed.length > 0 && changed.every(({ isWhole }) => isWhole);
  // Of a file that is there already, its whole new content says nothing of what is new in it.
  const isOverwritten = call.about?.change?.goes === undefined && changed.some(({ kind }) => kind === "changed");
  const looks = looksOf(call, isOverwritten || !isSame(input, call.input));
  // What is asked says that the plan is handed in, and nothing but these two is there.
  const isHandedIn =
    call.about?.handsIn === true &&
    Object.keys(input).length === 2 &&
    Object.values(input).every((value) => value === true || isSteps(value));
  const [path] = call.about?.paths?.map((one) => one.path) ?? [];
  return Object.entries(input).flatMap(([name, value]) => {
    // Of a name, too, nothing hides, and none looks like a line of its own.
    const shown = /^[\w.-]+$/.test(name) ? name : visibleLine(JSON.stringify(name));
    // A plan is an argument too: it is read as one, if it is the one that the call is about, or stands in its place.
    if (call.about?.plan && isSteps(value)) return stepLines(isHandedIn ? undefined : shown, value, say);
    if (value === true && isHandedIn) return [];
    if (typeof value !== "string") return valueLines(shown, value);
    const isOfChange = name === call.about?.change?.goes || name === call.about?.change?.comes;
    const isFile = PLAIN_PATH.test(value) && changed.some((change) => change.path === value);
    // The change itself shows all of it.
    if (isTold && (isFile || (isOfChange && !HAS_CONTROL.test(value)))) return [];
    const lines = textLines(shown, value, looks.get(name), say);
    return isOfChange && path !== undefined
      ? lines.map((line) => (line.look === "head" ? line : { ...line, path }))
      : lines;
  });
}

/** The arguments that have a look of their own, by what the tool said of those that it was asked about. */
function looksOf(
  { input, about }: Pick<Call, "input" | "about">,
  isContent: boolean,
): ReadonlyMap<string, ShownLine["look"]> {
  const looks = new Map<string, ShownLine["look"]>();
  const { goes, comes } = about?.change ?? {};
  if (goes !== undefined) looks.set(goes, "removed");
  if (comes !== undefined) looks.set(comes, goes === undefined && isContent ? "text" : "added");
  const command = isRecord(input) ? Object.keys(input).find((name) => input[name] === about?.command) : undefined;
  if (about?.command !== undefined && command !== undefined) looks.set(command, "command");
  return looks;
}

function textLines(name: string, text: string, look: ShownLine["look"] | undefined, say: Say): ShownLine[] {
  if (look === "command") return [{ look: "head", text: name }, ...linesOf(text, look)];
  const isShort = text.length <= SHORT && !text.includes("\n");
  if (look === undefined && isShort)
    return [{ look: "argument", text: `${name}: ${visibleLine(JSON.stringify(text))}` }];
  const lines = look === undefined ? linesOf(text, "text") : linesOf(text.replace(/\n$/, ""), look);
  if (text === "") return [{ look: "head", text: say("{name}: empty", { name }) }];
  return [
    { look: "head", text: say.count(lines.length, "{name}, {count} line:", "{name}, {count} lines:", { name }) },
    ...lines,
  ];
}

/** Without a name, only its steps. */
function stepLines(name: string | undefined, plan: readonly PlanStep[], say: Say): ShownLine[] {
  const lines = shownPlan(plan, Number.POSITIVE_INFINITY, say).map(({ mark, text }) => ({
    look: "text" as const,
    text: `${mark} ${text}`,
  }));
  if (name === undefined) return lines;
  return [
    { look: "head", text: say.count(plan.length, "{name}, {count} step:", "{name}, {count} steps:", { name }) },
    ...lines,
  ];
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

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function isRecord(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A line of a difference of a file: in the new text, in the old one, in both, or a note of where the next lines stand. */
export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "place";
  readonly text: string;
  /** Its number in the old text, from 1. */
  readonly before?: number;
  /** Its number in the new text, from 1. */
  readonly after?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/**
 * The lines of a unified diff of one file. It reads what is there: a diff that was cut in the middle of a hunk, as a large
 * one is, gives the lines that came.
 */
export function readPatch(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInside = false;
  for (const line of diff.split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInside = true;
      lines.push({ kind: "place", text: line });
    } else if (!isInside) {
      // The names of the files, or words in place of a diff.
      if (line !== "" && !line.startsWith("--- ") && !line.startsWith("+++ "))
        lines.push({ kind: "place", text: line });
    } else if (line.startsWith("+")) lines.push({ kind: "added", text: line.slice(1), after: after++ });
    else if (line.startsWith("-")) lines.push({ kind: "removed", text: line.slice(1), before: before++ });
    else if (line.startsWith(" ")) lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
  }
  return lines;
}

/** How users are told that a call stands. `not-run`: the call came to nothing before its tool did anything. */
export type ShownStatus = CallStatus | "not-run";

/** How the engine begins the result of a call that it did not carry out. */
const NOT_EXECUTED = "Not executed: ";

/** Returns how users are told that a call stands: a call that did not run is never told as one that ran and failed (S36). */
export function shownStatus({ status, startedAt, output = "" }: Call): ShownStatus {
  const isNotRun = status === "failed" && (startedAt === undefined || output.startsWith(NOT_EXECUTED));
  return isNotRun ? "not-run" : status;
}
