import type { EnvironmentVariables } from "@banyan/models";
import type { HookEntries } from "../hooks/entries.ts";
import { type HookEvent, hookEvents } from "../hooks/hook-event.ts";
import { projectOf } from "../places/project.ts";
import { readClaudeSettings } from "./claude-settings.ts";
import { userSettingsFile } from "./configuration.ts";
import { readProjectLayer, readUserLayer } from "./layer.ts";

/** A file with hooks. */
export interface HookSource {
  readonly file: string;
  /** True if these hooks run: a project's hooks only run once the project is trusted. */
  readonly isUsed: boolean;
  readonly hooks: readonly ListedHook[];
}

/** A hook as it is written in a file. */
export interface ListedHook {
  readonly event: HookEvent;
  /** `*` for all. */
  readonly matcher: string;
  /** The command exactly as it is written in the file. */
  readonly command: string;
}

/** A user and a project whose hooks are listed. */
export interface HookOwners {
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly workspace: string;
  /** The project. Absent while the project is not trusted. */
  readonly project: object | undefined;
}

/** Lists all hooks of a user and of the project around a workspace, by file. */
export function listedHooks({ env, home, workspace, project }: HookOwners): HookSource[] {
  const own = userSettingsFile({ env, home });
  const { settings, claude } = projectOf(workspace);
  const isUsed = project !== undefined;
  const sources = [
    { file: own, isUsed: true, hooks: listHooks(readUserLayer(own).settings.hooks) },
    { file: settings, isUsed, hooks: listHooks(readProjectLayer(settings, own).settings.hooks) },
    ...claude.map((file) => ({ file, isUsed, hooks: listHooks(readClaudeSettings([file]).hooks) })),
  ];
  return sources.filter(({ hooks }) => hooks.length > 0);
}

/** Returns the commands of the project's hooks. A hook of the user's with the same command is among them. */
export function projectHookCommands(owners: HookOwners): ReadonlySet<string> {
  const theirs = listedHooks(owners).filter(({ file }) => file !== userSettingsFile(owners));
  return new Set(theirs.flatMap(({ hooks }) => hooks.map(({ command }) => command)));
}

/** Lists each hook of a setting. */
export function listHooks(entries: HookEntries = {}): ListedHook[] {
  return hookEvents.flatMap((event) =>
    (entries[event] ?? []).flatMap(({ matcher = "*", hooks }) =>
      hooks.map(({ command }) => ({ event, matcher: matcher === "" ? "*" : matcher, command })),
    ),
  );
}
