import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What is in a file: of one process, for one conversation. */
interface Record {
  /** Whom it is for: the id of a conversation, or a place where the next one begins: a directory, the address of a server. */
  readonly to: string;
  readonly text: string;
  /** Who is writing it; absent when they have left. */
  readonly process?: number;
}

/**
 * What a person has written and is in no conversation yet: what stands in the prompt, and what is on its way. It is in a
 * file before it is on the screen, so that no end of the process loses it (T19): not flushed, so a power cut may. Each
 * process writes a file of its own; what one has left behind, the next one that writes to the same takes over.
 *
 * ```
 * typed ──▶ draft ──Enter──▶ on its way ──▶ in the log: forgotten here
 *             ▲                  ╰─────────▶ it failed: back in the prompt
 * ```
 */
export class Unsent {
  readonly #folder: string;
  readonly #file: string;
  readonly #onFailed: (error: unknown) => void;
  #to: string;
  #draft = "";
  /** What is on its way. */
  readonly #sent = new Set<{ readonly text: string }>();
  /** What the file says. */
  #kept = "";
  #due: NodeJS.Immediate | undefined;
  #hasFailed = false;

  /** `onFailed` is told once when something cannot be kept; each change tries again. */
  constructor(folder: string, to: string, onFailed: (error: unknown) => void) {
    this.#folder = folder;
    this.#file = join(folder, `${Date.now()}-${randomUUID()}.json`);
    this.#to = to;
    this.#onFailed = onFailed;
  }

  /** What stands in the prompt is this now. */
  draft(text: string): void {
    this.#draft = text;
    this.#changed();
  }

  /** A text is on its way into the conversation, until what this answers is disposed of. */
  sending(text: string): Disposable {
    const sent = { text };
    this.#sent.add(sent);
    this.#changed();
    return {
      [Symbol.dispose]: () => {
        if (this.#sent.delete(sent)) this.#changed();
      },
    };
  }

  /** From now on it is for somebody else. */
  moveTo(to: string): void {
    this.#to = to;
    this.#changed();
  }

  /** Takes over what processes that are gone had left for whom it is for; answers that. */
  takeOver(): string {
    const left = this.#leftFor(this.#to);
    const text = left.map((record) => record.text).join("\n");
    if (text === "") return text;
    this.#draft = this.#draft === "" ? text : `${text}\n${this.#draft}`;
    this.#write();
    // It is in this process's file by now: a crash in between leaves it there twice, and not nowhere.
    for (const { file } of left) for (const each of [file, nextOf(file)]) rmSync(each, { force: true });
    return text;
  }

  /** Whoever comes next may take over what is left. */
  close(): void {
    this.#write(true);
  }

  #changed(): void {
    // All keys of one read are one change. It is written before the timer of the next frame runs.
    this.#due ??= setImmediate(() => this.#write());
  }

  #write(isLeft = false): void {
    clearImmediate(this.#due);
    this.#due = undefined;
    const text = [...[...this.#sent].map((sent) => sent.text), this.#draft]
      .filter((part) => part.trim() !== "")
      .join("\n");
    const record: Record = { to: this.#to, text, ...(isLeft ? {} : { process: process.pid }) };
    const content = text === "" ? "" : JSON.stringify(record);
    if (content === this.#kept) return;
    try {
      if (content === "") rmSync(this.#file, { force: true });
      else replaceFile(this.#folder, this.#file, content);
      this.#kept = content;
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#onFailed(error);
      this.#hasFailed = true;
    }
  }

  #leftFor(to: string): { readonly file: string; readonly text: string }[] {
    return namesIn(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(this.#folder, name))
      .filter((file) => file !== this.#file)
      .flatMap((file) => {
        const record = recordIn(file);
        return record?.to === to && !isAlive(record.process) ? [{ file, text: record.text }] : [];
      });
  }
}

/** At any moment one of the two is there as a whole. */
function replaceFile(folder: string, file: string, content: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(nextOf(file), content, { mode: 0o600 });
  renameSync(nextOf(file), file);
}

function nextOf(file: string): string {
  return `${file}.next`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing was ever written, or nobody may look.
    return [];
  }
}

function recordIn(file: string): Record | undefined {
  try {
    const { to, text, process } = JSON.parse(readFileSync(file, "utf8"));
    if (typeof to !== "string" || typeof text !== "string") return undefined;
    return { to, text, ...(Number.isSafeInteger(process) && { process }) };
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
