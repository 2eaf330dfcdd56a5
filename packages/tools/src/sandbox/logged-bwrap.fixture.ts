import { chmodSync } from "node:fs";
import { delimiter } from "node:path";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { findProgram } from "./find-program.ts";

const DOUBLE = `#!/bin/sh
here=$(dirname "$0")
case " $* " in *" --info-fd "*) ;; *" -- "*) echo . >> "$here/starts" ;; esac
if [ -e "$here/refuses" ]; then echo "No permissions" >&2; exit 1; fi
if [ -e "$here/opens" ]; then while [ "$1" != -- ]; do shift; done; shift; exec "$@"; fi
exec REAL "$@"
`;

/** A bubblewrap that counts the commands that it starts. A file changes its behaviour, but not the program's identity. */
export class LoggedBwrap implements Disposable {
  readonly #folder = new TestFolder({
    bwrap: DOUBLE.replace("REAL", findProgram("bwrap", process.env.PATH ?? "", []) ?? "false"),
  });
  /** The variables of this process, with this bubblewrap first on `PATH`. */
  readonly env = { ...process.env, PATH: [this.#folder.root, process.env.PATH].join(delimiter) };
  readonly path = this.#folder.path("bwrap");

  constructor() {
    chmodSync(this.path, 0o755);
  }

  get starts(): number {
    return this.#folder.names().includes("starts") ? this.#folder.read("starts").split("\n").length - 1 : 0;
  }

  /** From now on every start fails (`refuses`), or runs the command without limits (`opens`). */
  turns(behaviour: "refuses" | "opens"): void {
    this.#folder.add(behaviour, "");
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
