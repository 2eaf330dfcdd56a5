import type { AssistantMessage, ToolContext } from "@banyan/core";
import type { FileSymbols } from "../../symbols/file-symbols.ts";
import type { SymbolFinder } from "../../symbols/finder.ts";
import { languageOf } from "../../symbols/language.ts";
import { assertOneName } from "../changes/replace-file.ts";
import { digestOf } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { assertAsSeen } from "../files/seen-files.ts";
import { countLines, linesInWords, readText } from "../files/text-content.ts";
import type { Addressee, Mode } from "./address.ts";

/** A file that a call of edit mode has armed: blocks for it are waited for. */
export interface ArmedFile extends Addressee {
  readonly location: Location;
  /** As it was when it was armed; undefined for a new file. */
  readonly snapshot: Snapshot | undefined;
  /** Where its symbols stand, in mode symbol. */
  readonly symbols: FileSymbols | undefined;
  /** Of the call that armed it. */
  readonly context: ToolContext;
}

/** What has to be kept of a file to tell whether it is still the same, and to say how blocks for it are written. */
export interface Snapshot {
  /** The SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
  readonly lines: number;
  /** The longest fence in it; 0 without one. */
  readonly longestFence: number;
}

/** Which file, and how. */
export interface Wanted {
  readonly file_path: string;
  readonly mode?: Mode | undefined;
  readonly overwrite?: boolean | undefined;
}

/** Looks at a file that blocks are to be written for. Throws, in words for the model, when it cannot be written so. */
export async function armFile(
  workspace: Workspace,
  finder: SymbolFinder,
  { file_path, mode = "lines", overwrite = false }: Wanted,
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
  // Symbols are found by their names, whatever else changed.
  if (mode !== "symbol") assertAsSeen(workspace, path, digestOf(bytes), context);
  const symbols = mode === "symbol" ? await finder.read(text, languageOf(path), context.signal) : undefined;
  return { ...common, mode, snapshot: { digest: digestOf(bytes), lines, longestFence: longestFence(text) }, symbols };
}

/** The message in which a call stands; it need not be the last one of its path any more. */
export function messageOfCall({ conversation, call }: ToolContext): AssistantMessage | undefined {
  const message = conversation.messages.get(conversation.calls.get(call) ?? "");
  return message?.role === "assistant" ? message : undefined;
}

function longestFence(text: string): number {
  let longest = 0;
  for (const [, markers = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) longest = Math.max(longest, markers.length);
  return longest;
}
