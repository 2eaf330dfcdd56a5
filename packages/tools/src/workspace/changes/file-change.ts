import { isUtf8 } from "node:buffer";
import type { FileChange } from "@banyan/core/conversation";
import { contentDigest } from "../files/backups.ts";
import { detectFileForm, SNIFFED_BYTES } from "../files/file-text.ts";
import { countLines } from "../files/text-content.ts";
import { type LineDiff, lineDiff } from "./line-diff.ts";
import { boundedDiff } from "./unified-diff.ts";

/** The content of a file. See {@link fileContent}. */
export interface FileContent {
  /** The SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
  /** The text of the file. Absent if the file is not text. */
  readonly text?: string;
}

/**
 * Returns the digest of a file's bytes, and their text if the file is text.
 * @example const { text } = fileContent(Buffer.from("oak\n")); // "oak\n"
 */
export function fileContent(bytes: Buffer): FileContent {
  const digest = contentDigest(bytes);
  const form = detectFileForm(bytes.subarray(0, SNIFFED_BYTES));
  if (form.kind === "binary" || form.encoding !== "utf-8" || !isUtf8(bytes)) return { digest };
  return { digest, text: bytes.toString("utf8") };
}

/**
 * Describes how a file's content changed. Undefined stands for no file. If only the mode changed, both contents are
 * equal. `most`: the limit of the stored diff in bytes.
 * @example
 * const { added, removed } = fileChange("a.txt", fileContent(Buffer.from("oak\n")), fileContent(Buffer.from("elm\n")));
 */
export function fileChange(
  path: string,
  before: FileContent | undefined,
  after: FileContent | undefined,
  {
    diff = diffOf(before, after),
    most,
    mode,
  }: {
    readonly diff?: LineDiff | undefined;
    readonly most?: number | undefined;
    readonly mode?: FileChange["mode"];
  } = {},
): FileChange {
  return {
    path,
    kind: before === undefined ? "created" : after === undefined ? "deleted" : "changed",
    before: before?.digest ?? null,
    after: after?.digest ?? null,
    added: diff?.added ?? lineCount(after),
    removed: diff?.removed ?? lineCount(before),
    diff: diff === undefined ? "" : boundedDiff(path, diff, most),
    ...(mode && { mode }),
  };
}

function diffOf(before: FileContent | undefined, after: FileContent | undefined) {
  const [old, now] = [before, after].map((content) => (content === undefined ? "" : content.text));
  return old === undefined || now === undefined ? undefined : lineDiff(old, now);
}

function lineCount(content: FileContent | undefined): number {
  return content?.text === undefined ? 0 : countLines(content.text);
}
