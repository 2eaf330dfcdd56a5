import type { Tool } from "@banyan/core";
import { type OptionNames, pickOptions, refuseUnknown } from "@banyan/core/conversation";
import type { ProcessEnvironment } from "../sandbox/environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { editTool } from "./changes/edit.ts";
import { type FileWritingOptions, WRITING_OPTIONS } from "./changes/file-writing.ts";
import { settledTools } from "./changes/settle-intents.ts";
import { writeTool } from "./changes/write.ts";
import { BackgroundCommands } from "./commands/background.ts";
import { type CommandLimits, LimitedCommands } from "./commands/limited-commands.ts";
import { processesTool, processInputTool } from "./commands/process-tools.ts";
import { SHELL_OPTIONS, type ShellOptions, shellTool } from "./commands/shell.ts";
import { editModeTool } from "./edit-mode/edit-mode.ts";
import { listTool } from "./files/list.ts";
import type { Redaction } from "./files/output.ts";
import { openWorkspace, type ReadRefusal } from "./files/paths.ts";
import { READ_OPTIONS, type ReadOptions, readTool } from "./files/read.ts";
import { searchTool } from "./search/search.ts";
import { snapshotTools } from "./snapshots/snapshot-tools.ts";
import { WorkspaceSnapshots } from "./snapshots/snapshots.ts";

export { childEnvironment, holdsSecret, type ProcessEnvironment } from "../sandbox/environment.ts";
export { type BringOptions, bringOver, bringTool, type IncomingFile, type MergedText } from "./changes/bring.ts";
export { type ChangedFile, changedFiles, changedMode } from "./changes/changed-files.ts";
export { editTool } from "./changes/edit.ts";
export { type FileContent, fileChange, fileContent } from "./changes/file-change.ts";
export { entryAt, type FileEntry, isLink, locateEntry, modeText } from "./changes/file-entry.ts";
export type { FileWritingOptions } from "./changes/file-writing.ts";
export { type ForeignCall, ForeignChanges, type ReportedChange, reportedDiff } from "./changes/foreign-changes.ts";
export { type BackupBounds, pruneBackups } from "./changes/prune-backups.ts";
export { settleIntents } from "./changes/settle-intents.ts";
export { revertFile, undoChange } from "./changes/undo.ts";
export { writeTool } from "./changes/write.ts";
export { BackgroundCommands } from "./commands/background.ts";
export { commandShell } from "./commands/command.ts";
export type { CommandLimits, LostLimits } from "./commands/limited-commands.ts";
export type { AlwaysOpenPorts } from "./commands/published-ports.ts";
export { type RunOptions, runInWorkspace, type ShellOptions, shellTool } from "./commands/shell.ts";
export { runForUser, type UserCommand } from "./commands/user-command.ts";
export { editModeTool } from "./edit-mode/edit-mode.ts";
export { WorkspaceError, type WorkspaceErrorCode } from "./files/error.ts";
export { detectFileForm } from "./files/file-text.ts";
export { followLinks } from "./files/follow-links.ts";
export { JUDGED_BYTES, type KeyWatch, keyFileRefusal } from "./files/key-file.ts";
export { listTool } from "./files/list.ts";
export { listFiles } from "./files/list-files.ts";
export { type OpenRegularFile, openDirectory, openFileAt } from "./files/open-path.ts";
export type { Redaction } from "./files/output.ts";
export { type Location, locate, openWorkspace, type ReadRefusal, type Workspace } from "./files/paths.ts";
export { protectedPart } from "./files/protected-paths.ts";
export { type ReadOptions, readTool } from "./files/read.ts";
export { loggingSeenFiles } from "./files/seen-files.ts";
export { type SearchToolOptions, searchTool } from "./search/search.ts";
export type { LeftOut, SnapshotBounds } from "./snapshots/coverage.ts";
export type { RewindFile, RewindPlan, RewindResult, RewindScope } from "./snapshots/differences.ts";
export { pruneSnapshots, type SnapshotAge } from "./snapshots/prune-snapshots.ts";
export type { Moment, MomentPhase, Occasion, RestorationReport } from "./snapshots/snapshot-file.ts";
export { snapshotTools } from "./snapshots/snapshot-tools.ts";
export { type SnapshotOptions, WorkspaceSnapshots } from "./snapshots/snapshots.ts";

