import type { AssistantMessage, ToolContext } from "@banyan/core";
import type { FileSymbols } from "../../symbols/file-symbols.ts";
import type { SymbolFinder } from "../../symbols/finder.ts";
import { fileLanguage } from "../../symbols/language.ts";
import { assertOneName } from "../changes/replace-file.ts";
import { contentDigest } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { assertAsSeen } from "../files/seen-files.ts";
import { countLines, linesInWords, readText } from "../files/text-content.ts";
import type { Addressee, EditMode } from "./address.ts";

/** A file that the tool `edit_mode` opened, and that waits for code blocks in the next message. */
export interface ArmedFile extends Addressee {
  readonly location: Location;
  /** The file's state when it was opened; undefined for a new file. */
  readonly snapshot: FileSnapshot | undefined;
  readonly symbols: FileSymbols | undefined;
  readonly context: ToolContext;
}

/** The facts about a file that detect changes and determine how blocks are written. */
export interface FileSnapshot {
  readonly digest: string;
  readonly lines: number;
  /** The number of markers of the longest fence in the file; 0 without fences. */
  readonly longestFence: number;
}

/** The arguments of an `edit_mode` call: the file and the mode. */
export interface EditRequest {
  readonly file_path: string;
  readonly mode?: EditMode | undefined;
  readonly overwrite?: boolean | undefined;
}

/** Opens a file for the code blocks of the next message. Throws an error for the model if this mode cannot write the file. */
export async function armFile(
  workspace: Workspace,
  finder: SymbolFinder,
  { file_path, mode = "lines", overwrite = false }: EditRequest,
  context: ToolContext,
): Promise<ArmedFile> {
  const location = await locate(workspace, file_path);
  assertWritable(workspace, location);
  const { path } = location;
  const common = { path, aliases: [file_path, location.real], base: workspace, location, context };
  if (location.kind === "missing") return { ...common, mode: "complete", snapshot: undefined, symbols: undefined };

  const { text, bytes, stats } = await readText(workspace, path);
  assertOneName(location, stats);
  const lines = countLines(text);
  if (mode === "complete" && !overwrite && lines > 0) {
    throw new WorkspaceError(
      "kind",
      `${path} exists and has ${linesInWords(lines)}. To change parts of it, use mode lines; to replace all of it, add overwrite: true.`,
    );
  }
  // Mode symbol finds symbols by name, so other changes of the file do no harm.
  if (mode !== "symbol") assertAsSeen(workspace, path, contentDigest(bytes), context);
  const symbols = mode === "symbol" ? await finder.read(text, fileLanguage(path), context.signal) : undefined;
  return {
    ...common,
    mode,
    snapshot: { digest: contentDigest(bytes), lines, longestFence: longestFence(text) },
    symbols,
  };
}

/** Returns the message that contains a call. It may no longer be the last message of its branch. */
export function messageOfCall({ conversation, call }: ToolContext): AssistantMessage | undefined {
  const message = conversation.messages.get(conversation.calls.get(call) ?? "");
  return message?.role === "assistant" ? message : undefined;
}

function longestFence(text: string): number {
  let longest = 0;
  for (const [, markers = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) longest = Math.max(longest, markers.length);
  return longest;
}
