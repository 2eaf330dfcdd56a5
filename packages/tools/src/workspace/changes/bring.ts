import { dirname, isAbsolute, join } from "node:path";
import { defineTool, type Tool, type ToolContext } from "@banyan/core";
import type { FileChange, Preview } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { PreviewContext } from "@banyan/core/hosts";
import { visibleLine } from "@banyan/core/shown";
import { z } from "zod";
import { contentDigest, keepBackup } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import { pathArgument } from "../files/path-argument.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { assertAsSeen } from "../files/seen-files.ts";
import { fileChange, fileContent } from "./file-change.ts";
import {
  entryAt,
  type FileEntry,
  hasSameContent,
  isLink,
  locateEntry,
  modeChange,
  modeText,
  permissionsOf,
  putEntry,
  type StandingEntry,
} from "./file-entry.ts";
import { assertJudged, type FileWritingOptions, WRITING_OPTIONS } from "./file-writing.ts";
import { MOST_ASKED_BYTES } from "./unified-diff.ts";

/**
 * A file or link to bring over from another branch. It has the version of that branch and the version of the common
 * ancestor. See {@link bringTool}.
 */
export interface IncomingFile {
  /** The file in the other branch; undefined: none. */
  readonly there: FileEntry | undefined;
  /** The file in the common ancestor; undefined: none. */
  readonly base: FileEntry | undefined;
  readonly hasOwnMode: boolean;
}

/** A merged text and its number of conflicts. See {@link bringTool}. */
export interface MergedText {
  readonly text: string;
  readonly conflicts: number;
}

/** Options of the tool `bring_over`: where its files come from, and how texts are merged. See {@link bringTool}. */
export interface BringOptions extends FileWritingOptions {
  /** Returns a file of the named branch. Rejects with a sentence if the file is not available. */
  incoming(from: string, path: string, context: PreviewContext): Promise<IncomingFile>;
  /** Merges two texts with their common ancestor. Conflicting parts appear both, between conflict markers. */
  merge(
    texts: { readonly base: string; readonly here: string; readonly there: string },
    from: string,
  ): Promise<MergedText>;
}

const OPTIONS: OptionNames<BringOptions> = { ...WRITING_OPTIONS, incoming: true, merge: true };

const inputOf = (workspace: Workspace) =>
  z.object({
    from: z.string().describe("The branch from which the files come."),
    files: z.array(pathArgument(workspace)).min(1).describe("Files, relative to the workspace."),
  });

type FileMergeOutcome =
  | {
      readonly type: "write";
      readonly location: Location;
      readonly before: StandingEntry | undefined;
      readonly after: FileEntry | undefined;
      readonly conflicts: number;
    }
  | { readonly type: "same" }
  | { readonly type: "unchanged"; readonly why: string }
  | { readonly type: "left"; readonly why: string };

/**
 * Returns the tool `bring_over {from, files}`, which copies file changes of another branch to this one. If only the
 * other branch changed a file, the file is copied. If both branches changed it, the file is merged, with conflict
 * markers like git's.
 * @example
 * const entry = (text: string) => ({ content: Buffer.from(text), mode: "100644" });
 * const tool = bringTool(workspace, {
 *   incoming: async () => ({ there: entry("elm\n"), base: entry("oak\n"), hasOwnMode: false }),
 *   merge: async ({ there }) => ({ text: there, conflicts: 0 }),
 * });
 */
export function bringTool(workspace: Workspace, options: BringOptions): Tool {
  refuseUnknown("bringTool", options, OPTIONS);
  return defineTool({
    name: "bring_over",
    description: "Merges the file changes of another branch into this branch, and marks conflicts in the files.",
    input: inputOf(workspace),
    effects: "external",
    files: "write",
    folder: () => workspace.root,
    about: ({ from, files }) => ({
      title: `${files.length === 1 ? files[0] : `${files.length} files`} from ${from}`,
      paths: files.map((path) => ({ path, access: "write" })),
    }),
    async preview({ from, files }, context): Promise<Preview> {
      const changes: FileChange[] = [];
      const notes: string[] = [];
      for (const path of files) {
        const outcome = await mergeFile(workspace, options, { from, path, context });
        if (outcome.type === "left") notes.push(`${path} is not brought over: ${outcome.why}`);
        if (outcome.type !== "write") continue;
        changes.push(broughtChange(outcome, MOST_ASKED_BYTES));
        notes.push(...modeNotes(outcome));
        if (outcome.conflicts > 0) notes.push(conflictIn(path, outcome.conflicts, from));
      }
      return { changes, notes };
    },
    execute: async (wanted, context) => (await bringOver(workspace, options, wanted, context)).report,
  });
}

