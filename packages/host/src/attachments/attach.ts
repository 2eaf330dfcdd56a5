import { type Reference, referencesIn } from "@banyan/client/words";
import type { UserPart } from "@banyan/core";
import type { FilePart, TextPart } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";
import { adviceOnPath } from "@banyan/tools/named-path";
import {
  type AttachmentKind,
  type AttachmentReadOptions,
  attachedTextPart,
  type FileAttachment,
  readNamed,
} from "./files.ts";
import { type FileReach, findNamedFile, isRefusedFile, type NamedFile } from "./named-file.ts";
import { isFilePattern, matchingFiles } from "./patterns.ts";

/** An attachment of a message, for display. */
export interface AttachmentSummary {
  /** The name as the user typed it. */
  readonly name: string;
  readonly kind: AttachmentKind;
  /** Bytes of the content for the model. */
  readonly size: number;
}

/** A user message with the attachments that its text names. */
export interface MessageWithAttachments {
  /** The parts of the message: the text, then the attachments. */
  readonly parts: readonly UserPart[];
  readonly attached: readonly AttachmentSummary[];
  /** One sentence for each named file that is not attached. Each sentence has the reason. */
  readonly problems: readonly string[];
}

/** The files that a message can name, and functions that read other sources. */
export interface AttachOptions extends FileReach {
  readonly signal?: AbortSignal;
  /** Removes secrets from attachments. Default: removes none. */
  readonly redact?: (text: string) => string;
  /** Patterns of files to attach although they contain private keys (S22). */
  readonly keyFiles?: readonly string[];
  /** Reads a web page. Absent: web pages are not attached. */
  readonly readPage?: (url: string, signal?: AbortSignal) => Promise<string>;
  /** Reads a resource of an MCP server by `server:uri`; undefined if no server has that name. */
  readonly readResource?: (name: string, signal?: AbortSignal) => Promise<string | undefined>;
  /** Reads a git diff: `@diff`, or `@diff:main` with a commit or branch. */
  readonly readDiff?: (of: string | undefined, signal?: AbortSignal) => Promise<string>;
}

const OPTIONS: OptionNames<AttachOptions> = {
  folder: true,
  outside: true,
  whyNotRead: true,
  signal: true,
  redact: true,
  keyFiles: true,
  readPage: true,
  readResource: true,
  readDiff: true,
};

/**
 * Attaches the files and other sources that a message names with `@` (B46), and reads nothing else. An unknown name
 * stays text. If it looks like a path, the result reports a problem. Rejects only if aborted.
 */
export async function attachNamedFiles(text: string, options: AttachOptions): Promise<MessageWithAttachments> {
  refuseUnknown("attachNamedFiles", options, OPTIONS);
  const parts: UserPart[] = text === "" ? [] : [{ type: "text", text }];
  const attached: AttachmentSummary[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const reference of referencesIn(text)) {
    options.signal?.throwIfAborted();
    if (seen.has(reference.name)) continue;
    seen.add(reference.name);
    const found = await readNamedFile(reference, options);
    if (found === undefined) continue;
    if (typeof found === "string") {
      problems.push(found);
      continue;
    }
    parts.push(...found.parts);
    attached.push({ name: reference.name, kind: found.kind, size: found.size });
  }
  return { parts, attached, problems };
}

/** Returns an attachment, or the reason against it; undefined if the word names nothing. */
async function readNamedFile(
  { name }: Reference,
  options: AttachOptions,
): Promise<FileAttachment | string | undefined> {
  const { signal, redact = (text) => text, keyFiles, readPage, readResource, readDiff } = options;
  const reading: AttachmentReadOptions = { redact, keyFiles };
  if (/^https?:\/\//i.test(name)) {
    if (!readPage) return `Can't attach ${name}: web pages cannot be read here.`;
    return fetched(name, "page", () => readPage(name, signal), redact);
  }
  if (readResource && /^[\w.-]+:./.test(name)) {
    const resource = await fetched(name, "resource", () => readResource(name, signal), redact);
    if (resource !== undefined) return resource;
  }
  const [isDiff, of] = /^diff(?::(.+))?$/.exec(name) ?? [];
  if (readDiff && isDiff !== undefined && (await findNamedFile(name, options)) === undefined)
    return fetched(name, "diff", () => readDiff(of, signal), redact);
  if (isFilePattern(name)) {
    const named = await findNamedFile(name, options).catch(() => undefined);
    return named && !isRefusedFile(named) ? readNamed(name, named, reading) : readMatchingFiles(name, options, reading);
  }
  const named = await findNamedFile(name, options);
  if (named === undefined) return /[/\\.]/.test(name) ? missingFileSentence(name, options) : undefined;
  return isRefusedFile(named) ? `Can't attach ${name}: ${named.why}` : readNamed(name, named, reading);
}

function missingFileSentence(name: string, { folder }: FileReach): string {
  return `Can't attach ${name}: there is no such file. ${adviceOnPath(folder, name)}`.trimEnd();
}

async function fetched(
  name: string,
  kind: "page" | "resource" | "diff",
  get: () => Promise<string | undefined>,
  redact: (text: string) => string,
): Promise<FileAttachment | string | undefined> {
  try {
    const text = await get();
    if (text === undefined) return undefined;
    const said = redact(text);
    return { kind, parts: [attachedTextPart(kind, name, said)], size: Buffer.byteLength(said) };
  } catch (error) {
    return `Can't attach ${name}: ${errorMessage(error)}`;
  }
}

async function readMatchingFiles(pattern: string, reach: FileReach, reading: AttachmentReadOptions) {
  const files = await matchingFiles(pattern, reach);
  if (typeof files === "string") return files;
  const parts: (TextPart | FilePart)[] = [];
  let size = 0;
  for (const { name } of files) {
    const named: NamedFile | undefined = await findNamedFile(name, reach);
    if (named === undefined) return missingFileSentence(name, reach);
    if (isRefusedFile(named)) return `Can't attach ${name}: ${named.why}`;
    const file = await readNamed(name, named, reading);
    if (typeof file === "string") return file;
    parts.push(...file.parts);
    size += file.size;
  }
  return { kind: "files", parts, size } as const;
}
