import { errorMessage } from "@banyan/core/shown";
import { fileChange } from "../changes/file-change.ts";
import type { FileWritingOptions } from "../changes/file-writing.ts";
import { prepareReplacement } from "../changes/replace-file.ts";
import { contentDigest, keepBackup } from "../files/backups.ts";
import type { Workspace } from "../files/paths.ts";
import { countLines } from "../files/text-content.ts";
import { type ArmedFile, messageOfCall } from "./armed-file.ts";
import type { CapturedBlocks, FileBlock } from "./capture.ts";
import { applyBlocks, type NewContent } from "./new-content.ts";
import { type PreparedFile, replaceFiles, withoutFullStop } from "./put-in-place.ts";

/** The result for one file after the code blocks of a message were applied. */
export type FileOutcome =
  /** `before` and `after` are numbers of lines; `before` is absent for a new file. */
  | {
      readonly type: "written";
      readonly path: string;
      readonly blocks: number;
      readonly before?: number;
      readonly after: number;
    }
  | { readonly type: "unchanged"; readonly path: string }
  /** The message has no block for the file. */
  | { readonly type: "untouched"; readonly path: string }
  | { readonly type: "refused"; readonly path: string; readonly why: string };

/** The workspace of the files, and the options of writing. */
export interface ApplyOptions extends FileWritingOptions {
  readonly workspace: Workspace;
}

/**
 * Applies the code blocks of a message: for each file all blocks or none. An error in one file's blocks affects only
 * that file. But if a file cannot be replaced at the end, the other files are restored and nothing is applied.
 */
export async function applyCaptured(
  surroundings: ApplyOptions,
  files: readonly ArmedFile[],
  { blocks, wrong }: CapturedBlocks<ArmedFile>,
): Promise<readonly FileOutcome[]> {
  await using replacements = new AsyncDisposableStack();
  const prepared: (PreparedFile & { readonly content: NewContent })[] = [];
  const outcomes = new Map<string, FileOutcome>();
  for (const file of files) {
    const { path } = file;
    const reasons = wrong.flatMap((block) => (block.file === file ? [block.why] : []));
    if (reasons.length > 0) {
      outcomes.set(path, refusedOutcome(path, reasons.join("; ")));
      continue;
    }
    const own = blocks.filter((block) => block.file === file);
    try {
      const next = own.length === 0 ? "untouched" : await prepareFile(surroundings, file, own);
      if (typeof next === "string") {
        outcomes.set(path, { type: next, path });
        continue;
      }
      replacements.use(next.replacement);
      prepared.push(next);
      outcomes.set(path, writtenOutcome(next.content, own.length));
    } catch (error) {
      outcomes.set(path, refusedOutcome(path, errorMessage(error)));
    }
  }
  const problem = await replaceFiles(surroundings, prepared);
  for (const { content } of prepared) {
    const { path } = content.file;
    if (problem === undefined) await reportChange(content);
    else outcomes.set(path, refusedOutcome(path, problem));
  }
  return [...outcomes.values()];
}

async function prepareFile(
  { workspace, backups, refuse, watch }: ApplyOptions,
  file: ArmedFile,
  blocks: readonly FileBlock<ArmedFile>[],
): Promise<(PreparedFile & { readonly content: NewContent }) | "unchanged"> {
  await assertPermitted(file);
  for (const { name, text } of blocks) {
    const reason = refuse?.(text);
    if (reason !== undefined) throw new Error(`${name} was refused: ${reason}`);
  }
  const content = await applyBlocks(workspace, file, blocks, watch);
  const { location, before, bytes } = content;
  if (before?.bytes.equals(bytes)) return "unchanged";
  if (before) await keepBackup(backups, [before.bytes]);
  const replacement = await prepareReplacement(workspace, location, bytes, before?.stats);
  return { content, signal: file.context.signal, replacement };
}

/** Checks the rules again: they may have changed since the call (B34). If they ask now, an approval of the call counts. */
async function assertPermitted({ context }: ArmedFile): Promise<void> {
  const permit = await context.permit();
  if (permit.decision === "deny") throw new Error(`it is not allowed any more: ${permit.reason}`);
  if (
    permit.decision === "ask" &&
    !(messageOfCall(context)?.calls.some(({ id, approved }) => id === context.call && approved === true) ?? false)
  )
    throw new Error("it needs to be approved again; call edit_mode again");
}

async function reportChange({ file, before, bytes, text }: NewContent): Promise<void> {
  const old = file.snapshot && before && { digest: file.snapshot.digest, text: before.text };
  await file.context.changed(fileChange(file.path, old, { digest: contentDigest(bytes), text }));
}

function writtenOutcome({ file, before, text }: NewContent, blocks: number): FileOutcome {
  const lines = before && { before: countLines(before.text) };
  return { type: "written", path: file.path, blocks, ...lines, after: countLines(text) };
}

function refusedOutcome(path: string, why: string): FileOutcome {
  return { type: "refused", path, why: withoutFullStop(why) };
}