/**
 * The folder in which the tools work, and what they may access.
 * @example
 * workspaceTools({
 *   root: ".",
 *   home: "/home/me",
 *   env: { CI: "1" },
 *   protected: ["package-lock.json"],
 *   whyNotRead: (path) => (path.endsWith(".env") ? "it holds secrets" : undefined),
 *   sandbox: undefined, // or one of @banyan/tools/sandbox
 *   denied: async () => ["/home/me/project/.env"],
 *   redaction: () => redacting(),
 *   keyFiles: ["test/fixtures/*.pem"],
 *   snapshots: "/home/me/snapshots",
 *   onlyReads: (command) => command === "git status",
 *   limits: { isLimited: () => false, refusal: () => undefined, lost: () => {} },
 * });
 */
export interface WorkspaceToolsOptions extends FileWritingOptions {
  /** The folder in which the tools work. It must exist. */
  readonly root: string;
  /** The folder of `~` and `$HOME` in paths. Default: the user's home. */
  readonly home?: string;
  /** Variables for commands, in addition to the program's own variables without secrets; undefined removes a variable. */
  readonly env?: ProcessEnvironment;
  /** Paths that are never written, including everything below them; relative to the root or absolute. */
  readonly protected?: readonly string[];
  /** Forbids reading a file to all tools that show content. Shell commands are not affected. */
  readonly whyNotRead?: ReadRefusal;
  /** The sandbox for commands; absent: commands have all rights of the program. */
  readonly sandbox?: Sandbox;
  /** Returns the paths that rules deny reading. The question about a command outside a sandbox lists them. */
  readonly denied?: () => Promise<readonly string[]>;
  /** Removes secrets from the output of commands, before long output is cut. */
  readonly redaction?: () => Redaction;
  /** Patterns of files that may be read although they contain private keys (S22). */
  readonly keyFiles?: readonly string[];
  /**
   * The background commands, to share them among the tools of several folders. Default: not shared.
   * @example
   * const background = new BackgroundCommands();
   * const [here, there] = [".", "../other"].map((root) => workspaceTools({ root, background }));
   */
  readonly background?: BackgroundCommands;
  /** The folder of the content stores for snapshots of the workspace, outside of it. Absent: no snapshots are made. */
  readonly snapshots?: string;
  /** Returns whether a shell command surely changes no file. Absent: every command gets a snapshot. */
  readonly onlyReads?: (command: string) => boolean;
  /** Decides which commands may change only what snapshots keep (S37). Absent: no command has such limits. */
  readonly limits?: CommandLimits;
}

const OPTIONS: OptionNames<WorkspaceToolsOptions> = {
  ...WRITING_OPTIONS,
  root: "string!",
  home: "string",
  env: "object",
  protected: true,
  whyNotRead: true,
  sandbox: true,
  denied: "function",
  redaction: "function",
  keyFiles: true,
  background: true,
  snapshots: "string",
  onlyReads: "function",
  limits: true,
};

/**
 * Returns the tools `read`, `list`, `search`, `write`, `edit`, `edit_mode`, `shell`, `processes` and `process_input`.
 * Throws a `WorkspaceError` if the folder is missing.
 * @example const coder = new Agent({ model, tools: workspaceTools({ root: "." }) });
 */
export function workspaceTools(options: WorkspaceToolsOptions): readonly Tool[] {
  refuseUnknown("workspaceTools", options, OPTIONS);
  const workspace = openWorkspace(options.root, options.protected, options.whyNotRead, options.home);
  const { background = new BackgroundCommands(), limits } = options;
  const limited = limits && new LimitedCommands(limits);
  const writing = pickOptions<FileWritingOptions>(options, WRITING_OPTIONS);
  const inFolder = [
    readTool(workspace, pickOptions<ReadOptions>(options, READ_OPTIONS)),
    listTool(workspace),
    searchTool(workspace, options.watch ? { watch: options.watch } : {}),
    writeTool(workspace, writing),
    editTool(workspace, writing),
    editModeTool(workspace, writing),
    shellTool(workspace, pickOptions<ShellOptions>(options, SHELL_OPTIONS), background, limited),
  ];
  const tools = [
    ...inFolder.map((tool): Tool => ({ ...tool, folder: () => workspace.root })),
    processesTool(background),
    processInputTool(background),
  ];
  const { backups, snapshots: folder, onlyReads } = options;
  const kept =
    folder === undefined
      ? tools
      : snapshotTools(new WorkspaceSnapshots(workspace, { folder }), tools, onlyReads, limited);
  return backups === undefined ? kept : settledTools(workspace, backups, kept);
}
