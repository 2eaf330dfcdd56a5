import { defineTool, type Tool } from "@banyan/core";
import { refuseUnknown } from "@banyan/core/conversation";
import { z } from "zod";
import { SymbolFinder } from "../../symbols/finder.ts";
import { assertJudged, type FileWritingOptions, WRITING_OPTIONS } from "../changes/file-writing.ts";
import { pathArgument } from "../files/path-argument.ts";
import type { Workspace } from "../files/paths.ts";
import { armFile, messageOfCall } from "./armed-file.ts";
import { EditSession } from "./edit-session.ts";
import { instructions } from "./instructions.ts";

const inputOf = (workspace: Workspace) =>
  z.object({
    file_path: pathArgument(workspace).describe("A missing file is created."),
    mode: z
      .enum(["lines", "complete", "symbol"])
      .optional()
      .describe(
        "The unit that a block replaces: lines by number, the complete file, or a symbol (function, class or method) by name. Default: lines; complete for a new file.",
      ),
    overwrite: z.boolean().optional().describe("Allows the mode complete for an existing file."),
  });

/**
 * Returns the tool `edit_mode {file_path, mode?, overwrite?}`, which changes a file by code blocks in the model's next
 * message (B27). The call itself writes nothing.
 * @example new Agent({ model, tools: [editModeTool(workspace)] });
 */
export function editModeTool(workspace: Workspace, options: FileWritingOptions = {}): Tool {
  refuseUnknown("editModeTool", options, WRITING_OPTIONS);
  const finder = new SymbolFinder();
  /** By run: files that are opened together wait for the same message. */
  const editings = new Map<string, EditSession>();
  return defineTool({
    name: "edit_mode",
    description:
      "Opens a file for editing: the call changes nothing, but the fenced blocks in your next message are applied to the file. " +
      "The result explains their form. Use edit_mode for several or long changes and for new files: " +
      "blocks need no escapes and no old text. Several files can be opened at once. For one small change use edit.",
    input: inputOf(workspace),
    // A second call has no further effect. The effects are not `none`, which rules allow without approval.
    effects: "idempotent",
    files: "write",
    about: ({ file_path: path }) => ({ paths: [{ path, access: "write" }] }),
    preview: () => ({
      notes: ["The content is not written yet. The agent's next message is applied to the file without asking."],
    }),
    async execute(wanted, context) {
      const file = await armFile(workspace, finder, wanted, context);
      const { location } = file;
      const writing = { given: wanted.file_path, location, input: { ...wanted, file_path: location.path } };
      await assertJudged(workspace, writing, context);
      context.signal.throwIfAborted();
      const run = messageOfCall(context)?.run ?? context.call;
      const editing = editings.get(run) ?? new EditSession({ ...options, workspace }, () => editings.delete(run));
      editing.arm(file);
      editings.set(run, editing);
      return instructions(file);
    },
  });
}
