import { orAborted } from "@banyan/core/hosts";
import type { FileAhead } from "../workspace/edit-mode/edit-session.ts";
import type { LanguageServer } from "./language-server.ts";
import { type CheckedFile, type FileProblem, newProblems } from "./problems.ts";

/** Milliseconds in which a server begins work on the project after a change, and for that work. */
const BEGIN_WORK = 200;
const LONGEST_WORK = 30_000;
/** The most requests about a file in one check: a server may ask for another request. */
const MOST_ROUNDS = 3;

/** A change of a file: its new text, or the reason why there is none. */
export interface CheckedChange {
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  /** The new text. Absent for a deleted file. */
  readonly text?: string;
}

/** A check that has begun. `found` reports its problems. */
export interface Check {
  readonly found: FileProblem[];
  /** Resolves with the first report, or as soon as no report can come. Never rejects. */
  readonly first: Promise<void>;
  /** Resolves when no more problems arrive. Never rejects. */
  readonly done: Promise<void>;
}

/**
 * Finds the new problems after changes, with one language server. Checks run one after the other, because each check
 * compares its problems with those of the check before. A problem that is known is not found again until it is gone.
 */
export class Checker {
  readonly server: LanguageServer;
  readonly #known = new Map<string, CheckedFile>();
  /** The last preview of each file. */
  readonly #previews = new Map<string, symbol>();
  #last: Promise<void> = Promise.resolve();
  /** Work that waits. The end of a check does not wait for late reports then, because the next check finds them. */
  #following = 0;
  /** True after the first answer: from then on, a first report about another file is new. */
  #hasAnswered = false;

  constructor(server: LanguageServer) {
    this.server = server;
  }

  /** Learns the problems of a file before a change, in the background. A failure only ends this work. */
  learn(path: string, text: string): void {
    this.#queue(async () => {
      if (this.#known.get(path)?.text === text) return;
      this.#known.delete(path);
      await this.server.show(path, text);
      await this.#ask(path);
      this.#known.set(path, this.server.checked(path));
      for (const other of this.server.paths)
        if (!this.#known.has(other)) this.#known.set(other, this.server.checked(other));
      this.#hasAnswered = true;
    }).catch(() => {});
  }

