import type { Call, CallStatus, FileChange, Json, PlanStep, Preview } from "@banyan/core/conversation";
import {
  editablePlan,
  inEnglish,
  isJsonRecord,
  isPlanSteps,
  planIn,
  type Say,
  shownPlan,
  visibleLine,
  visibleText,
} from "@banyan/core/shown";

/**
 * One line about a call that needs a user's decision. Its text is safe to display. A client can choose the line's
 * style, but must show its whole text. See {@link shownCall}.
 */
export interface ShownLine {
  /**
   * `note`: a warning before the decision. `head`: a title of the following lines. `argument`: a name with its value.
   * `command`: a line of the program text. `text`: a line of another value with several lines, with a mark in front so
   * that it cannot be mistaken. `added`, `removed`, `same`: a line of a file change. `gap`: omitted lines between
   * changes. `confinement`: the limits of the call's program.
   */
  readonly look:
    | "note"
    | "head"
    | "argument"
    | "command"
    | "text"
    | "added"
    | "removed"
    | "same"
    | "gap"
    | "confinement";
  readonly text: string;
  /** The line's number in the new file, from 1. For a removed line, its number in the old file. */
  readonly number?: number;
  /** The file of the line. Its name determines the language. */
  readonly path?: string;
}

const SHORT = 200;

/**
 * Returns all lines about a call that a user must decide, the same in every client (S15). The predicted changes come
 * first, then every argument in full, then the limits of the call's program. The lines show the tool's description of
 * the call, because names of arguments can mislead. `input`: the arguments that will run. Default: the checked
 * arguments.
 * @example for (const { text } of shownCall(toolCall)) console.log(text);
 */
export function shownCall(
  call: Pick<Call, "input" | "inputText" | "about">,
  {
    input = call.input,
    preview,
    say = inEnglish,
  }: { readonly input?: Json | undefined; readonly preview?: Preview | undefined; readonly say?: Say } = {},
): ShownLine[] {
  const { notes = [], changes = [], confinement } = preview ?? {};
  // The changes of edited arguments are unknown.
  const isAsAsked = isSameJson(input, call.input);
  const changed = isAsAsked ? changes.map((change) => shownChange(change, say)) : [];
  const unknown =
    isAsAsked || changes.length === 0 ? [] : [say("You edited this call, so its changes to the file are not shown.")];
  return [
    ...[...unknown, ...notes].map((text) => ({ look: "note" as const, text: visibleLine(text) })),
    ...changed.flatMap(({ lines }) => lines),
    ...argumentLines(call, input, changed, say),
    ...(confinement === undefined ? [] : [{ look: "confinement" as const, text: visibleLine(confinement) }]),
  ];
}

/** An editable text for a call that a user wants to change. See {@link thingText}. */
export interface CallText {
  /**
   * The argument that the user edits: the command, the new file content, the address or the plan. Absent: all
   * arguments.
   */
  readonly name?: string;
  readonly text: string;
  /** Returns all arguments with the edited text. Throws `SyntaxError` with a sentence for an invalid text. */
  read(written: string): Json;
}

/**
 * Returns the main subject of a call as a text that a user can edit. For a plan, each step and its mark are one line.
 * Returns nothing if the call has no main subject; use `argumentsText` then.
 * @example const { text } = thingText(toolCall) ?? argumentsText(toolCall.input);
 */
