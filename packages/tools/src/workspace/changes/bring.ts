import { defineTool, type Tool, type ToolContext } from "@banyan/core";
import type { FileChange, Preview } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { PreviewContext } from "@banyan/core/hosts";
import { z } from "zod";
import { digestOf, keepContent } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import { openFile } from "../files/open-path.ts";
import { pathArgument } from "../files/path-argument.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { assertAsSeen } from "../files/seen-files.ts";
import { contentOf, fileChange } from "./file-change.ts";
import { removeFile, replaceFile } from "./replace-file.ts";
import { MOST_ASKED_BYTES } from "./unified-diff.ts";
import { assertJudged, WRITING_OPTIONS, type WritingOptions } from "./writing.ts";

/** A file that is brought from elsewhere; `undefined` stands for no file. */
export interface IncomingFile {
  readonly content: Buffer | undefined;
  /** What both places had of it. */
  readonly base: Buffer | undefined;
  /** It may be run as a program. */
  readonly runs: boolean;
  /** The same of what both places had. */
  readonly baseRuns: boolean;
}

/** A text made of two, and at how many places they contradict each other. */
export interface MergedText {
  readonly text: string;
  readonly conflicts: number;
}

/** Where files are brought from, and how what was changed at both places is put together. */
export interface BringOptions extends WritingOptions {
  /** A file of the branch that is named. Rejects with a sentence when it cannot be had. */
  incoming(from: string, path: string, context: PreviewContext): Promise<IncomingFile>;
  /** Puts two texts together that were made of one; where they contradict each other, both stand between marks. */
  merge(
    texts: { readonly base: string; readonly here: string; readonly there: string },
    from: string,
  ): Promise<MergedText>;
}

const OPTIONS: OptionNames<BringOptions> = { ...WRITING_OPTIONS, incoming: true, merge: true };

const inputOf = (workspace: Workspace) =>
  z.object({
    from: z.string().describe("The branch whose files they are."),
    files: z.array(pathArgument(workspace)).min(1).describe("Files, relative to the workspace."),
  });

/** What becomes of one file. */
type Outcome =
  | {
      readonly type: "write";
      readonly location: Location;
      readonly before: Buffer | undefined;
      /** `undefined`: it goes. */
      readonly after: Buffer | undefined;
      readonly conflicts: number;
      /** True if it can be run as a program then; `undefined`: as before. */
      readonly runs: boolean | undefined;
    }
  /** Only its mode becomes another one. */
  | { readonly type: "mode"; readonly location: Location; readonly runs: boolean }
  | { readonly type: "same" }
  | { readonly type: "left"; readonly why: string };

/**
 * `bring_over {from, files}`: takes what another branch did to files over to this one: what was changed there only, as it is
 * there, and what was changed at both places, put together. What contradicts itself is marked in the file, as git does it.
 */
export function bringTool(workspace: Workspace, options: BringOptions): Tool {
  refuseUnknown("bringTool", options, OPTIONS);
  return defineTool({
    name: "bring_over",
    description:
      "Takes the changes that another branch made to files over to this one, and marks what contradicts itself.",
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
        const outcome = await outcomeOf(workspace, options, { from, path, context });
        if (outcome.type === "left") notes.push(`${path} is not brought over: ${outcome.why}`);
        if ("runs" in outcome && outcome.runs !== undefined) notes.push(modeOf(path, outcome.runs));
        if (outcome.type !== "write") continue;
        changes.push(changeOf(outcome, MOST_ASKED_BYTES));
        if (outcome.conflicts > 0) notes.push(conflictIn(path, outcome.conflicts, from));
      }
      return { changes, notes };
    },
    execute: async (wanted, context) => (await bringOver(workspace, options, wanted, context)).told,
  });
}

/**
 * Does what `bring_over` does. Returns what it did, a line for each file, and whether all of it is here now, and nothing contradicts
 * itself. Throws when the call is cancelled.
 */
export async function bringOver(
  workspace: Workspace,
  options: BringOptions,
  { from, files }: { readonly from: string; readonly files: readonly string[] },
  context: ToolContext,
): Promise<{ readonly told: string; readonly isWhole: boolean }> {
  refuseUnknown("bringOver", options, OPTIONS);
  const told: string[] = [];
  let isWhole = true;
  const left = (path: string, why: string) => {
    isWhole = false;
    return `${path} was not brought over: ${why}`;
  };
  const bring = async (path: string): Promise<string> => {
    const outcome = await outcomeOf(workspace, options, { from, path, context });
    if (outcome.type === "same") return `${path} is the same here.`;
    if (outcome.type === "left") return left(path, outcome.why);
    if (outcome.type === "mode") {
      const writing = { given: path, location: outcome.location, input: { from, files: [outcome.location.path] } };
      await assertJudged(workspace, writing, context);
      await setMode(workspace, outcome.location, outcome.runs);
      return modeOf(outcome.location.path, outcome.runs);
    }
    const change = changeOf(outcome);
    assertAgreed(change, context);
    const writing = { given: path, location: outcome.location, input: { from, files: [change.path] } };
    await assertJudged(workspace, writing, context);
    await put(workspace, options, outcome);
    await context.changed(change);
    for (const content of [outcome.before, outcome.after]) options.watch?.()(content?.toString("latin1") ?? "");
    if (outcome.conflicts > 0) isWhole = false;
    const more = [
      ...(outcome.runs === undefined ? [] : [modeOf(change.path, outcome.runs)]),
      ...(outcome.conflicts === 0 ? [] : [conflictIn(change.path, outcome.conflicts, from)]),
    ].join(" ");
    return `${change.kind} ${change.path} (+${change.added} -${change.removed})${more === "" ? "" : `. ${more}`}`;
  };
  for (const path of files) {
    context.signal.throwIfAborted();
    try {
      told.push(await bring(path));
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      told.push(left(path, error.message));
    }
  }
  return { told: told.join("\n"), isWhole };
}

