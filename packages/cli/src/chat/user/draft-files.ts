import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Unsent text of the user. */
export interface MessageDraft {
  /** A conversation's id or, for a new conversation, a folder or a server's address. */
  readonly to: string;
  readonly text: string;
  /** The question that the text answers; absent for a message. */
  readonly asked?: DraftQuestion;
}

/**
 * A question of a call. The text identifies the question, because a resumed call asks the same question again under
 * another id.
 */
export interface DraftQuestion {
  readonly call: string;
  readonly what: string;
}

/** A draft of a process that has ended. */
export interface OrphanDraft extends MessageDraft {
  forget(): void;
}

/** Content of a file. Each file belongs to one process. */
interface Record extends MessageDraft {
  /** Id of the process that writes the draft; absent after it has closed. */
  readonly process?: number;
}

/**
 * A folder with one file per draft. A draft is written before the screen shows it. Because of this, it survives every
 * end of the process (T19). Files are not flushed, so a power failure can lose a draft. Another process takes over
 * drafts of an ended process.
 */
export class DraftFiles {
  readonly #folder: string;
  readonly #onFailed: (error: unknown) => void;
  readonly #files = new Map<string, DraftFile>();
  #hasFailed = false;

  /** `onFailed` is called once when a draft cannot be stored, until storing succeeds. Each change tries again. */
  constructor(folder: string, onFailed: (error: unknown) => void) {
    this.#folder = folder;
    this.#onFailed = onFailed;
  }

  open(): DraftFile {
    // The name is no secret: avoid Node's cryptography, which takes 5 ms to load before the first frame.
    const path = join(this.#folder, `${Date.now()}-${Math.random().toString(36).slice(2)}.json`);
    const file = new DraftFile((content) => this.#replace(path, content));
    this.#files.set(path, file);
    return file;
  }

  remove(file: DraftFile): void {
    file.set(undefined);
    file.write();
    for (const [path, own] of this.#files) if (own === file) this.#files.delete(path);
  }

  /** Wanted drafts of ended processes, oldest first. */
  left(isWanted: (draft: MessageDraft) => boolean): OrphanDraft[] {
    return listDraftFolder(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(this.#folder, name))
      .flatMap((path) => {
        const record = recordIn(path);
        if (!record || this.#isWritten(path, record) || !isWanted(record)) return [];
        return [{ ...record, forget: () => removeDraftFile(path) }];
      });
  }

  close(): void {
    for (const file of this.#files.values()) file.write(true);
  }

  /**
   * Returns whether a process still writes a file. Containers reuse process ids, so an unknown file with our id is old.
   */
  #isWritten(path: string, { process: id }: Record): boolean {
    return id === process.pid ? this.#files.has(path) : isProcessAlive(id);
  }

  /** Returns whether the file has the content. Empty content deletes the file. */
  #replace(path: string, content: string): boolean {
    try {
      if (content === "") removeDraftFile(path);
      else replaceDraftFile(this.#folder, path, content);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#onFailed(error);
      this.#hasFailed = true;
    }
    return !this.#hasFailed;
  }
}

export class DraftFile {
  readonly #replace: (content: string) => boolean;
  #draft: MessageDraft | undefined;
  #kept = "";
  #due: NodeJS.Immediate | undefined;

  constructor(replace: (content: string) => boolean) {
    this.#replace = replace;
  }

  set(draft: MessageDraft | undefined): void {
    this.#draft = draft;
    // One read may bring several keys: write once, before the timer of the next frame.
    this.#due ??= setImmediate(() => this.write());
  }

  /** Writes the draft at once. `isLeft` marks it as free for other processes. */
  write(isLeft = false): void {
    clearImmediate(this.#due);
    this.#due = undefined;
    const record: Record | undefined = this.#draft && { ...this.#draft, ...(isLeft ? {} : { process: process.pid }) };
    const content = record && record.text.trim() !== "" ? JSON.stringify(record) : "";
    if (content !== this.#kept && this.#replace(content)) this.#kept = content;
  }
}

function replaceDraftFile(folder: string, path: string, content: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(nextOf(path), content, { mode: 0o600 });
  renameSync(nextOf(path), path);
}

function removeDraftFile(path: string): void {
  for (const each of [path, nextOf(path)]) rmSync(each, { force: true });
}

function nextOf(path: string): string {
  return `${path}.next`;
}

function listDraftFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
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
    // The file was taken over meanwhile, or has a foreign format.
    return undefined;
  }
}

/** If the system reuses the id for another process, the draft waits until that process ends. */
function isProcessAlive(id: number | undefined): boolean {
  if (id === undefined) return false;
  try {
    return process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
