import type { UserPart } from "@banyan/core/conversation";
import { enclosed, formatBytes } from "@banyan/core/shown";
import { LARGEST_FILES } from "@banyan/protocol";
import { useState } from "react";
import { useKnownModels, useUsualModel } from "../conversation/use-models.ts";
import { t } from "../phrases/phrases.ts";

/** A file that goes along with the next message. */
export interface Attachment {
  /** Tells two of one name apart. */
  readonly key: number;
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
  /** That the model may refuse them. */
  readonly warning: string | undefined;
  add(files: Iterable<File>): void;
  remove(attachment: Attachment): void;
  clear(): void;
}

let keys = 0;

/** The files that a person pastes, drops or chooses, read as they come (W66); for the model that was chosen here, or the usual one. */
export function useAttachments(chosen: string | undefined): Attachments {
  const [all, setAll] = useState<readonly Attachment[]>([]);
  const usual = useUsualModel();
  const model = chosen ?? usual ?? "";
  const hasPictures = all.some(({ mediaType }) => isPicture(mediaType));
  const known = useKnownModels(hasPictures ? model : "");
  const isBlind = known.some(({ name, sees }) => sees === false && (name === model || model.startsWith(`${name}:`)));
  const [problem, setProblem] = useState<string>();
  const take = async (files: readonly File[]) => {
    const read = await Promise.all(files.map((file) => attachmentOf(file)));
    setAll((before) => {
      let taken = before;
      for (const attachment of read) {
        const why = typeof attachment === "string" ? attachment : tooMuch(taken, attachment);
        if (why !== undefined) setProblem(why);
        else if (typeof attachment !== "string") taken = [...taken, attachment];
      }
      return taken;
    });
  };
  return {
    all,
    problem,
    warning: isBlind
      ? t("As far as its name tells, {model} sees no pictures, and may refuse them.", { model })
      : undefined,
    add(files) {
      setProblem(undefined);
      take([...files]).catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
    },
    remove(attachment) {
      setProblem(undefined);
      setAll((before) => before.filter((other) => other !== attachment));
    },
    clear() {
      setProblem(undefined);
      setAll([]);
    },
  };
}

function tooMuch(before: readonly Attachment[], { name, size }: Attachment): string | undefined {
  if (before.length >= MOST_FILES)
    return t("{name} does not go along: a message takes at most {most} files.", { name, most: MOST_FILES });
  const sum = before.reduce((bytes, other) => bytes + other.size, size);
  return sum > LARGEST_FILES
    ? t("{name} does not go along: all files of a message together have at most {most}.", {
        name,
        most: formatBytes(LARGEST_FILES),
      })
    : undefined;
}

/** What becomes of a file; a sentence where nothing can. A text goes as text, which every model reads. */
async function attachmentOf(file: File): Promise<Attachment | string> {
  const { name, size, type } = file;
  if (size > LARGEST_FILES)
    return t("{name} does not go along: it has {size}, and a message takes at most {most}.", {
      name,
      size: formatBytes(size),
      most: formatBytes(LARGEST_FILES),
    });
  const about = { key: keys++, name, size };
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (PICTURES.has(type) || type === "application/pdf") {
    return { ...about, mediaType: type, part: { type: "file", mediaType: type, name, data: base64Of(bytes) } };
  }
  const text = textIn(bytes);
  if (text === undefined)
    return t(
      "{name} does not go along: pictures (PNG, JPEG, GIF, WebP), PDFs and texts do, and this is none of them.",
      { name },
    );
  return {
    ...about,
    mediaType: "text/plain",
    part: { type: "text", text: enclosed("file", text, ` name=${JSON.stringify(name)}`) },
  };
}

/** Bytes as text; nothing when they are none. */
function textIn(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    // It is no UTF-8.
    return undefined;
  }
}

/** Bytes at once that the arguments of a call hold. */
const PIECE = 0x8000;

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