async function put(
  workspace: Workspace,
  { backups }: BringOptions,
  { location, before, after, runs }: Extract<Outcome, { type: "write" }>,
): Promise<void> {
  if (before === undefined) {
    await replaceFile(workspace, location, after ?? Buffer.alloc(0));
    if (runs) await setMode(workspace, location, runs);
    return;
  }
  await using file = await openFile(workspace, location.path);
  if (!before.equals(await file.handle.readFile()))
    throw new WorkspaceError("changed", `${location.path} was changed by somebody else meanwhile.`);
  await keepContent(backups, [before]);
  if (!after) return removeFile(workspace, location, file.stats);
  await replaceFile(workspace, location, after, file.stats);
  if (runs !== undefined) await setMode(workspace, location, runs);
}

/** Lets a file be run as a program by who may read it, or by nobody. */
async function setMode(workspace: Workspace, { path }: Location, runs: boolean): Promise<void> {
  await using file = await openFile(workspace, path);
  const mode = file.stats.mode & 0o777;
  await file.handle.chmod(runs ? mode | ((mode & 0o444) >> 2) : mode & ~0o111);
}

function modeOf(path: string, runs: boolean): string {
  return `${path} can ${runs ? "be run as a program now" : "not be run as a program any more"}.`;
}

async function outcomeOf(
  workspace: Workspace,
  { incoming, merge }: BringOptions,
  { from, path, context }: { readonly from: string; readonly path: string; readonly context: PreviewContext },
): Promise<Outcome> {
  try {
    const location = await locate(workspace, path);
    assertWritable(workspace, location);
    const { content: here, runs: hereRuns } = await fileAt(workspace, location);
    const { content: there, base, runs: thereRuns, baseRuns } = await incoming(from, path, context);
    // Without a base both places made the file, and the mode there counts.
    const hasOtherMode =
      there !== undefined && (base === undefined || thereRuns !== baseRuns) && thereRuns !== hereRuns;
    if (isSame(here, there) || isSame(base, there)) {
      if (!hasOtherMode) return { type: "same" };
      if (here) return { type: "mode", location, runs: thereRuns };
      return { type: "left", why: `it was removed here, and its mode was changed in ${from}.` };
    }
    const place = { type: "write", location, before: here, runs: hasOtherMode ? thereRuns : undefined } as const;
    if (isSame(here, base)) {
      // Only here a file is replaced (F78). A merge keeps what changed meanwhile.
      assertAsSeen(workspace, location.path, here ? digestOf(here) : null, context);
      return { ...place, after: there, conflicts: 0 };
    }
    if (!here || !there) {
      const [gone, kept] = here ? [from, "here"] : ["here", from];
      return { type: "left", why: `it was removed ${placeIn(gone)}, and changed ${placeIn(kept)}.` };
    }
    const [hereText, thereText] = [contentOf(here).text, contentOf(there).text];
    const baseText = base ? contentOf(base).text : "";
    if (hereText === undefined || thereText === undefined || baseText === undefined)
      return { type: "left", why: `it was changed here and in ${from}, and is no text that could be put together.` };
    const { text, conflicts } = await merge({ base: baseText, here: hereText, there: thereText }, from);
    return { ...place, after: Buffer.from(text), conflicts };
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return { type: "left", why: error.message };
  }
}

function placeIn(name: string): string {
  return name === "here" ? name : `in ${name}`;
}

async function fileAt(
  workspace: Workspace,
  location: Location,
): Promise<{ content: Buffer | undefined; runs: boolean }> {
  if (location.kind === "missing") return { content: undefined, runs: false };
  await using file = await openFile(workspace, location.path);
  return { content: await file.handle.readFile(), runs: (file.stats.mode & 0o100) !== 0 };
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function changeOf({ location, before, after }: Extract<Outcome, { type: "write" }>, most?: number): FileChange {
  const [was, is] = [before && contentOf(before), after && contentOf(after)];
  return fileChange(location.path, was, is, most === undefined ? {} : { most });
}

/** A person who allowed that this content is put in the place of that one did not allow another. */
function assertAgreed({ path, before, after }: FileChange, { agreed }: Pick<ToolContext, "agreed">): void {
  const seen = agreed?.changes?.find((change) => change.path === path);
  if (!agreed?.changes || (seen && seen.before === before && seen.after === after)) return;
  throw new WorkspaceError("changed", `${path} is not what it was when a person allowed it. Bring it over again.`);
}

function conflictIn(path: string, conflicts: number, from: string): string {
  const [places, them] = conflicts === 1 ? ["1 place of", "it"] : [`${conflicts} places of`, "them"];
  return `${places} ${path} was changed here and in ${from}: both stand there between <<<<<<< and >>>>>>>. Decide on ${them}, and take the marks away.`;
}