export function thingText({ input, about }: Pick<Call, "input" | "about">, say: Say = inEnglish): CallText | undefined {
  if (!isJsonRecord<Readonly<Record<string, Json>>>(input)) return undefined;
  const plan = about?.plan;
  const steps = Object.keys(input).find((key) => plan !== undefined && isSameJson(input[key], plan as unknown as Json));
  if (plan && steps !== undefined) {
    const text = editablePlan(plan);
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

/**
 * Returns all arguments as JSON, on one line unless `lines` is set.
 * @example argumentsText({ path: "a.txt" }).text // '{"path":"a.txt"}'
 */
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

interface ShownChange {
  readonly path: string;
  readonly kind: FileChange["kind"];
  readonly lines: readonly ShownLine[];
  readonly isWhole: boolean;
}

function shownChange({ path, kind, added, removed, diff }: FileChange, say: Say): ShownChange {
  const lines = readPatch(diff).flatMap((line, index): ShownLine[] => {
    const number = line.kind === "removed" ? line.before : line.after;
    if (line.kind !== "place") {
      return [{ look: line.kind, text: visibleText(line.text), path, ...(number !== undefined && { number }) }];
    }
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

/** A diff shows these characters as symbols that a text may also contain, so such a text is shown itself too (S15). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const HAS_CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;

/** A path that cannot be mistaken inside a sentence. */
const PLAIN_PATH = /^[\w@./-]+$/;

function argumentLines(
  call: Pick<Call, "input" | "inputText" | "about">,
  input: Json | undefined,
  changed: readonly ShownChange[],
  say: Say,
): ShownLine[] {
  if (input === undefined) return shownTextLines(call.inputText, "text");
  if (!isJsonRecord<Readonly<Record<string, Json>>>(input) || Object.keys(input).length === 0)
    return shownTextLines(JSON.stringify(input, null, 2), "text");
  const isTold = changed.length > 0 && changed.every(({ isWhole }) => isWhole);
  // The full new content of an existing file does not show what is new.
  const isOverwritten = call.about?.change?.goes === undefined && changed.some(({ kind }) => kind === "changed");
  const looks = argumentLooks(call, isOverwritten || !isSameJson(input, call.input));
  // The question already says that the plan is submitted, and there are no other arguments.
  const isHandedIn =
    call.about?.handsIn === true &&
    Object.keys(input).length === 2 &&
    Object.values(input).every((value) => value === true || isPlanSteps(value));
  const [path] = call.about?.paths?.map((one) => one.path) ?? [];
  return Object.entries(input).flatMap(([name, value]) => {
    // Names of arguments cannot hide characters or look like a line of their own either.
    const shown = /^[\w.-]+$/.test(name) ? name : visibleLine(JSON.stringify(name));
    if (call.about?.plan && isPlanSteps(value)) return shownPlanLines(isHandedIn ? undefined : shown, value, say);
    if (value === true && isHandedIn) return [];
    if (typeof value !== "string") return valueLines(shown, value);
    const isOfChange = name === call.about?.change?.goes || name === call.about?.change?.comes;
    const isFile = PLAIN_PATH.test(value) && changed.some((change) => change.path === value);
    // The change itself shows the whole value.
    if (isTold && (isFile || (isOfChange && !HAS_CONTROL.test(value)))) return [];
    const lines = textLines(shown, value, looks.get(name), say);
    return isOfChange && path !== undefined
      ? lines.map((line) => (line.look === "head" ? line : { ...line, path }))
      : lines;
  });
}

function argumentLooks(
  { input, about }: Pick<Call, "input" | "about">,
  isContent: boolean,
): ReadonlyMap<string, ShownLine["look"]> {
  const looks = new Map<string, ShownLine["look"]>();
  const { goes, comes } = about?.change ?? {};
  if (goes !== undefined) looks.set(goes, "removed");
  if (comes !== undefined) looks.set(comes, goes === undefined && isContent ? "text" : "added");
  const command = isJsonRecord<Readonly<Record<string, Json>>>(input)
    ? Object.keys(input).find((name) => input[name] === about?.command)
    : undefined;
  if (about?.command !== undefined && command !== undefined) looks.set(command, "command");
  return looks;
}

function textLines(name: string, text: string, look: ShownLine["look"] | undefined, say: Say): ShownLine[] {
  if (look === "command") return [{ look: "head", text: name }, ...shownTextLines(text, look)];
  const isShort = text.length <= SHORT && !text.includes("\n");
  if (look === undefined && isShort)
    return [{ look: "argument", text: `${name}: ${visibleLine(JSON.stringify(text))}` }];
  const lines = look === undefined ? shownTextLines(text, "text") : shownTextLines(text.replace(/\n$/, ""), look);
  if (text === "") return [{ look: "head", text: say("{name}: empty", { name }) }];
  return [
    { look: "head", text: say.count(lines.length, "{name}, {count} line:", "{name}, {count} lines:", { name }) },
    ...lines,
  ];
}

/** Without a name, only the steps. */
function shownPlanLines(name: string | undefined, plan: readonly PlanStep[], say: Say): ShownLine[] {
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

function shownTextLines(text: string, look: ShownLine["look"]): ShownLine[] {
  return visibleText(text)
    .split("\n")
    .map((line) => ({ look, text: line }));
}

function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/**
 * A line of a diff: a line of the new text, the old text or both, or a note about the position of the next lines.
 * See {@link readPatch}.
 */
export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "place";
  readonly text: string;
  /** From 1. */
  readonly before?: number;
  /** From 1. */
  readonly after?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/**
 * Returns the lines of a unified diff of one file. If the diff is cut inside a hunk, returns the lines before the cut.
 * @example const lines = readPatch("@@ -1 +1 @@\n-oak\n+elm\n");
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
      // File names, or words in place of a diff.
      if (line !== "" && !line.startsWith("--- ") && !line.startsWith("+++ "))
        lines.push({ kind: "place", text: line });
    } else if (line.startsWith("+")) lines.push({ kind: "added", text: line.slice(1), after: after++ });
    else if (line.startsWith("-")) lines.push({ kind: "removed", text: line.slice(1), before: before++ });
    else if (line.startsWith(" ")) lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
  }
  return lines;
}

/** Status of a call for users. `not-run`: the call ended before its tool had any effect. See {@link shownStatus}. */
export type DisplayedCallStatus = CallStatus | "not-run";

/** Beginning of the engine's result for a call that did not run. */
const NOT_EXECUTED = "Not executed: ";

/**
 * Returns the status of a call for users. A call that did not run never appears as a failed call (S36), and a command
 * with an exit code other than 0 never as a completed one (T67).
 * @example console.log(toolCall.tool, shownStatus(toolCall));
 */
export function shownStatus(call: Call): DisplayedCallStatus {
  const { status, startedAt, output = "" } = call;
  const isNotRun = status === "failed" && (startedAt === undefined || output.startsWith(NOT_EXECUTED));
  return isNotRun ? "not-run" : failedExit(call) === undefined ? status : "failed";
}

const EXIT_CODE = /(?:^|\n)(exit code \d+)$/;

/**
 * Describes the end of a command that ran to its end with an exit code other than 0, such as `exit code 2`. Returns
 * undefined for all other calls.
 * @example console.log(failedExit(toolCall) ?? shownStatus(toolCall));
 */
export function failedExit({ about, status, output = "" }: Call): string | undefined {
  return about?.command !== undefined && status === "completed" ? EXIT_CODE.exec(output.slice(-40))?.[1] : undefined;
}
