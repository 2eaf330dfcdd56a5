import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Variables that lead npm, cargo and Go to download caches in the sandbox's temporary folder. The caches of the home
 * folder are read-only for commands, because programs outside the sandbox could run their content. Create this object
 * before any command runs.
 */
export class DownloadCaches {
  readonly #folder: string;

  constructor(temporary: string) {
    this.#folder = join(temporary, "downloads");
    mkdirSync(join(this.#folder, "cargo"), { recursive: true, mode: 0o700 });
    const settings = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "config.toml");
    symlinkSync(settings, join(this.#folder, "cargo", "config.toml"));
  }

  variables({ GOFLAGS }: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return {
      npm_config_cache: join(this.#folder, "npm"),
      CARGO_HOME: join(this.#folder, "cargo"),
      GOMODCACHE: join(this.#folder, "go"),
      // Without this option, Go makes read-only folders, which the sandbox could not remove.
      GOFLAGS: [...(GOFLAGS ? [GOFLAGS] : []), "-modcacherw"].join(" "),
    };
  }
}
