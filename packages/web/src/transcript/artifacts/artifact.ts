import { type Message, textOf } from "@banyan/core/conversation";
import { type Token, walkTokens } from "marked";
import { markdownTokens } from "../markdown/markdown-blocks.ts";

/** The kinds of code blocks that can be opened as an artifact. */
export type ArtifactKind = "html" | "svg" | "mermaid" | "markdown";

/** A part of an answer that the user can open in a panel, such as a page, a diagram or a long text (W61). */
export interface Artifact {
  readonly kind: ArtifactKind;
  readonly name: string;
  readonly text: string;
}

/** Minimum number of lines of a Markdown block that counts as a text of its own. */
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

/** Returns the artifact in a code block, by its language and beginning; `undefined` for plain code. */
export function artifactOf(language: string, text: string): Artifact | undefined {
  const beginsAsSvg = /^\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)?<svg[\s>]/i.test(text);
  const named = LANGUAGES[language.toLowerCase()];
  const kind = beginsAsSvg && (named === "html" || language.toLowerCase() === "xml") ? "svg" : named;
  if (kind === undefined || text.trim() === "") return undefined;
  if (kind === "markdown" && text.split("\n").length < LONG) return undefined;
  return { kind, name: artifactName(kind, text), text };
}

function artifactName(kind: ArtifactKind, text: string): string {
  const [, name = ""] =
    kind === "markdown"
      ? (/^#{1,3}\s+(.+?)\s*#*$/m.exec(text) ?? [])
      : kind === "mermaid"
        ? (/^title:?\s+(.+)$/m.exec(text) ?? [])
        : (/<title[^>]*>([^<]{1,200})<\/title>/i.exec(text) ?? []);
  return name.replace(/\s+/g, " ").trim().slice(0, 100);
}

/**
 * Returns the artifacts of a branch, in order. Unfinished blocks are left out, because the next characters may change
 * their kind.
 */
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

/** Artifacts of messages that were already parsed, with the text at that time: a streaming message changes later. */
const read = new WeakMap<Message, { readonly text: string; readonly found: readonly Artifact[] }>();

function artifactsIn(text: string): Artifact[] {
  const found: Artifact[] = [];
  if (!/(```|~~~)/.test(text)) return found;
  // biome-ignore lint/nursery/noFloatingPromises: `walkTokens` returns a promise only if its callback does.
  walkTokens(markdownTokens(text), (token: Token) => {
    if (token.type !== "code" || !/\n[ \t>]*(```|~~~)[`~]*\s*$/.test(token.raw)) return;
    const artifact = artifactOf((token.lang ?? "").trim().split(/[\s{]/, 1)[0] ?? "", token.text);
    if (artifact) found.push(artifact);
  });
  return found;
}

/**
 * Returns the versions of an artifact along a branch: artifacts of the same kind and name. If one of two artifacts has
 * no name, the same kind is enough (W61). `at`: the index of the artifact itself, the last if its text occurs twice.
 */
export function versionsOf(
  artifact: Artifact,
  all: readonly Artifact[],
): { readonly versions: readonly Artifact[]; readonly at: number } {
  const versions = all.filter(
    ({ kind, name }) => kind === artifact.kind && (name === artifact.name || name === "" || artifact.name === ""),
  );
  const at = versions.findLastIndex(({ text }) => text === artifact.text);
  return at < 0 ? { versions: [...versions, artifact], at: versions.length } : { versions, at };
}

export function artifactFileName({ kind, name }: Artifact): string {
  const plain =
    name
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-|-$/g, "") || kind;
  return `${plain}.${ENDINGS[kind]}`;
}

const ENDINGS: Readonly<Record<ArtifactKind, string>> = { html: "html", svg: "svg", mermaid: "mmd", markdown: "md" };
