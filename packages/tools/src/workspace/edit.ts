import { defineTool, type Tool } from "@banyan/core";
import { refuseUnknown } from "@banyan/core/conversation";
import { z } from "zod";
import { digestOf, keepContent } from "./backups.ts";
import { WorkspaceError } from "./error.ts";
import { fileChange } from "./file-change.ts";
import { lineDiff } from "./line-diff.ts";
import { nearestLine } from "./nearest-line.ts";
import { pathArgument } from "./path-argument.ts";
import { locate, type Workspace } from "./paths.ts";
import { assertWritable } from "./protected-paths.ts";
import { replaceFile } from "./replace-file.ts";
import { encode, readText, type TextContent } from "./text-content.ts";
import { MOST_ASKED_BYTES, unifiedDiff } from "./unified-diff.ts";
import { assertAllowed, assertJudged, WRITING_OPTIONS, type WritingOptions } from "./writing.ts";

/** Occurrences are counted up to here. */
const MOST_COUNTED = 1000;

const inputOf = (workspace: Workspace) =>
  z.object({
    path: pathArgument(workspace).describe("The file, relative to the workspace."),
    old_text: z
      .string()
      .min(1)
      .describe(
        "The text to replace, exactly as it is in the file, with its indentation, without line numbers. Include lines around it when it is not unique.",
      ),
    new_text: z.string().describe("What stands there instead. Empty removes the old text."),
  });

/** `edit {path, old_text, new_text}`: replaces one place in a text file; all other bytes stay as they are. */
export function editTool(workspace: Workspace, options: WritingOptions = {}): Tool {
  refuseUnknown("editTool", options, WRITING_OPTIONS);
  const { backups, refuse, watch } = options;
  return defineTool({
    name: "edit",
    description:
      "Changes one place in a text file: replaces old_text, which must occur exactly once, with new_text. " +
      "Line ends, byte-order mark and mode of the file are kept. Answers the change as a unified diff.",
    input: inputOf(workspace),
    // Not idempotent: where new_text contains old_text, a second run would change the file again.
    brief: "Replaces old_text, which occurs once in the file, with new_text.",
    effects: "external",
    files: "write",
    about: ({ path }) => ({ paths: [{ path, access: "write" }], change: { goes: "old_text", comes: "new_text" } }),
    async preview(input) {
      const { content, bytes, after, diff } = await edited(workspace, input, { refuse, watch });
      const before = { digest: digestOf(content.bytes), text: content.text };
      const change = { digest: digestOf(bytes), text: after };
      return { changes: [fileChange(content.path, before, change, { diff, most: MOST_ASKED_BYTES })] };
    },
    async execute(input, context) {
      const { location, content, bytes, after, diff } = await edited(workspace, input, { refuse, watch });
      const writing = { given: input.path, location, input: { ...input, path: location.path } };
      await assertJudged(workspace, writing, context);
      const before = { digest: await keepContent(backups, [content.bytes]), text: content.text };
      context.signal.throwIfAborted();
      await replaceFile(workspace, location, bytes, content.stats);
      await context.changed(fileChange(content.path, before, { digest: digestOf(bytes), text: after }, { diff }));
      return unifiedDiff(content.path, diff);
    },
  });
}

/** The file as it is, and as it is to be. Throws what speaks against that. */
async function edited(
  workspace: Workspace,
  { path, old_text, new_text }: z.infer<ReturnType<typeof inputOf>>,
  { refuse, watch }: WritingOptions,
) {
  const location = await locate(workspace, path);
  assertWritable(workspace, location);
  assertAllowed(location.path, new_text, refuse);
  const content = await readText(workspace, location.path, watch);
  const after = replaceOnce(content, old_text, new_text);
  const bytes = encode(content.path, content.mark + after);
  return { location, content, bytes, after, diff: lineDiff(content.text, after) };
}

/**
 * The text with the one occurrence of `oldText` replaced. In a file where every line ends with CRLF, both texts may be
 * given with LF; what is written has CRLF. Elsewhere both count as they are. Throws when there is not exactly one.
 */
function replaceOnce(content: TextContent, oldText: string, newText: string): string {
  const [wanted, replacement] =
    content.lineEnds === "crlf" ? [toWindows(oldText), toWindows(newText)] : [oldText, newText];
  if (wanted === replacement)
    throw new WorkspaceError(
      "match",
      `old_text and new_text are the same, so there is nothing to change in ${content.path}.`,
    );
  const places = occurrences(content.text, wanted);
  const [at] = places;
  if (at === undefined)
    throw new WorkspaceError("match", `old_text does not occur in ${content.path}. ${hint(content, oldText)}`);
  if (places.length > 1) {
    const lines = places.slice(0, 10).map((place) => lineAt(content.text, place));
    const count = places.length > MOST_COUNTED ? `more than ${MOST_COUNTED}` : places.length;
    const more = places.length > 10 ? ", ..." : "";
    throw new WorkspaceError(
      "match",
      `old_text occurs ${count} times in ${content.path}, at lines ${lines.join(", ")}${more}. Include more of the text around the one that is meant.`,
    );
  }
  return content.text.slice(0, at) + replacement + content.text.slice(at + wanted.length);
}

function toWindows(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** Where a text occurs, overlaps included: `aa` is in `aaa` twice, so it is not clear which is meant. */
function occurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && places.length <= MOST_COUNTED; at = text.indexOf(wanted, at + 1))
    places.push(at);
  return places;
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < place; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function hint(content: TextContent, oldText: string): string {
  if (content.lineEnds === "mixed" && oldText.includes("\n"))
    return "Its line ends are mixed (LF and CRLF); replace one line at a time.";
  const near = nearestLine(content.text, oldText);
  return near === undefined
    ? "Read the file and copy the text exactly."
    : `${near} Read the lines around it and copy the text exactly.`;
}
