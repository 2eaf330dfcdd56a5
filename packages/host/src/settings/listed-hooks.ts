import type { EnvironmentVariables } from "@banyan/models";
import type { HookEntries } from "../hooks/entries.ts";
import { type HookEvent, hookEvents } from "../hooks/hook-event.ts";
import { projectOf } from "../places/project.ts";
import { readClaudeSettings } from "./claude-settings.ts";
import { userSettingsFile } from "./configuration.ts";
import { readProjectLayer, readUserLayer } from "./layer.ts";

/** A file that names hooks. */
export interface HookSource {
  readonly file: string;
  /** True if its hooks run: a project's hooks only run once the project is trusted. */
  readonly isUsed: boolean;
  readonly hooks: readonly ListedHook[];
}

/** A hook as written in a file. */
export interface ListedHook {
  readonly event: HookEvent;
  /** `*` for all. */
  readonly matcher: string;
  /** The command, unchanged. The text is the file author's. */
  readonly command: string;
}

/** Whose hooks are listed: the user's, and those of the project around a workspace. */
export interface HookOwners {
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly workspace: string;
  /** Absent while the project is not trusted. */
  readonly project: object | undefined;
}

/** Lists all hooks of a user and the project around a workspace by file, without files that have none. */
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

/** The hooks of entries, one by one. */
export function listHooks(entries: HookEntries = {}): ListedHook[] {
  return hookEvents.flatMap((event) =>
    (entries[event] ?? []).flatMap(({ matcher = "*", hooks }) =>
      hooks.map(({ command }) => ({ event, matcher: matcher === "" ? "*" : matcher, command })),
    ),
  );
}
