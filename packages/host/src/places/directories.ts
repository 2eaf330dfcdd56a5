import { isAbsolute, join, resolve } from "node:path";

/** Where the program keeps its files. They are made, for the user alone (mode 0700), by whoever writes first. */
export interface Directories {
  /** What the user set: `settings.json`. */
  readonly config: string;
  /** What must not be lost: conversations. */
  readonly data: string;
  /** What may be lost: histories, logs. */
  readonly state: string;
  /** The worktrees of branches: beside the others, which stay closed to commands. */
  readonly worktrees: string;
  /** What can be made again, and where agents may work: compiled code, folders of evaluations. */
  readonly cache: string;
}

/**
 * The folders by the XDG base directory specification (https://specifications.freedesktop.org/basedir-spec/latest/),
 * which has relative values ignored. `BANYAN_HOME` puts all of them below one folder.
 */
export function directories(env: Readonly<Record<string, string | undefined>>, home: string): Directories {
  const own = env.BANYAN_HOME ? resolve(env.BANYAN_HOME) : undefined;
  const of = (name: string) => own && join(own, name);
  const data = absolute(env.XDG_DATA_HOME) ?? join(home, ".local", "share");
  return {
    config: of("config") ?? join(absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config"), "banyan"),
    data: of("data") ?? join(data, "banyan"),
    state: of("state") ?? join(absolute(env.XDG_STATE_HOME) ?? join(home, ".local", "state"), "banyan"),
    worktrees: of("worktrees") ?? join(data, "banyan-worktrees"),
    cache: of("cache") ?? join(absolute(env.XDG_CACHE_HOME) ?? join(home, ".cache"), "banyan"),
  };
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