/**
 * Runs `bring_over`. Returns a line for each file, and whether all files arrived without conflicts. Throws if the call
 * is cancelled.
 * @example
 * const there = { content: Buffer.from("elm\n"), mode: "100644" };
 * const options = {
 *   incoming: async () => ({ there, base: undefined, hasOwnMode: false }),
 *   merge: async ({ there }: { there: string }) => ({ text: there, conflicts: 0 }),
 * };
 * const { report, isWhole } = await bringOver(workspace, options, { from: "b", files: ["a.txt"] }, toolContext);
 */
export async function bringOver(
  workspace: Workspace,
  options: BringOptions,
  { from, files }: { readonly from: string; readonly files: readonly string[] },
  context: ToolContext,
): Promise<{ readonly report: string; readonly isWhole: boolean }> {
  refuseUnknown("bringOver", options, OPTIONS);
  const problems: string[] = [];
  let isWhole = true;
  const left = (path: string, why: string) => {
    isWhole = false;
    return `${path} was not brought over: ${why}`;
  };
  const bring = async (path: string): Promise<string> => {
    const outcome = await mergeFile(workspace, options, { from, path, context });
    if (outcome.type === "same") return `${path} is the same on both branches.`;
    if (outcome.type === "left") return left(path, outcome.why);
    if (outcome.type === "unchanged") return `${path} ${outcome.why}`;
    const change = broughtChange(outcome);
    assertAgreed(change, context);
    const writing = { given: path, location: outcome.location, input: { from, files: [change.path] } };
    await assertJudged(workspace, writing, context);
    await put(workspace, options, outcome);
    await context.changed(change);
    for (const entry of [outcome.before, outcome.after]) options.watch?.()(entry?.content.toString("latin1") ?? "");
    if (outcome.conflicts > 0) isWhole = false;
    const more = [
      ...modeNotes(outcome),
      ...(outcome.conflicts === 0 ? [] : [conflictIn(change.path, outcome.conflicts, from)]),
    ].join(" ");
    if (change.before === change.after) return more;
    return `${change.kind} ${change.path} (+${change.added} -${change.removed})${more === "" ? "" : `. ${more}`}`;
  };
  for (const path of files) {
    context.signal.throwIfAborted();
    try {
      problems.push(await bring(path));
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      problems.push(left(path, error.message));
    }
  }
  return { report: problems.join("\n"), isWhole };
}

async function put(
  workspace: Workspace,
  { backups }: BringOptions,
  { location, before, after }: Extract<FileMergeOutcome, { type: "write" }>,
): Promise<void> {
  const standing = await entryAt(workspace, location);
  if (!hasSameContent(standing, before))
    throw new WorkspaceError("changed", `${location.path} was changed by another program meanwhile.`);
  if (standing) await keepBackup(backups, [standing.content]);
  await putEntry(workspace, location, after, standing);
}

function modeNotes({
  location: { path },
  before,
  after,
}: Extract<FileMergeOutcome, { type: "write" }>): readonly string[] {
  if (!after) return [];
  if (isLink(after)) return [`${path} is a link to ${visibleLine(after.content.toString())}.`];
  const [had, has] = [before && !isLink(before) ? permissionsOf(before.mode) : undefined, permissionsOf(after.mode)];
  const wasLink = isLink(before) ? [`${path} is not a link any more.`] : [];
  if (had === has || (had === undefined && !(has & 0o111) && has & 0o044)) return wasLink;
  if (has & 0o111 && !((had ?? 0) & 0o111)) return [...wasLink, `${path} is executable now.`];
  if ((had ?? 0) & 0o111 && !(has & 0o111)) return [...wasLink, `${path} is not executable any more.`];
  return [...wasLink, `${path} has the mode ${has.toString(8).padStart(3, "0")} now.`];
}

