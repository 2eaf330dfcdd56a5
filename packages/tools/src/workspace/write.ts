import { defineTool, type Tool } from "@banyan/core";
import { z } from "zod";
import { WorkspaceError } from "./error.ts";
import { locate, type Workspace } from "./paths.ts";
import { assertWritable } from "./protected-paths.ts";
import { replaceFile } from "./replace-file.ts";
import { countLines, encode, lineEndsOf, readText } from "./text-content.ts";
import { unifiedDiff } from "./unified-diff.ts";

const input = z.object({
  path: z.string().describe("The file, relative to the workspace. Folders that are missing are made."),
  content: z.string().describe("The whole content of the file, exactly as it shall be."),
});

/** `write {path, content}`: makes a file or replaces it as a whole. */
export function writeTool(workspace: Workspace): Tool {
  return defineTool({
    name: "write",
    description:
      "Writes a whole file: makes it, or replaces what was there. For a change in a part of a file use edit. " +
      "Answers whether the file was created or overwritten, and what changed.",
    input,
    // Written twice, a file has the same content as written once.
    effects: "idempotent",
    async execute({ path, content }, context) {
      const location = await locate(workspace, path);
      assertWritable(workspace, location);
      const bytes = encode(location.path, content);
      const size = `${countLines(content)} lines, ${bytes.length} bytes`;
      const before = location.kind === "file" ? await previousText(workspace, location.path) : undefined;
      context.signal.throwIfAborted();
      await replaceFile(workspace, location, bytes);
      if (location.kind === "missing") return `Created ${location.path} (${size}).`;
      const outcome = `Overwrote ${location.path} (${size}).`;
      if (typeof before === "string") return `${outcome}\n[no diff: ${before}]`;
      if (before === undefined || before.mark + before.text === content)
        return `${outcome} The content is the same as before.`;
      const [was, is] = [before.lineEnds, lineEndsOf(content)];
      const ends =
        was !== is && was !== "none" && is !== "none"
          ? `\n[line ends were ${was.toUpperCase()} and are ${is.toUpperCase()} now]`
          : "";
      return `${outcome}${ends}\n${unifiedDiff(location.path, before.mark + before.text, content)}`;
    },
  });
}

/** The text that is about to be replaced, for the diff; or why it cannot be shown. It need not be text to be replaced. */
async function previousText(workspace: Workspace, path: string) {
  try {
    return await readText(workspace, path);
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "content") return error.message;
    throw error;
  }
}
