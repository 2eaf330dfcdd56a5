import { isJsonRecord } from "@banyan/core/shown";
import { pathOfUri } from "./problems.ts";

/** A place in a text: line and UTF-16 unit, both from 0. */
export interface ServerPosition {
  readonly line: number;
  readonly character: number;
}

/** A replacement that a server proposes. */
export interface TextEdit {
  readonly start: ServerPosition;
  readonly end: ServerPosition;
  readonly text: string;
}

/** Maximum files of one rename, and its edits in one file. */
const MOST_FILES = 500;
const MOST_EDITS = 10_000;

/**
 * Reads the unchecked edit of a server, as edits by paths of the workspace. Throws a sentence if the edit creates, moves
 * or deletes files, leads out of the workspace, or is malformed.
 */
export function readWorkspaceEdit(root: string, edit: unknown): Map<string, TextEdit[]> {
  if (!isJsonRecord(edit)) throw new Error("The language server returned no change.");
  const { documentChanges, changes } = edit;
  const parts: [unknown, unknown][] = Array.isArray(documentChanges)
    ? documentChanges.map((part): [unknown, unknown] => {
        if (!isJsonRecord(part) || !isJsonRecord(part.textDocument))
          throw new Error("The language server wants to create, move or delete files, which this tool does not do.");
        return [part.textDocument.uri, part.edits];
      })
    : Object.entries(isJsonRecord(changes) ? changes : {});
  const edits = new Map<string, TextEdit[]>();
  for (const [uri, list] of parts) {
    const path = pathOfUri(root, uri);
    if (path === undefined) throw new Error("The language server wants to change a file outside of the workspace.");
    edits.set(path, [...(edits.get(path) ?? []), ...readEdits(list)]);
  }
  if (edits.size > MOST_FILES) throw new Error(`The change concerns more than ${MOST_FILES} files.`);
  return edits;
}

function readEdits(list: unknown): TextEdit[] {
  if (!Array.isArray(list) || list.length > MOST_EDITS) throw malformed();
  return list.map((item) => {
    const range = isJsonRecord(item) ? readRange(item.range) : undefined;
    if (!isJsonRecord(item) || range === undefined || typeof item.newText !== "string") throw malformed();
    return { ...range, text: item.newText };
  });
}

/** Reads an unchecked range; undefined if malformed. */
export function readRange(
  range: unknown,
): { readonly start: ServerPosition; readonly end: ServerPosition } | undefined {
  if (!isJsonRecord(range)) return undefined;
  const [start, end] = [readPosition(range.start), readPosition(range.end)];
  return start && end && { start, end };
}

function readPosition(position: unknown): ServerPosition | undefined {
  if (!isJsonRecord(position)) return undefined;
  const { line, character } = position;
  return isIndex(line) && isIndex(character) ? { line, character } : undefined;
}

function isIndex(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Applies edits to a text. All positions refer to the original text. Throws a sentence if edits overlap or lie outside
 * of the text.
 */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const offset = ({ line, character }: ServerPosition): number => {
    const start = starts[line];
    const next = starts[line + 1] ?? text.length + 1;
    if (start === undefined || start + character > next - 1) throw malformed();
    return start + character;
  };
  const placed = edits
    .map((edit, order) => ({ from: offset(edit.start), to: offset(edit.end), text: edit.text, order }))
    .sort((one, other) => one.from - other.from || one.to - other.to || one.order - other.order);
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, text: piece } of placed) {
    if (from < done || to < from) throw malformed();
    pieces.push(text.slice(done, from), piece);
    done = to;
  }
  return pieces.join("") + text.slice(done);
}

function malformed(): Error {
  return new Error("The language server returned a malformed change, so nothing was changed.");
}
