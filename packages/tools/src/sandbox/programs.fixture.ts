import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { living } from "../workspace/commands/processes.fixture.ts";

const PROGRAM = fileURLToPath(new URL("program.fixture.ts", import.meta.url));

/** An ordinary user. */
export interface User {
  readonly uid: number;
  readonly home: string;
}

/** A separate process with a sandbox around a folder. */
export class SandboxProgram implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #answers = new Map<number, PromiseWithResolvers<string>>();
  #last = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#exited = once(process, "exit");
    process.on("message", ({ id, said }: { readonly id: number; readonly said: string }) => {
      this.#answer(id).resolve(said);
    });
    process.once("exit", () => {
      for (const { resolve } of this.#answers.values()) resolve("the program has ended");
    });
  }

  /** Starts the program as the user of the tests, or as another user, which requires root. */
  static async start(folder: string, user?: User): Promise<SandboxProgram> {
    const { program, why } = await SandboxProgram.tryToStart(folder, user);
    if (why === "") return program;
    await program[Symbol.asyncDispose]();
    throw new Error(why);
  }

  /** Also returns why the program has no sandbox. */
  static async tryToStart(folder: string, user?: User): Promise<{ program: SandboxProgram; why: string }> {
    const own = [process.execPath, PROGRAM];
    const as = user ? ["setpriv", `--reuid=${user.uid}`, `--regid=${user.uid}`, "--clear-groups", ...own] : own;
    const [file = "", ...args] = as;
    const env = { ...process.env, ...(user && { HOME: user.home, TMPDIR: user.home }) };
    const child = spawn(file, args, { cwd: folder, env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const program = new SandboxProgram(child);
    return { program, why: await program.#answer(0).promise };
  }

  /** Returns the output of a command, or why the command was refused. */
  run(command: string): Promise<string> {
    this.#last += 1;
    const answer = this.#answer(this.#last);
    if (this.#process.connected) this.#process.send({ id: this.#last, command });
    return answer.promise;
  }

  /** Sends SIGKILL to the program, to the process of its sandbox, or to both. */
  async kill(whom: "program" | "sandbox" | "both"): Promise<void> {
    const { pid } = this.#process;
    const ofSandbox = living("sandbox-process.ts").filter((id) => parentOf(id) === pid);
    if (whom !== "program") for (const id of ofSandbox) process.kill(Number(id), "SIGKILL");
    if (whom === "sandbox") return;
    this.#process.kill("SIGKILL");
    await this.#exited;
  }

  #answer(id: number): PromiseWithResolvers<string> {
    const answer = this.#answers.get(id) ?? Promise.withResolvers<string>();
    this.#answers.set(id, answer);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.#exited;
  }
}

function parentOf(id: string): number | undefined {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${id}/stat`, "latin1"))?.[1]);
  } catch {
    // The process has ended.
    return undefined;
  }
}
