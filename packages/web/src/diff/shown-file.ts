import type { Draft, FileChange } from "@banyan/core/conversation";
import { type DiffLine, readPatch } from "@banyan/core/shown";
import { t } from "../phrases/phrases.ts";
import { addedLines } from "./patch.ts";

/** A file in a list of changes. */
export interface ShownFile {
  /** Different for each in a list. */
  readonly key: string;
  readonly path: string;
  /** What happened to it, in a word. */
  readonly word: string;
  readonly added: number;
  readonly removed: number;
  /** Its lines; the diff is read when they are first asked for. */
  readonly lines: () => readonly DiffLine[];
}

/** A change that was made; `key` as in the list that it goes into. */
export function madeChange({ path, kind, added, removed, diff }: FileChange, key: string): ShownFile {
  let read: readonly DiffLine[] | undefined;
  const lines = () => {
    read ??= readPatch(diff);
    return read;
  };
  return { key, path, word: kind, added, removed, lines };
}

/** A change that the model is writing: its lines so far. */
export function growingChange({ index, path, start, end, text }: Draft): ShownFile {
  const lines = addedLines(text, start);
  const removed = start === undefined || end === undefined ? 0 : end - start;
  const word = start === undefined ? t("being written") : t("being written at line {start}", { start });
  return { key: `draft ${index}`, path, word, added: lines.length, removed, lines: () => lines };
}
