import { type Message, textOf } from "@banyan/core/conversation";
import { lexer, type Token, walkTokens } from "marked";

/** What a block of code is, where it is more than code. */
export type ArtifactKind = "html" | "svg" | "mermaid" | "markdown";

/** Something that an answer holds and that can be looked at by itself (W61). */
export interface Artifact {
  readonly kind: ArtifactKind;
  /** What it calls itself; empty when it does not. */
  readonly name: string;
  readonly text: string;
}

/** Lines from which on a block of Markdown is a text by itself. */
const LONG = 12;

const LANGUAGES: Readonly<Record<string, ArtifactKind>> = {
  html: "html",
  htm: "html",
  xhtml: "html",
  svg: "svg",
  mermaid: "mermaid",
  markdown: "markdown",
  md: "markdown",
};

/** What a block of code is, by its language and how it begins; nothing when it is only code. */
export function artifactOf(language: string, text: string): Artifact | undefined {
  const beginsAsSvg = /^\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)?<svg[\s>]/i.test(text);
  const named = LANGUAGES[language.toLowerCase()];
  const kind = beginsAsSvg && (named === "html" || language.toLowerCase() === "xml") ? "svg" : named;
  if (kind === undefined || text.trim() === "") return undefined;
  if (kind === "markdown" && text.split("\n").length < LONG) return undefined;
  return { kind, name: nameIn(kind, text), text };
}

function nameIn(kind: ArtifactKind, text: string): string {
  const [, name = ""] =
    kind === "markdown"
      ? (/^#{1,3}\s+(.+?)\s*#*$/m.exec(text) ?? [])
      : kind === "mermaid"
        ? (/^title:?\s+(.+)$/m.exec(text) ?? [])
        : (/<title[^>]*>([^<]{1,200})<\/title>/i.exec(text) ?? []);
  return name.replace(/\s+/g, " ").trim().slice(0, 100);
}

/** What the answers of a branch hold, in order: whole blocks only, for of those that still come the next letter may change all. */
export function artifactsOf(path: readonly Message[]): readonly Artifact[] {
  return path.flatMap((message) => {
    if (message.role !== "assistant") return [];
    const known = read.get(message);
    const text = textOf(message);
    if (known?.text === text) return known.found;
    const found = artifactsIn(text);
    read.set(message, { text, found });
    return found;
  });
}

/** Messages that were read already, each with its text then: one that streams has another one later. */
const read = new WeakMap<Message, { readonly text: string; readonly found: readonly Artifact[] }>();

function artifactsIn(text: string): Artifact[] {
  const found: Artifact[] = [];
  if (!/(```|~~~)/.test(text)) return found;
  // biome-ignore lint/nursery/noFloatingPromises: it answers what its function answers, and that makes no promise.
  walkTokens(lexer(text), (token: Token) => {
    if (token.type !== "code" || !/\n[ \t>]*(```|~~~)[`~]*\s*$/.test(token.raw)) return;
    const artifact = artifactOf(languageOf(token.lang ?? ""), token.text);
    if (artifact) found.push(artifact);
  });
  return found;
}

function languageOf(info: string): string {
  return info.trim().split(/[\s{]/, 1)[0] ?? "";
}

/**
 * The versions of a thing along a branch: those of its kind that have its name, or, where one of both has none, are of its kind
 * alone (W61). With its own place among them, the last where it came twice.
 */
export function versionsOf(
  artifact: Artifact,
  all: readonly Artifact[],
): { readonly versions: readonly Artifact[]; readonly at: number } {
  const versions = all.filter(
    ({ kind, name }) => kind === artifact.kind && (name === artifact.name || name === "" || artifact.name === ""),
  );
  const at = versions.findLastIndex(({ text }) => text === artifact.text);
  // One that is shown before its message is whole is the newest.
  return at < 0 ? { versions: [...versions, artifact], at: versions.length } : { versions, at };
}

/** Under what name a file is kept. */
export function fileNameOf({ kind, name }: Artifact): string {
  const plain =
    name
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-|-$/g, "") || kind;
  return `${plain}.${ENDINGS[kind]}`;
}

const ENDINGS: Readonly<Record<ArtifactKind, string>> = { html: "html", svg: "svg", mermaid: "mmd", markdown: "md" };