async function mergeFile(
  workspace: Workspace,
  { incoming, merge }: BringOptions,
  { from, path, context }: { readonly from: string; readonly path: string; readonly context: PreviewContext },
): Promise<FileMergeOutcome> {
  try {
    const location = await locateEntry(workspace, path);
    assertWritable(workspace, location);
    const here = await entryAt(workspace, location);
    const { there, base, hasOwnMode } = await incoming(from, path, context);
    const hasOtherMode = hasOwnMode && there !== undefined && !isLink(there);
    const mode = hasOtherMode ? there.mode : (!isLink(here) && here?.mode) || modeText({ mode: workspace.newFileMode });
    const place = { type: "write", location, before: here, conflicts: 0 } as const;
    if (hasSameContent(here, there) || hasSameContent(base, there)) {
      const isSame = hasSameContent(here, there) && here?.mode === there?.mode;
      if (isSame) return { type: "same" };
      if (!hasOtherMode || here?.mode === mode) {
        const why = hasSameContent(here, there)
          ? "has the same content here and keeps its mode."
          : `was not changed in ${from}.`;
        return { type: "unchanged", why };
      }
      if (here && !isLink(here)) return { ...place, after: { content: here.content, mode } };
      const fate = here ? "became a link" : "was removed";
      return { type: "left", why: `it ${fate} here, and its mode was changed in ${from}.` };
    }
    if (hasSameContent(here, base)) {
      // Replacing the file must not destroy content that this branch has not seen (F78). A merge keeps such content.
      assertAsSeen(workspace, location.path, here ? contentDigest(here.content) : null, context);
      const why = there && isLink(there) ? await whyNoLink(workspace, location, there) : undefined;
      if (why !== undefined) return { type: "left", why };
      return { ...place, after: there && (isLink(there) ? there : { content: there.content, mode }) };
    }
    if (!here || !there) {
      const [gone, kept] = here ? [from, "here"] : ["here", from];
      return { type: "left", why: `it was removed ${folderPhrase(gone)}, and changed ${folderPhrase(kept)}.` };
    }
    const both = `it was changed here and in ${from}`;
    if ([here, there, base].some(isLink))
      return { type: "left", why: `${both}, and is a link on one of the branches. Resolve this by hand.` };
    const [hereText, thereText] = [fileContent(here.content).text, fileContent(there.content).text];
    const baseText = base ? fileContent(base.content).text : "";
    if (hereText === undefined || thereText === undefined || baseText === undefined)
      return { type: "left", why: `${both}, and is not text, so it cannot be merged.` };
    const { text, conflicts } = await merge({ base: baseText, here: hereText, there: thereText }, from);
    return { ...place, after: { content: Buffer.from(text), mode }, conflicts };
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return { type: "left", why: error.message };
  }
}

/** Returns why a link must not be created: no tool follows a link out of the workspace. */
async function whyNoLink(
  workspace: Workspace,
  { path }: Location,
  { content }: FileEntry,
): Promise<string | undefined> {
  const target = content.toString();
  try {
    await locate(workspace, isAbsolute(target) ? target : join(dirname(path), target));
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return `it is a link to ${visibleLine(target)}, which is outside of the workspace. Make it by hand with ln -s.`;
  }
}

function folderPhrase(name: string): string {
  return name === "here" ? name : `in ${name}`;
}

function broughtChange(
  { location, before, after }: Extract<FileMergeOutcome, { type: "write" }>,
  most?: number,
): FileChange {
  const [was, is] = [before && fileContent(before.content), after && fileContent(after.content)];
  return fileChange(location.path, was, is, { most, ...modeChange(before, after) });
}

/** Throws if the change differs from the approved change: an approval covers only one content. */
function assertAgreed({ path, before, after, mode }: FileChange, { agreed }: Pick<ToolContext, "agreed">): void {
  const seen = agreed?.changes?.find((change) => change.path === path);
  if (!agreed?.changes || (seen && seen.before === before && seen.after === after && seen.mode?.after === mode?.after))
    return;
  throw new WorkspaceError("changed", `${path} has changed since the user allowed this call. Call bring_over again.`);
}

function conflictIn(path: string, conflicts: number, from: string): string {
  const places = conflicts === 1 ? "1 conflict" : `${conflicts} conflicts`;
  return `${places} in ${path}, which was changed here and in ${from}: the file has both versions between <<<<<<< and >>>>>>>. For each conflict, keep one version and remove the marks.`;
}
