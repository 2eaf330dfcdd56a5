import { isAbsolute, join, resolve } from "node:path";

/** The program's folders. The first writer creates a folder, for the user only (mode 0700). */
export interface Directories {
  /** The user's settings: `settings.json`. */
  readonly config: string;
  /** Data that must not be lost: conversations. */
  readonly data: string;
  /** Data that may be lost: histories, logs. */
  readonly state: string;
  /** Worktrees of branches. A folder of its own, because commands cannot access the other folders. */
  readonly worktrees: string;
  /** Data that can be made again and that agents can reach: compiled code, folders of evaluations. */
  readonly cache: string;
}

/** Returns the program's folders by the XDG base directory specification, or below `BANYAN_HOME`. */
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
