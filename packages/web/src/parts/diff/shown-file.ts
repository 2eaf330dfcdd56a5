import { type DiffLine, readPatch } from "@banyan/client/words";
import type { ChangeDraft, FileChange } from "@banyan/core/conversation";
import { t } from "../phrases/phrases.ts";
import { addedLines } from "./patch.ts";

export interface ShownFile {
  readonly key: string;
  readonly path: string;
  readonly word: string;
  readonly added: number;
  readonly removed: number;
  /** The lines; the diff is parsed at the first call. */
  readonly lines: () => readonly DiffLine[];
}

/** Converts a completed change to a file for the list of changes. `key` is unique in the list. */
export function madeChange({ path, kind, added, removed, diff, formatter }: FileChange, key: string): ShownFile {
  let read: readonly DiffLine[] | undefined;
  const lines = () => {
    read ??= readPatch(diff);
    return read;
  };
  const word = formatter === undefined ? kind : t("formatted by {program}", { program: formatter });
  return { key, path, word, added, removed, lines };
}

/** Converts a change that the model is writing, with its lines so far, to a file for the list of changes. */
export function growingChange({ index, path, start, end, text }: ChangeDraft): ShownFile {
  const lines = addedLines(text, start);
  const removed = start === undefined || end === undefined ? 0 : end - start;
  const word = start === undefined ? t("being written") : t("being written at line {start}", { start });
  return { key: `draft ${index}`, path, word, added: lines.length, removed, lines: () => lines };
}
