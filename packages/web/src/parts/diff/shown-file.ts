import { type DiffLine, readPatch } from "@banyan/client/words";
import type { ChangeDraft, FileChange } from "@banyan/core/conversation";
import { t } from "../phrases/phrases.ts";
import { addedLines } from "./patch.ts";

/** A file in a list of changes. */
export interface ShownFile {
  /** Unique in the list. */
  readonly key: string;
  readonly path: string;
  /** The kind of change, in a word. */
  readonly word: string;
  readonly added: number;
  readonly removed: number;
  /** The lines; the diff is parsed at the first call. */
  readonly lines: () => readonly DiffLine[];
}

/** A completed change; `key` is unique in its list. */
export function madeChange({ path, kind, added, removed, diff }: FileChange, key: string): ShownFile {
  let read: readonly DiffLine[] | undefined;
  const lines = () => {
    read ??= readPatch(diff);
    return read;
  };
  return { key, path, word: kind, added, removed, lines };
}

/** A change that the model is writing, with its lines so far. */
export function growingChange({ index, path, start, end, text }: ChangeDraft): ShownFile {
  const lines = addedLines(text, start);
  const removed = start === undefined || end === undefined ? 0 : end - start;
  const word = start === undefined ? t("being written") : t("being written at line {start}", { start });
  return { key: `draft ${index}`, path, word, added: lines.length, removed, lines: () => lines };
}
