import { isUtf8 } from "node:buffer";
import { defineTool, type Tool, type ToolContext } from "@banyan/core";
import { LARGEST_FILE, mediaIn, type OptionNames, refuseUnknown, TELLING_BYTES } from "@banyan/core/conversation";
import { z } from "zod";
import { earlierText, isEarlier, LOOKING_BACK } from "./earlier.ts";
import { WorkspaceError } from "./error.ts";
import { type FileForm, type FileLine, feedLines, LineSplitter } from "./file-text.ts";
import { assertNoKeyFile, type KeyWatch } from "./key-file.ts";
import { type OpenRegularFile, openFile } from "./open-path.ts";
import { pathArgument } from "./path-argument.ts";
import type { Workspace } from "./paths.ts";
import { showControls } from "./plain-text.ts";
import { digestOfOpen } from "./seen-files.ts";

const MOST_LINES = 2000;
/** In bytes, below the engine's limit for a result, so that the final note is always visible. */
const MOST_BYTES = 60_000;
const LONGEST_LINE = 2000;

const inputOf = (workspace: Workspace) =>
  z.object({
    path: pathArgument(workspace).describe("Relative to the workspace."),
    start: z.int().min(1).optional().describe("First line. Default 1."),
    end: z.int().min(1).optional().describe("Last line."),
  });

/** Options of the tool `read`. See {@link readTool}. */
export interface ReadOptions {
  /** Gets the text before and in the returned lines (S22). */
  readonly watch?: KeyWatch;
  /** Patterns of files that may be read although they contain private keys (S22). */
  readonly keyFiles?: readonly string[];
}

export const READ_OPTIONS: OptionNames<ReadOptions> = { watch: true, keyFiles: true };

/**
 * Returns the tool `read {path, start?, end?}`, which returns numbered lines of a text file up to `end`.
 * @example new Agent({ model, tools: [readTool(workspace, { keyFiles: ["test/fixtures/*.pem"] })] });
 */
export function readTool(workspace: Workspace, options: ReadOptions = {}): Tool {
  refuseUnknown("readTool", options, READ_OPTIONS);
  const { watch, keyFiles } = options;
  return defineTool({
    name: "read",
    description: `Reads a text file, picture or PDF. Lines come as number, tab, text; at most ${MOST_LINES} lines or ${MOST_BYTES} bytes.`,
    input: inputOf(workspace),
    brief: "Reads a text file with line numbers, a picture or a PDF.",
    effects: "none",
    eager: true,
    files: "read",
    readsEarlier: true,
    about: ({ path }) =>
      isEarlier(path)
        ? { title: path, ...LOOKING_BACK }
        : { paths: [{ path, access: "read" }], looksAt: { one: "file", several: "files" } },
    async execute({ path, start = 1, end }, context) {
      if (end !== undefined && end < start)
        throw new WorkspaceError("range", `end (${end}) is before start (${start}).`);
      const page = new ReadPage(start, Math.min(end ?? Number.POSITIVE_INFINITY, start + MOST_LINES - 1));
      const lines = new LineSplitter({ limit: LONGEST_LINE, first: start, take: (line) => page.take(line) });
      if (isEarlier(path)) {
        if (lines.push(Buffer.from(await earlierText(path, context)))) lines.end();
        return page.text(path, { kind: "text", encoding: "utf-8", mark: 0 }, end);
      }
      await using file = await openFile(workspace, path);
      const form = await feedLines(file.handle, lines, {
        signal: context.signal,
        watch,
        judge: (start) => assertNoKeyFile(file.path, start, keyFiles),
      });
      const digest = await digestOfOpen(file);
      if (digest !== undefined) context.saw({ path: file.path, digest });
      if (form.kind === "binary") return await showFile(file, form.what, (brought) => context.attach(brought));
      return page.text(file.path, form, end);
    },
  });
}

async function showFile(
  { path, stats, handle }: OpenRegularFile,
  what: string,
  attach: ToolContext["attach"],
): Promise<string> {
  const facts = `${path} is ${what}, ${stats.size} bytes`;
  const head = Buffer.alloc(TELLING_BYTES);
  await handle.read(head, 0, head.length, 0);
  const media = mediaIn(head);
  if (!media) {
    throw new WorkspaceError("content", `${facts}; only text, pictures (PNG, JPEG, GIF, WebP) and PDF can be read.`);
  }
  if (stats.size > LARGEST_FILE) {
    throw new WorkspaceError("content", `${facts}; files of more than ${LARGEST_FILE} bytes cannot be shown.`);
  }
  const bytes = Buffer.alloc(stats.size);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  attach({ mediaType: media.mediaType, name: path, data: bytes.toString("base64", 0, bytesRead) });
  return `${facts}.`;
}

class ReadPage {
  readonly #start: number;
  readonly #last: number;
  readonly #lines: string[] = [];
  #bytes = 0;
  #isValid = true;
  #hasControls = false;
  #next: number | undefined;

  constructor(start: number, last: number) {
    this.#start = start;
    this.#last = last;
  }

  take(line: FileLine): boolean {
    const raw = line.bytes.toString("utf8");
    const plain = showControls(raw);
    const cut = line.dropped === 0 ? "" : ` [... ${line.dropped} more bytes in this line]`;
    const text = `${line.number}\t${plain}${cut}\n`;
    const bytes = Buffer.byteLength(text);
    if (line.number > this.#last || this.#bytes + bytes > MOST_BYTES) {
      this.#next = line.number;
      return false;
    }
    if (plain !== raw) this.#hasControls = true;
    if (!isUtf8(line.bytes)) this.#isValid = false;
    this.#lines.push(text);
    this.#bytes += bytes;
    return true;
  }

  text(path: string, form: FileForm & { kind: "text" }, end: number | undefined): string {
    if (this.#lines.length === 0) {
      if (this.#start === 1) return `[${path} is empty]`;
      throw new WorkspaceError("range", `${path} ends before line ${this.#start}. Read it with a smaller start.`);
    }
    const notes: string[] = [];
    if (form.encoding !== "utf-8")
      notes.push(`[${path} is ${form.encoding.toUpperCase()}, shown as text; edit and write keep the encoding]`);
    if (!this.#isValid) notes.push("[some bytes are not UTF-8 and are shown as \ufffd; edit cannot change this file]");
    if (this.#hasControls) notes.push("[control characters are shown as pictures, such as \u241b for escape]");
    if (this.#next !== undefined && (end === undefined || this.#next <= end)) {
      notes.push(`[${path} goes on; read on with start=${this.#next}]`);
    }
    return this.#lines.join("") + notes.map((note) => `${note}\n`).join("");
  }
}
