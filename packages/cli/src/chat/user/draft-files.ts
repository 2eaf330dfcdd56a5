import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Something that is written and is in no conversation yet. */
export interface Draft {
  /** Whom it is for: the id of a conversation, or a place where the next one begins: a directory, the address of a server. */
  readonly to: string;
  readonly text: string;
  /** What it is an answer to; absent for a message. */
  readonly asked?: Asked;
}

/** What a person is asked: by which call, and what, in words. A call that is resumed asks the same again. */
export interface Asked {
  readonly call: string;
  readonly what: string;
}

/** What a process that is gone had left. */
export interface LeftDraft extends Draft {
  /** Removes it from where it was left. */
  forget(): void;
}

/** What is in a file: of one process. */
interface Record extends Draft {
  /** Who is writing it; absent when they have left. */
  readonly process?: number;
}

/**
 * A folder of drafts, each in a file of its own. It is in its file before it is on the screen, so that no end of the
 * process loses it (T19): not flushed, so a power cut may. What one process has left behind, another one takes over.
 */
export class DraftFiles {
  readonly #folder: string;
  readonly #onFailed: (error: unknown) => void;
  readonly #files = new Map<string, DraftFile>();
  #hasFailed = false;

  /** `onFailed` is told once when something cannot be kept; each change tries again. */
  constructor(folder: string, onFailed: (error: unknown) => void) {
    this.#folder = folder;
    this.#onFailed = onFailed;
  }

  /** A file for something that is going to be written. */
  open(): DraftFile {
    // The name is no secret: Node's cryptography, which takes 5 ms to load, would be loaded before the first picture.
    const path = join(this.#folder, `${Date.now()}-${Math.random().toString(36).slice(2)}.json`);
    const file = new DraftFile((content) => this.#replace(path, content));
    this.#files.set(path, file);
    return file;
  }

  /** Nothing more is written to a file, and it goes. */
  remove(file: DraftFile): void {
    file.set(undefined);
    file.write();
    for (const [path, own] of this.#files) if (own === file) this.#files.delete(path);
  }

  /** What processes that are gone had left and is wanted, the oldest first. */
  left(isWanted: (draft: Draft) => boolean): LeftDraft[] {
    return namesIn(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(this.#folder, name))
      .flatMap((path) => {
        const record = recordIn(path);
        if (!record || this.#isWritten(path, record) || !isWanted(record)) return [];
        return [{ ...record, forget: () => remove(path) }];
      });
  }

  /** Whoever comes next may take over what is left. */
  close(): void {
    for (const file of this.#files.values()) file.write(true);
  }

  /** Whether somebody is still writing a file. One that had our id before us is gone: in a container ids come again. */
  #isWritten(path: string, { process: id }: Record): boolean {
    return id === process.pid ? this.#files.has(path) : isAlive(id);
  }

  /** Returns whether a file says this now; nothing is in no file. */
  #replace(path: string, content: string): boolean {
    try {
      if (content === "") remove(path);
      else replaceFile(this.#folder, path, content);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#onFailed(error);
      this.#hasFailed = true;
    }
    return !this.#hasFailed;
  }
}

/** The file of one draft. */
export class DraftFile {
  readonly #replace: (content: string) => boolean;
  #draft: Draft | undefined;
  /** What the file says. */
  #kept = "";
  #due: NodeJS.Immediate | undefined;

  constructor(replace: (content: string) => boolean) {
    this.#replace = replace;
  }

  /** This is what stands there now, or nothing is. */
  set(draft: Draft | undefined): void {
    this.#draft = draft;
    // All keys of one read are one change. It is written before the timer of the next frame runs.
    this.#due ??= setImmediate(() => this.write());
  }

  /** Writes it at once; `isLeft`: nobody writes it any more. */
  write(isLeft = false): void {
    clearImmediate(this.#due);
    this.#due = undefined;
    const record: Record | undefined = this.#draft && { ...this.#draft, ...(isLeft ? {} : { process: process.pid }) };
    const content = record && record.text.trim() !== "" ? JSON.stringify(record) : "";
    if (content !== this.#kept && this.#replace(content)) this.#kept = content;
  }
}

/** At any moment one of the two is there as a whole. */
function replaceFile(folder: string, path: string, content: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(nextOf(path), content, { mode: 0o600 });
  renameSync(nextOf(path), path);
}

function remove(path: string): void {
  for (const each of [path, nextOf(path)]) rmSync(each, { force: true });
}

function nextOf(path: string): string {
  return `${path}.next`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing was ever written, or nobody may look.
    return [];
  }
}

function recordIn(path: string): Record | undefined {
  try {
    const { to, text, asked, process } = JSON.parse(readFileSync(path, "utf8"));
    if (typeof to !== "string" || typeof text !== "string") return undefined;
    const isAnswer = typeof asked?.call === "string" && typeof asked.what === "string";
    return {
      to,
      text,
      ...(isAnswer && { asked: { call: asked.call, what: asked.what } }),
      ...(Number.isSafeInteger(process) && { process }),
    };
  } catch {
    // It was taken over meanwhile, or is not ours.
    return undefined;
  }
}

/** Of an id that was given again to another process, the text waits until that one ends, too. */
function isAlive(id: number | undefined): boolean {
  if (id === undefined) return false;
  try {
    return process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
