import { defineTool, type Tool } from "@banyan/core";
import { refuseUnknown } from "@banyan/core/conversation";
import { z } from "zod";
import { contentDigest, keepBackup } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import { pathArgument, textMeta } from "../files/path-argument.ts";
import { locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { encodeText, lineAt, readText, type TextContent } from "../files/text-content.ts";
import { fileChange } from "./file-change.ts";
import { assertAllowed, assertJudged, type FileWritingOptions, WRITING_OPTIONS } from "./file-writing.ts";
import { lineDiff } from "./line-diff.ts";
import { LookAlikes, lookAlikesOf } from "./look-alikes.ts";
import { nearestLine } from "./nearest-line.ts";
import { replaceWorkspaceFile } from "./replace-file.ts";
import { MOST_ASKED_BYTES, unifiedDiff } from "./unified-diff.ts";
import { findOccurrences, sentenceOn, unseenDifference } from "./unseen-difference.ts";

const MOST_COUNTED = 1000;

const inputOf = (workspace: Workspace) =>
  z.object({
    path: pathArgument(workspace).describe("Relative to the workspace."),
    old_text: z.string().min(1).meta(textMeta("Exactly as in the file, without line numbers.")),
    new_text: z.string().describe("Empty removes the old text."),
  });

/**
 * Returns the tool `edit {path, old_text, new_text}`, which replaces one place in a text file. All other bytes stay the same.
 * @example new Agent({ model, tools: [readTool(workspace), editTool(workspace, { backups: "/home/me/backups" })] });
 */
export function editTool(workspace: Workspace, options: FileWritingOptions = {}): Tool {
  refuseUnknown("editTool", options, WRITING_OPTIONS);
  const { backups, refuse, watch } = options;
  return defineTool({
    name: "edit",
    description: "Replaces old_text, which must occur exactly once in the file, with new_text. Returns a diff.",
    input: inputOf(workspace),
    // Not idempotent: if new_text contains old_text, a second run would change the file again.
    brief: "Replaces old_text, which occurs once in the file, with new_text.",
    effects: "external",
    files: "write",
    about: ({ path }) => ({ paths: [{ path, access: "write" }], change: { goes: "old_text", comes: "new_text" } }),
    async preview(input) {
      const { content, bytes, after, note, diff } = await planEdit(workspace, input, { refuse, watch });
      const before = { digest: contentDigest(content.bytes), text: content.text };
      const change = { digest: contentDigest(bytes), text: after };
      const changes = [fileChange(content.path, before, change, { diff, most: MOST_ASKED_BYTES })];
      return note === undefined ? { changes } : { changes, notes: [note] };
    },
    async execute(input, context) {
      const { location, content, bytes, after, note, diff } = await planEdit(workspace, input, { refuse, watch });
      const writing = { given: input.path, location, input: { ...input, path: location.path } };
      await assertJudged(workspace, writing, context);
      const before = { digest: await keepBackup(backups, [content.bytes]), text: content.text };
      context.signal.throwIfAborted();
      await replaceWorkspaceFile(workspace, location, bytes, content.stats);
      await context.changed(fileChange(content.path, before, { digest: contentDigest(bytes), text: after }, { diff }));
      return [unifiedDiff(content.path, diff), ...(note === undefined ? [] : [note])].join("\n");
    },
  });
}

async function planEdit(
  workspace: Workspace,
  { path, old_text, new_text }: z.infer<ReturnType<typeof inputOf>>,
  { refuse, watch }: FileWritingOptions,
) {
  const location = await locate(workspace, path);
  assertWritable(workspace, location);
  assertAllowed(location.path, new_text, refuse);
  const content = await readText(workspace, location.path, watch);
  const { text: after, note } = replaceOnce(content, old_text, new_text);
  const bytes = encodeText(content.path, after, content);
  return { location, content, bytes, after, note, diff: lineDiff(content.text, after) };
}

interface ReplacedText {
  readonly text: string;
  /** A sentence about look-alike characters, if the tool accepted them as matches. */
  readonly note?: string;
}

/**
 * Replaces the single occurrence of `oldText`. In a file with only CRLF line ends, both texts may have LF, and CRLF is
 * written. In other files, both texts are taken literally. If nothing matches exactly, a single place that differs only
 * in look-alikes matches (F81). Throws unless exactly one place matches.
 */
function replaceOnce(content: TextContent, oldText: string, newText: string): ReplacedText {
  const [wanted, replacement] =
    content.lineEnds === "crlf" ? [toWindows(oldText), toWindows(newText)] : [oldText, newText];
  if (wanted === replacement)
    throw new WorkspaceError(
      "match",
      `old_text and new_text are the same, so there is nothing to change in ${content.path}.`,
    );
  const places = findOccurrences(content.text, wanted, MOST_COUNTED + 1);
  const [at] = places;
  if (at === undefined) return replaceLookAlike(content, wanted, replacement);
  if (places.length > 1) throw ambiguousPlaceError(content, places, "occurs");
  return { text: content.text.slice(0, at) + replacement + content.text.slice(at + wanted.length) };
}

function replaceLookAlike(content: TextContent, wanted: string, replacement: string): ReplacedText {
  const alike = lookAlikesOf(content.text, wanted, MOST_COUNTED + 1);
  const [only] = alike;
  if (only === undefined)
    throw new WorkspaceError("match", `old_text does not occur in ${content.path}. ${hint(content, wanted)}`);
  if (alike.length > 1)
    throw ambiguousPlaceError(
      content,
      alike.map(({ from }) => from),
      "does not occur exactly, and apart from look-alike characters it occurs",
    );
  const { from, to } = only;
  const place = content.text.slice(from, to);
  const pair = new LookAlikes(place, wanted);
  const said = sentenceOn(content.text, from, pair.differences());
  const kept = pair.replaced(replacement);
  if (kept === place)
    throw new WorkspaceError(
      "match",
      `${content.path} already contains new_text there, so nothing was changed. ${said}`,
    );
  return {
    text: content.text.slice(0, from) + kept + content.text.slice(to),
    note: `[old_text was matched by look-alike characters. ${said} Where new_text repeats old_text, the file keeps its own.]`,
  };
}

function ambiguousPlaceError({ path, text }: TextContent, places: readonly number[], how: string): WorkspaceError {
  const lines = places.slice(0, 10).map((place) => lineAt(text, place));
  const count = places.length > MOST_COUNTED ? `more than ${MOST_COUNTED}` : places.length;
  const more = places.length > 10 ? ", ..." : "";
  return new WorkspaceError(
    "match",
    `old_text ${how} ${count} times in ${path}, at lines ${lines.join(", ")}${more}. Include more of the surrounding text.`,
  );
}

function toWindows(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function hint(content: TextContent, wanted: string): string {
  if (content.lineEnds === "mixed" && wanted.includes("\n"))
    return "The file's line ends are mixed (LF and CRLF); replace one line at a time.";
  const unseen = unseenDifference(content.text, wanted);
  if (unseen !== undefined) return `${unseen} Copy the text exactly.`;
  const near = nearestLine(content.text, wanted);
  return near === undefined
    ? "Read the file and copy the text exactly."
    : `${near} Read the lines around it and copy the text exactly.`;
}
