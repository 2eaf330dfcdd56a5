import { call, type Scene, text } from "@banyan/core/testing";
import type { Edit, Task, TaskFile } from "./task.ts";

/** One step of a model: a text, calls, or both. */
export interface Step {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: Readonly<Record<string, string>> }[];
}

/** A way to change files: the output of a model without mistakes or needless words. */
export interface Way {
  readonly name: string;
  answer(task: Task): readonly Step[];
}

/** Returns the lines of a file as a model sees them: without line ends and byte-order mark. */
function seen(text: string): string[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const editMode: Way = {
  name: "edit mode",
  answer: ({ files }) => [
    { text: "", calls: files.map(({ path }) => ({ tool: "edit_mode", input: { file_path: path } })) },
    { text: files.map((file) => blocksFor(file, files.length > 1)).join(""), calls: [] },
  ],
};

function blocksFor({ path, before, edits }: TaskFile, isOneOfSeveral: boolean): string {
  const language = path.slice(path.lastIndexOf(".") + 1);
  const named = isOneOfSeveral ? `${language}:${path}` : language;
  const lines = before === undefined ? [] : seen(before);
  return merged(edits, lines)
    .map((edit) => {
      const body = edit.lines.map((line) => `${line}\n`).join("");
      const longest = Math.max(0, ...[...body.matchAll(/^ {0,3}(`{3,})/gm)].map(([, marks]) => marks?.length ?? 0));
      const fence = "`".repeat(Math.max(3, longest + 1));
      return `${fence}${named}${before === undefined ? "" : `:${edit.start}:${edit.end}`}\n${body}${fence}\n`;
    })
    .join("");
}

const exactText: Way = {
  name: "edit",
  answer: ({ files }) => [{ text: "", calls: files.flatMap(exactEdits) }],
};

/** Returns a call for each edit. A new file has no old text, so it is written. */
function exactEdits(file: TaskFile): Step["calls"] {
  const { path, before, edits, wanted } = file;
  if (before === undefined) return [writeCall(file)];
  let lines = seen(before);
  const calls: { tool: string; input: Record<string, string> }[] = [];
  // From last to first, so that the other line numbers stay valid.
  for (const edit of merged(edits, lines).toReversed()) {
    const [old_text, new_text] = shortest(lines, edit, before.endsWith("\n") || edit.end <= lines.length);
    const ends = edit.end > lines.length && !before.endsWith("\n") && wanted.endsWith("\n") ? "\n" : "";
    calls.push({ tool: "edit", input: { path, old_text, new_text: new_text + ends } });
    lines = lines.toSpliced(edit.start - 1, edit.end - edit.start, ...edit.lines);
  }
  return calls;
}

/** Returns the shortest unique old text that covers an edit, and the new text: a part of a line, or lines with their neighbours. */
function shortest(lines: readonly string[], edit: Edit, isEnded: boolean): [oldText: string, newText: string] {
  const all = lines.join("\n") + (isEnded ? "\n" : "");
  const isUnique = (text: string) => text !== "" && all.indexOf(text) === all.lastIndexOf(text) && all.includes(text);
  const [oldLine, newLine] = [lines[edit.start - 1], edit.lines[0]];
  if (edit.end - edit.start === 1 && edit.lines.length === 1 && oldLine !== undefined && newLine !== undefined) {
    for (const [from, to] of wordsAround(oldLine, newLine)) {
      const old = oldLine.slice(from, oldLine.length - to);
      if (isUnique(old)) return [old, newLine.slice(from, newLine.length - to)];
    }
  }
  for (let around = 0; ; around += 1) {
    for (let above = around; above >= 0; above -= 1) {
      const start = Math.max(1, edit.start - above);
      const end = Math.min(lines.length + 1, edit.end + around - above);
      const ends = edit.lines.length === 0 && end === edit.end && end <= lines.length ? "\n" : "";
      const head = lines.slice(start - 1, edit.start - 1);
      const tail = lines.slice(edit.end - 1, end - 1);
      const old = [...head, ...lines.slice(edit.start - 1, edit.end - 1), ...tail].join("\n") + ends;
      if (isUnique(old)) return [old, [...head, ...edit.lines, ...tail].join("\n") + (head.length > 0 ? ends : "")];
      if (start === 1 && end === lines.length + 1) throw new Error("The whole file occurs more than once in itself.");
    }
  }
}

/** Yields growing parts of two lines around their difference, by words: the lengths that are left out at both ends. */
function* wordsAround(one: string, other: string): Generator<[front: number, back: number]> {
  const most = Math.min(one.length, other.length);
  let front = 0;
  while (front < most && one[front] === other[front]) front += 1;
  let back = 0;
  while (back < most - front && one.at(-1 - back) === other.at(-1 - back)) back += 1;
  for (;;) {
    while (front > 0 && /\w/.test(one[front - 1] ?? "")) front -= 1;
    while (back > 0 && /\w/.test(one.at(-back) ?? "")) back -= 1;
    yield [front, back];
    if (front === 0 && back === 0) return;
    front = Math.max(0, front - 1);
    back = Math.max(0, back - 1);
  }
}

const wholeFile: Way = {
  name: "write",
  answer: ({ files }) => [{ text: "", calls: files.map(writeCall) }],
};

function writeCall({ path, wanted }: TaskFile): Step["calls"][number] {
  return { tool: "write", input: { path, content: `${seen(wanted).join("\n")}\n` } };
}

/** Merges edits that are one line apart: the line in between costs less than another block or call. */
function merged(edits: readonly Edit[], lines: readonly string[]): Edit[] {
  const all: Edit[] = [];
  for (const edit of edits) {
    const last = all.at(-1);
    if (last && edit.start - last.end <= 1) {
      const between = lines.slice(last.end - 1, edit.start - 1);
      all[all.length - 1] = { start: last.start, end: edit.end, lines: [...last.lines, ...between, ...edit.lines] };
    } else all.push(edit);
  }
  return all;
}

/** In the order of the table's columns. */
export const ways: readonly Way[] = [editMode, exactText, wholeFile];

/** Converts a step for the scripted model. */
export function sceneOf({ text: said, calls }: Step): Scene {
  return [...(said === "" ? [] : [text(said)]), ...calls.map(({ tool, input }) => call(tool, input))];
}
