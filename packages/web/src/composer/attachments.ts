import { createId, type UserPart } from "@banyan/core/conversation";
import { attachedText, enclosed, formatBytes } from "@banyan/core/shown";
import { LARGEST_FILES } from "@banyan/protocol";
import { useState } from "react";
import { writtenIn } from "../connection/unsent.ts";
import { useKnownModels, useUsualModel } from "../conversation/use-models.ts";
import { t } from "../phrases/phrases.ts";

/** A file that goes along with the next message, or a text that was pasted. */
export interface Attachment {
  /** Tells two of one name apart. */
  readonly key: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  readonly part: UserPart;
}

/** Pictures that models see, and browsers show. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** What the chooser of files offers first. */
export const ACCEPTED = [...PICTURES, "application/pdf", "text/*", ".md", ".json", ".ts", ".tsx", ".py", ".log"].join(
  ",",
);

/** Files of a message. */
const MOST_FILES = 20;

/** Whether it is a picture that a browser shows without running anything. */
export function isPicture(mediaType: string): boolean {
  return PICTURES.has(mediaType);
}

/** The files that go along with the next message, and why the last one that was given does not. */
export interface Attachments {
  readonly all: readonly Attachment[];
  readonly problem: string | undefined;
  /** That the model may refuse them, or that a reload loses them. */
  readonly warning: string | undefined;
  add(files: Iterable<File>): void;
  /** A long text that was pasted goes along as a file (W92). */
  addText(text: string): void;
  /** Changes the text of one. */
  edit(attachment: Attachment, text: string): void;
  remove(attachment: Attachment): void;
  clear(): void;
}

/** The attachments of a message, how they are changed, and whether they survive a reload. */
type AttachmentsState = readonly [
  readonly Attachment[],
  (change: (before: readonly Attachment[]) => readonly Attachment[]) => void,
  isKept?: boolean,
];

/** The files that a person pastes, drops or chooses, read as they come (W66); for the model that was chosen here, or the usual one. */
export function useAttachments(
  chosen: string | undefined,
  [all, setAll, isKept = true]: AttachmentsState,
): Attachments {
  const usual = useUsualModel();
  const model = chosen ?? usual ?? "";
  const hasPictures = all.some(({ mediaType }) => isPicture(mediaType));
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
      take([...files]).catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
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

/** What becomes of a file; a sentence where nothing can. A text goes as text, which every model reads. */
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
  const text = decoded(bytes);
  if (text === undefined) return t("Can't attach {name}: images (PNG, JPEG, GIF, WebP), PDF and text only", { name });
  return textAttachment(name, text);
}

function textAttachment(name: string, text: string): Attachment {
  return attachmentFrom({ type: "text", text: enclosed("file", text, ` name=${JSON.stringify(name)}`) });
}

/** The files of a message, as attachments of another message. */
export function attachmentFrom(part: UserPart): Attachment {
  const key = createId();
  if (part.type === "file") {
    const { name, mediaType, data = "" } = part;
    return { key, name: name ?? mediaType, mediaType, size: Math.floor(data.length * BYTES), part };
  }
  const { name = t("Text"), content = part.text } = attachedText(part.text) ?? {};
  return { key, name, mediaType: "text/plain", size: new TextEncoder().encode(content).length, part };
}

/** A message in a line: what was typed, and the names of what goes along. */
export function messageInWords(said: Parameters<typeof writtenIn>[0]): string {
  const { text, rest } = writtenIn(said);
  return [text, ...rest.map((part) => attachmentFrom(part).name)].filter((each) => each !== "").join(" · ");
}

/** The text of an attachment that can be changed. */
export function textIn({ part }: Attachment): string | undefined {
  return part.type === "text" ? attachedText(part.text)?.content : undefined;
}

/** Bytes as text, in UTF-8 or with a byte-order mark in UTF-16; nothing when they are none. */
function decoded(bytes: Uint8Array<ArrayBuffer>): string | undefined {
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

/** Bytes for each character of base 64. */
export const BYTES = 3 / 4;

/** Bytes at once that the arguments of a call hold. */
const PIECE = 0x8000;

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
