import { formatBytes } from "@banyan/client/words";
import type { UserPart } from "@banyan/core";
import { base64Size, type FilePart } from "@banyan/core/conversation";
import { attachedText } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { plainLine } from "./plain-text.ts";

/** Attachments of a message that the user wrote, and problems with them. */
export interface AttachmentReport {
  readonly attached: Result<"turn.say">["attached"];
  readonly problems: readonly string[];
  readonly isRedacted: boolean;
}

const MOST = 5;

/**
 * Describes the attachments of a message, and problems. `offered`: names in the message to which the user could add an
 * `@`.
 */
export function attachedLines(
  { attached, problems, isRedacted }: AttachmentReport,
  offered: readonly string[] = [],
): string[] {
  return [
    ...(isRedacted ? ["Part of your message looked like a secret and was removed."] : []),
    ...attachedLine(attached),
    ...problems.map(plainLine),
    ...offered.map((name) => plainLine(`${name} is not attached. @${name} attaches the file.`)),
  ];
}

/** Lists attachments on one line. Empty without attachments. */
export function attachedLine(attached: AttachmentReport["attached"]): string[] {
  if (attached.length === 0) return [];
  const named = attached.slice(0, attached.length === MOST + 1 ? undefined : MOST);
  const others = attached.slice(named.length);
  const sizes = named.map(({ name, kind, size }) => `${plainLine(name)} (${kind}, ${formatBytes(size)})`);
  const more = `${others.length} more (${formatBytes(others.reduce((sum, { size }) => sum + size, 0))})`;
  return [`Attached: ${[...sizes, ...(others.length > 0 ? [more] : [])].join(", ")}`];
}

/** Lists the attachments of a message: the parts after its text. */
export function attachmentsOfMessage(parts: readonly UserPart[]): AttachmentReport["attached"] {
  return parts.slice(1).flatMap((part) => {
    if (part.type === "file") return [attachedFile(part)];
    const attached = attachedText(part.text);
    const kind = KINDS[attached?.kind ?? ""];
    return attached && kind !== undefined
      ? [{ name: attached.name, kind, size: Buffer.byteLength(attached.content) }]
      : [];
  });
}

/** Describes a file as an attachment: name, type and size in bytes. */
export function attachedFile({
  mediaType,
  name = mediaType,
  data = "",
}: FilePart): AttachmentReport["attached"][number] {
  const kind = mediaType === "application/pdf" ? "PDF" : (mediaType.split("/")[0] ?? "file");
  return { name, kind, size: base64Size(data) };
}

const KINDS: Readonly<Record<string, string>> = {
  file: "text",
  folder: "folder",
  page: "page",
  resource: "resource",
  diff: "diff",
};

/** Finds names in a message that could be attached but have no `@`: URLs, and file patterns (T15). */
export function attachableIn(text: string): string[] {
  const words = text.split(/\s+/).map((word) => word.replace(/[.,;:!?)]+$/, ""));
  return [...new Set(words)].filter((word) => /^https?:\/\/./.test(word) || isPatternWord(word));
}

/** Returns the attachable name at the end of a text that the user is typing. */
export function attachableAtEnd(text: string): string | undefined {
  const word = text.split(/\s/).at(-1) ?? "";
  return attachableIn(word)[0];
}

/** Returns whether a word is a pattern such as `src/*.ts` or `*.md`, unlike `**emphasis**` or `2*3`. */
function isPatternWord(word: string): boolean {
  return /^[\w.~/*{},-]+$/.test(word) && word.includes("*") && /[./]/.test(word) && !/^\*+[^*]+\*+$/.test(word);
}
