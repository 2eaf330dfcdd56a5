import { isAbsolute, join, resolve } from "node:path";

/** Where the program keeps its files. They are made, for the user alone (mode 0700), by whoever writes first. */
export interface Directories {
  /** What the user set: `settings.json`. */
  readonly config: string;
  /** What must not be lost: conversations. */
  readonly data: string;
  /** What may be lost: histories, logs. */
  readonly state: string;
}

/**
 * The folders by the XDG base directory specification (https://specifications.freedesktop.org/basedir-spec/latest/),
 * which has relative values ignored. `BANYAN_HOME` puts all three below one folder.
 */
export function directories(env: Readonly<Record<string, string | undefined>>, home: string): Directories {
  const own = env.BANYAN_HOME ? resolve(env.BANYAN_HOME) : undefined;
  if (own !== undefined) return { config: join(own, "config"), data: join(own, "data"), state: join(own, "state") };
  return {
    config: join(absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config"), "banyan"),
    data: join(absolute(env.XDG_DATA_HOME) ?? join(home, ".local", "share"), "banyan"),
    state: join(absolute(env.XDG_STATE_HOME) ?? join(home, ".local", "state"), "banyan"),
  };
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
