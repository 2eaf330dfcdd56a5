import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ModelError } from "@banyan/core";
import { cutTo } from "@banyan/core/shown";
import type { Redact } from "../redaction/redactor.ts";

const KEPT = 65_536;

/** Bytes at which a new file begins. One old file is kept. */
const FULL = 4 * 1024 * 1024;

/** The program's log `banyan.log`: lines of JSON without secrets, readable by the user only, in two files of 4 MiB. */
export class ProgramLog {
  readonly #folder: string;
  readonly #redact: Redact;

  constructor(folder: string, redact: Redact) {
    this.#folder = folder;
    this.#redact = redact;
  }

  get file(): string {
    return join(this.#folder, "banyan.log");
  }

  /** Logs a failed model call with its details. */
  modelError({ code, status, message, detail, stack }: ModelError): void {
    this.#write({ code, status, message, detail: cutTo(detail ?? stack ?? "", KEPT, "") });
  }

  /** Logs an event that need not interrupt a user: a code and one sentence. */
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
      // A failing log must not stop the program.
    }
  }
}
