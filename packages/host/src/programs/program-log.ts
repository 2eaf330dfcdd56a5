import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ModelError } from "@banyan/core";
import { cutTo } from "@banyan/core/shown";
import type { Redact } from "../redaction/redactor.ts";

/** UTF-16 units of what a service said that are kept. */
const KEPT = 65_536;

/** Bytes of the file from which on a new one begins; the one before is kept beside it. */
const FULL = 4 * 1024 * 1024;

/**
 * The log of the program, `banyan.log` in its folder for state: what is too long for a person, one JSON object a line. For the
 * user alone, without secrets, and never larger than twice 4 MiB.
 */
export class ProgramLog {
  readonly #folder: string;
  readonly #redact: Redact;

  constructor(folder: string, redact: Redact) {
    this.#folder = folder;
    this.#redact = redact;
  }

  /** Where it is. */
  get file(): string {
    return join(this.#folder, "banyan.log");
  }

  /** Notes a model call that failed, with all that was said of it. */
  modelError({ code, status, message, detail, stack }: ModelError): void {
    this.#write({ code, status, message, detail: cutTo(detail ?? stack ?? "", KEPT, "") });
  }

  /** Notes something that nobody is to be disturbed with: what it is about, and one sentence. */
  note(code: string, message: string): void {
    this.#write({ code, message });
  }

  #write(said: object): void {
    const entry = { at: new Date().toISOString(), ...said };
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const size = statSync(this.file, { throwIfNoEntry: false })?.size ?? 0;
      if (size > FULL) renameSync(this.file, `${this.file}.1`);
      appendFileSync(this.file, `${this.#redact(JSON.stringify(entry))}\n`, { mode: 0o600 });
    } catch {
      // A log that cannot be written must not harm what goes on; a turn tells its error itself.
    }
  }
}
