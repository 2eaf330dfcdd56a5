import type { Stats } from "node:fs";
import { defineTool, type Tool } from "@banyan/core";
import type { Preview } from "@banyan/core/conversation";
import { refuseUnknown } from "@banyan/core/conversation";
import { z } from "zod";
import { contentDigest, keepBackup } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import { detectFileForm, SNIFFED_BYTES } from "../files/file-text.ts";
import { openFile } from "../files/open-path.ts";
import { pathArgument } from "../files/path-argument.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { assertAsSeen, isAsSeen } from "../files/seen-files.ts";
import {
  countLines,
  encodeText,
  formInWords,
  lineEndsOf,
  linesInWords,
  NEW_FILE,
  readText,
  type TextContent,
  type TextForm,
  textForm,
  withoutMark,
} from "../files/text-content.ts";
import { type FileContent, fileChange } from "./file-change.ts";
import { assertAllowed, assertJudged, type FileWritingOptions, WRITING_OPTIONS } from "./file-writing.ts";
import { lineDiff } from "./line-diff.ts";
import { replaceWorkspaceFile } from "./replace-file.ts";
import { MOST_ASKED_BYTES, unifiedDiff } from "./unified-diff.ts";

const inputOf = (workspace: Workspace) =>
  z.object({
    path: pathArgument(workspace).describe("Relative to the workspace."),
    content: z.string().describe("The whole text."),
  });

/**
 * Returns the tool `write {path, content}`, which creates or replaces a file.
 * @example new Agent({ model, tools: [writeTool(workspace, { backups: "/home/me/backups" })] });
 */
export function writeTool(workspace: Workspace, options: FileWritingOptions = {}): Tool {
  refuseUnknown("writeTool", options, WRITING_OPTIONS);
  const { backups, refuse, watch } = options;
  return defineTool({
    name: "write",
    description: "Creates a file or replaces its whole content. To change a part of a file use edit.",
    input: inputOf(workspace),
    // Idempotent: a second run writes the same content.
    brief: "Creates or replaces a file.",
    effects: "idempotent",
    files: "write",
    about: ({ path }) => ({ paths: [{ path, access: "write" }], change: { comes: "content" } }),
    async preview({ path, content }, context) {
      const location = await locate(workspace, path);
      assertWritable(workspace, location);
      const before = location.kind === "file" ? await previous(workspace, location, watch ? { watch } : {}) : undefined;
      const { after } = encodeNewContent(location.path, content, before);
      if (before === undefined)
        return { changes: [fileChange(location.path, undefined, after, { most: MOST_ASKED_BYTES })] };
      const { digest, text, why } = before;
      if (digest === after.digest) return { notes: [`Overwrites ${location.path} with the same content.`] };
      const what = text === undefined ? why : linesInWords(countLines(text));
      const stale = isAsSeen(workspace, location.path, digest, context)
        ? []
        : [
            `${location.path} changed since the agent read it. The call will be refused, and the agent must read the file again.`,
          ];
      return {
        notes: [`Overwrites the existing file ${location.path} (${what}).`, ...stale],
        changes: [
          fileChange(location.path, { digest, ...(text !== undefined && { text }) }, after, { most: MOST_ASKED_BYTES }),
        ],
      };
    },
    async execute({ path, content }, context) {
      const location = await locate(workspace, path);
      assertWritable(workspace, location);
      const writing = { given: path, location, input: { path: location.path, content } };
      await assertJudged(workspace, writing, context);
      assertAllowed(location.path, content, refuse);
      const before =
        location.kind === "file"
          ? await previous(workspace, location, { ...(backups !== undefined && { backups }), ...(watch && { watch }) })
          : undefined;
      const { bytes, after } = encodeNewContent(location.path, content, before);
      const size = `${linesInWords(countLines(content))}, ${bytes.length} bytes`;
      assertAsAgreed(location.path, before?.digest ?? null, context.agreed);
      assertAsSeen(workspace, location.path, before?.digest ?? null, context);
      context.signal.throwIfAborted();
      await replaceWorkspaceFile(workspace, location, bytes, before?.stats);
      if (before === undefined) {
        await context.changed(fileChange(location.path, undefined, after));
        return `Created ${location.path} (${size}).`;
      }
      const outcome = `Overwrote ${location.path} (${size}).`;
      if (before.digest === after.digest) return `${outcome} The content is the same as before.`;
      if (before.text === undefined) {
        await context.changed(fileChange(location.path, before, after));
        return `${outcome}\n[no diff: ${before.why}]`;
      }
      const diff = lineDiff(before.text, after.text);
      await context.changed(fileChange(location.path, before, after, { diff }));
      const [was, is] = [lineEndsOf(before.text), lineEndsOf(content)];
      const ends =
        was !== is && was !== "none" && is !== "none"
          ? `\n[line ends were ${was.toUpperCase()} and are ${is.toUpperCase()} now]`
          : "";
      const form = formInWords(before.form);
      const kept = form === undefined ? "" : `\n[the file stays ${form}]`;
      return `${outcome}${ends}${kept}\n${unifiedDiff(location.path, diff)}`;
    },
  });
}

/** Throws if the file differs from the approved state: an approval of one replacement must not destroy another content. */
function assertAsAgreed(path: string, digest: string | null, agreed: Preview | undefined): void {
  const seen = agreed?.changes?.find((change) => change.path === path);
  if (!seen || seen.before === digest) return;
  const now = seen.before === null ? "exists now, but did not" : "is not the same as";
  throw new WorkspaceError(
    "changed",
    `${path} ${now} when the user allowed the call. Read the file, and write it again.`,
  );
}

interface Previous extends FileContent {
  readonly stats: Stats;
  readonly form: TextForm;
  /** The kind of a file that is not text. */
  readonly why?: string;
}

function encodeNewContent(path: string, content: string, before: Previous | undefined) {
  const bytes = encodeText(path, content, before?.form ?? NEW_FILE);
  return { bytes, after: { digest: contentDigest(bytes), text: before?.form.mark ? withoutMark(content) : content } };
}

/** Returns the content to replace, which need not be text, and keeps it for undo. Throws if its encoding would be lost. */
async function previous(
  workspace: Workspace,
  { path }: Location,
  { backups, watch }: Pick<FileWritingOptions, "backups" | "watch">,
): Promise<Previous> {
  let content: TextContent;
  try {
    content = await readText(workspace, path, watch);
  } catch (error) {
    if (!(error instanceof WorkspaceError && error.code === "content")) throw error;
    await using file = await openFile(workspace, path);
    const start = Buffer.alloc(SNIFFED_BYTES);
    const { bytesRead } = await file.handle.read(start, 0, start.length, 0);
    const form = detectFileForm(start.subarray(0, bytesRead));
    const pieces = file.handle.createReadStream({ start: 0, autoClose: false });
    return {
      digest: await keepBackup(backups, pieces),
      stats: file.stats,
      form: form.kind === "text" ? textForm(form) : NEW_FILE,
      why: error.message,
    };
  }
  const { bytes, text, stats } = content;
  return { digest: await keepBackup(backups, [bytes]), text, stats, form: content };
}
