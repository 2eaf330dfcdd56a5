import { formatBytes } from "@banyan/client/words";
import { createId, type UserPart } from "@banyan/core/conversation";
import { attachedText, encloseInTags, errorMessage } from "@banyan/core/shown";
import { LARGEST_FILES } from "@banyan/protocol";
import { useState } from "react";
import { writtenIn } from "../parts/connection/unsent-message.ts";
import { useKnownModels, useUsualModel } from "../parts/conversation/use-models.ts";
import { t } from "../parts/phrases/phrases.ts";

/** A file or pasted text that is sent with the next message. */
export interface Attachment {
  /** A unique key, because names may repeat. */
  readonly key: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly part: UserPart;
}

const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The types that the file chooser offers first. */
export const ACCEPTED = [...PICTURES, "application/pdf", "text/*", ".md", ".json", ".ts", ".tsx", ".py", ".log"].join(
  ",",
);

const MOST_FILES = 20;

/** Returns whether a browser shows this image without running code. */
export function isBrowserPicture(mediaType: string): boolean {
  return PICTURES.has(mediaType);
}

/** The attachments of the next message, and why the last file was rejected. */
export interface ComposerAttachments {
  readonly all: readonly Attachment[];
  readonly problem: string | undefined;
  readonly warning: string | undefined;
  add(files: Iterable<File>): void;
  addText(text: string): void;
  edit(attachment: Attachment, text: string): void;
  remove(attachment: Attachment): void;
  clear(): void;
}

type AttachmentsState = readonly [
  readonly Attachment[],
  (change: (before: readonly Attachment[]) => readonly Attachment[]) => void,
  isKept?: boolean,
];

/** Reads the files that a user pastes, drops or chooses (W66). `chosen` is the message's model, if not the default. */
export function useAttachments(
  chosen: string | undefined,
  [all, setAll, isKept = true]: AttachmentsState,
): ComposerAttachments {
  const usual = useUsualModel();
  const model = chosen ?? usual ?? "";
  const hasPictures = all.some(({ mediaType }) => isBrowserPicture(mediaType));
  const known = useKnownModels(hasPictures ? model : "");
  const isBlind = known.some(({ name, sees }) => sees === false && (name === model || model.startsWith(`${name}:`)));
  const [problem, setProblem] = useState<string>();
  const put = (read: readonly (Attachment | string)[]) =>
    setAll((before) => {
      let taken = before;
      for (const attachment of read) {
        const why = typeof attachment === "string" ? attachment : tooMuch(taken, attachment);
        if (why !== undefined) setProblem(why);
        else if (typeof attachment !== "string") taken = [...taken, attachment];
      }
      return taken;
    });
  const warnings = [
    isBlind ? t("{model} may not read images.", { model }) : "",
    isKept
      ? ""
      : t("The browser cannot keep files of this size. Send the message before you reload or close the page."),
  ];
  const take = async (files: readonly File[]) => put(await Promise.all(files.map((file) => attachmentOf(file))));
  return {
    all,
    problem,
    warning: warnings.join(" ").trim() || undefined,
    add(files) {
      setProblem(undefined);
      take([...files]).catch((error: unknown) => setProblem(errorMessage(error)));
    },
    addText(text) {
      setProblem(undefined);
      put([textAttachment(t("Pasted text"), text)]);
    },
    edit({ key, name }, text) {
      setAll((before) => before.map((other) => (other.key === key ? { ...textAttachment(name, text), key } : other)));
    },
    remove({ key }) {
      setProblem(undefined);
      setAll((before) => before.filter((other) => other.key !== key));
    },
    clear() {
      setProblem(undefined);
      setAll(() => []);
    },
  };
}

function tooMuch(before: readonly Attachment[], { name, size }: Attachment): string | undefined {
  if (before.length >= MOST_FILES)
    return t("Can't attach {name}: at most {most} files per message", { name, most: MOST_FILES });
  const sum = before.reduce((bytes, other) => bytes + other.size, size);
  return sum > LARGEST_FILES
    ? t("Can't attach {name}: at most {most} for all files of a message", {
        name,
        most: formatBytes(LARGEST_FILES),
      })
    : undefined;
}

/** Converts a file into an attachment, or returns why that is impossible. Text files become text, which every model reads. */
async function attachmentOf(file: File): Promise<Attachment | string> {
  const { name, size, type } = file;
  if (size > LARGEST_FILES)
    return t("Can't attach {name}: {size} is over the limit of {most}", {
      name,
      size: formatBytes(size),
      most: formatBytes(LARGEST_FILES),
    });
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (PICTURES.has(type) || type === "application/pdf") {
    return attachmentFrom({ type: "file", mediaType: type, name, data: base64Of(bytes) });
  }
  const text = decodeTextFile(bytes);
  if (text === undefined) return t("Can't attach {name}: images (PNG, JPEG, GIF, WebP), PDF and text only", { name });
  return textAttachment(name, text);
}

function textAttachment(name: string, text: string): Attachment {
  return attachmentFrom({ type: "text", text: encloseInTags("file", text, ` name=${JSON.stringify(name)}`) });
}

/** Converts a file of a message into an attachment of another message. */
export function attachmentFrom(part: UserPart): Attachment {
  const key = createId();
  if (part.type === "file") {
    const { name, mediaType, data = "" } = part;
    return { key, name: name ?? mediaType, mediaType, size: Math.floor(data.length * BYTES), part };
  }
  const { name = t("Text"), content = part.text } = attachedText(part.text) ?? {};
  return { key, name, mediaType: "text/plain", size: new TextEncoder().encode(content).length, part };
}

/** Returns a message on one line: the typed text and the names of its attachments. */
export function messageInWords(said: Parameters<typeof writtenIn>[0]): string {
  const { text, rest } = writtenIn(said);
  return [text, ...rest.map((part) => attachmentFrom(part).name)].filter((each) => each !== "").join(" · ");
}

/** Returns the editable text of an attachment. */
export function attachmentText({ part }: Attachment): string | undefined {
  return part.type === "text" ? attachedText(part.text)?.content : undefined;
}

/** Decodes UTF-8, or UTF-16 with a byte-order mark; `undefined` for other bytes. */
function decodeTextFile(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  const mark = `${bytes[0]} ${bytes[1]}`;
  const encoding = mark === "255 254" ? "utf-16le" : mark === "254 255" ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    // The bytes are not in that encoding.
    return undefined;
  }
}

/** Bytes per base64 character. */
export const BYTES = 3 / 4;

const PIECE = 0x8000;

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