  /** Returns all problems of a text. They are known from then on. Rejects if the server is silent or ends. */
  inspect(path: string, text: string): Promise<readonly FileProblem[]> {
    return this.#answer(async () => {
      await this.server.show(path, text);
      await this.#ask(path);
      const checked = this.server.checked(path);
      this.#known.set(path, checked);
      this.#hasAnswered = true;
      return checked.problems;
    });
  }

  /** Asks the server about a place in a text. Rejects if the server refuses, is silent for `longest` ms, or ends. */
  ask(path: string, text: string, method: string, params: object, longest: number): Promise<unknown> {
    return this.#answer(async () => {
      await this.server.show(path, text);
      return this.server.request(path, method, params, longest);
    });
  }

  /**
   * Resolves with the problems that a text would add to a file; undefined if the text is unknown, or a later preview of
   * the file waits. The known problems stay the same. `endPreview` must follow.
   */
  preview({ path, isNew, text: read }: Pick<FileAhead, "path" | "isNew" | "text">) {
    const token = Symbol();
    this.#previews.set(path, token);
    return this.#answer(async (): Promise<readonly FileProblem[] | undefined> => {
      const known = this.#known.get(path) ?? (isNew ? { text: "", problems: [] } : undefined);
      const text = known && this.#previews.get(path) === token ? await read() : undefined;
      if (known === undefined || text === undefined) return undefined;
      await this.server.show(path, text);
      return (await this.server.check(path)) ? newProblems(known, this.server.checked(path)) : undefined;
    });
  }

  /** Ends previews of a file. If the text was not written, the server sees the file's known text again. */
  endPreview(path: string, isWritten: boolean): void {
    this.#previews.delete(path);
    if (isWritten) return;
    this.#queue(async () => {
      const text = this.#known.get(path)?.text;
      await (text === undefined ? this.server.hide(path) : this.server.show(path, text));
    }).catch(() => {});
  }

  /** Begins a check after changes of files. Only new problems are found. */
  check(changes: readonly CheckedChange[]): Check {
    const found: FileProblem[] = [];
    const first = Promise.withResolvers<void>();
    const done = this.#queue(async () => {
      for (const { path, kind } of changes) {
        if (kind === "created" && !this.#known.has(path)) this.#known.set(path, { text: "", problems: [] });
        if (kind === "deleted") this.#known.delete(path);
      }
      const written = changes.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }]));
      for (const { path, text } of written) await this.server.show(path, text);
      await this.server.saved(changes);
      const paths = written.map(({ path }) => path);
      for (let round = 0, asked = -1; round < MOST_ROUNDS && asked !== this.server.refreshes; round += 1) {
        asked = this.server.refreshes;
        const unanswered = await this.#askAll(paths);
        found.push(...this.#news(paths));
        first.resolve();
        await this.server.until(() => this.server.isWorking || this.#following > 0, BEGIN_WORK);
        if (this.server.isWorking || unanswered !== undefined) {
          await this.server.idle(LONGEST_WORK, unanswered, () => this.#following > 0);
          if (this.#following === 0) await this.#askAll(paths);
        }
        found.push(...this.#news(paths));
      }
    });
    return { found, first: Promise.race([first.promise, done]), done };
  }

  /** Asks about a file as soon as the server has loaded the project: before, its answer may be incomplete. */
  async #ask(path: string): Promise<void> {
    for (let round = 0, asked = -1; round < MOST_ROUNDS && asked !== this.server.refreshes; round += 1) {
      asked = this.server.refreshes;
      await this.server.check(path);
      if (this.server.isWorking) await this.server.idle(LONGEST_WORK);
    }
  }

  /**
   * Asks about changed files, then about the other open files, which may use the changed ones. Returns a changed file
   * about which the server has reported nothing yet.
   */
  async #askAll(paths: readonly string[]): Promise<string | undefined> {
    let unanswered: string | undefined;
    for (const path of paths) if (!(await this.server.check(path))) unanswered = path;
    for (const path of this.server.openPaths) if (!paths.includes(path)) await this.server.check(path);
    return unanswered;
  }

  #news(changed: readonly string[]): FileProblem[] {
    const found: FileProblem[] = [];
    for (const path of new Set([...changed, ...this.server.paths])) {
      const now = this.server.checked(path);
      const isOther = !changed.includes(path) && this.#hasAnswered;
      const before = this.#known.get(path) ?? (isOther ? { text: undefined, problems: [] } : undefined);
      if (before) found.push(...newProblems(before, now));
      this.#known.set(path, now);
    }
    this.#hasAnswered = true;
    return found;
  }

  #answer<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    this.#queue(() => work().then(answer.resolve, answer.reject)).catch(answer.reject);
    return answer.promise;
  }

  /** Runs work after all earlier work. A failure ends only this work: the server explains itself. */
  #queue(work: () => Promise<void>): Promise<void> {
    this.#following += 1;
    this.server.wake();
    const begun = () => {
      this.#following -= 1;
      return work();
    };
    const done = this.#last.then(begun).catch(() => {});
    this.#last = done;
    return done;
  }
}

/** Waits for an answer, also while the server starts or does earlier work. Rejects with the end of a sentence. */
export async function answerInTime<Answer>(
  answer: Promise<Answer>,
  { server }: Checker,
  longest: number,
  signal: AbortSignal,
): Promise<Answer> {
  const late = AbortSignal.timeout(longest);
  try {
    return await orAborted(answer, AbortSignal.any([signal, late]));
  } catch (error) {
    if (signal.aborted || !late.aborted) throw error;
    const isLoading = !server.isRunning || server.isWorking;
    throw new Error(
      isLoading ? "the server is still loading the project; try again later" : "the server took too long",
      { cause: error },
    );
  }
}
