import { SymbolError } from "../../symbols/language.ts";
import { contentDigest } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { KeyWatch } from "../files/key-file.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { countLines, encodeText, NEW_FILE, readText, type TextContent } from "../files/text-content.ts";
import type { ArmedFile } from "./armed-file.ts";
import type { FileBlock } from "./capture.ts";
import { applyLineEdits, type LineEdit } from "./line-edits.ts";

/** The new content of a file, and the content from which it was made. */
export interface NewContent {
  readonly file: ArmedFile;
  readonly location: Location;
  readonly before: TextContent | undefined;
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Computes the content of a file after all its code blocks, without writing. Throws an error with the reasons, for the
 * model, if a block does not fit or the file changed since `edit_mode` opened it.
 */
export async function applyBlocks(
  workspace: Workspace,
  file: ArmedFile,
  blocks: readonly FileBlock<ArmedFile>[],
  watch?: KeyWatch,
): Promise<NewContent> {
  const location = await locate(workspace, file.path);
  if (location.path !== file.path) throw conflict(file, "leads elsewhere now");
  if (location.kind === "missing" && file.snapshot) throw conflict(file, "does not exist any more");
  if (file.snapshot === undefined) {
    if (location.kind !== "missing") throw conflict(file, "was created after the call of edit_mode");
    const text = editedText(file, "", blocks);
    return { file, location, before: undefined, bytes: encodeText(file.path, text, NEW_FILE), text };
  }
  const before = await readText(workspace, file.path, watch);
  if (contentDigest(before.bytes) !== file.snapshot.digest)
    throw conflict(file, "was changed after the call of edit_mode");
  const text = editedText(file, before.text, blocks);
  return { file, location, before, bytes: encodeText(file.path, text, before), text };
}

function conflict({ path }: ArmedFile, what: string): WorkspaceError {
  return new WorkspaceError("changed", `${path} ${what}; read it again first`);
}

function editedText(file: ArmedFile, text: string, blocks: readonly FileBlock<ArmedFile>[]): string {
  const lines = countLines(text);
  const problems: string[] = [];
  const edits: LineEdit[] = [];
  for (const block of blocks) {
    const edit = lineEditOf(file, block, lines);
    if (typeof edit === "string") problems.push(edit);
    else edits.push(edit);
  }
  if (file.mode === "complete")
    problems.push(...blocks.slice(1).map(({ name }) => `${name} writes the whole file a second time`));
  const result = applyLineEdits(text, edits);
  if (!result.ok && file.mode !== "complete") problems.push(...result.problems);
  if (problems.length > 0 || !result.ok) throw new WorkspaceError("range", problems.join("; "));
  return result.text;
}

function lineEditOf(file: ArmedFile, { name, target, text }: FileBlock<ArmedFile>, lines: number): LineEdit | string {
  switch (target.type) {
    case "lines": {
      const { start, end } = target;
      return start === end && text === "" ? `${name} inserts nothing` : { name, start, end, text };
    }
    case "complete":
      return { name, start: 1, end: lines + 1, text };
    case "symbol": {
      const range = symbolLines(file, target);
      if (typeof range === "string") return `${name}: ${range}`;
      if (target.act === "remove" && text !== "") return `${name} removes a symbol, so it must have no lines`;
      if (range.start === range.end && text === "") return `${name} inserts nothing`;
      return { name, ...range, text };
    }
  }
}

/** Returns the lines that a symbol's block replaces, or the reason for a failure. Equal numbers mean an insertion. */
export function symbolLines(
  { symbols }: ArmedFile,
  { symbol, act }: Extract<FileBlock<ArmedFile>["target"], { type: "symbol" }>,
): { readonly start: number; readonly end: number } | string {
  try {
    if (!symbols) return "edit_mode was not called with mode symbol";
    const { start, end } = symbols.find(symbol);
    return { start: act === "after" ? end : start, end: act === "before" ? start : end };
  } catch (error) {
    if (error instanceof SymbolError) return error.message.replace(/\.$/, "");
    throw error;
  }
}
