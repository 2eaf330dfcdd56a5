import { posix } from "node:path";
import { meantPath, type PathBase } from "../files/named-path.ts";

/** How a block of a message becomes part of a file. */
export type Mode = "lines" | "complete" | "symbol";

/** A file that blocks may be addressed to. */
export interface Addressee {
  /** From the root of the workspace. */
  readonly path: string;
  /** What else it may be called: the path as it was given, the absolute path. */
  readonly aliases: readonly string[];
  /** What a path in an address is read from; without it, such a path is taken as it is. */
  readonly base?: PathBase;
  readonly mode: Mode;
}

/** Where in its file a block belongs. */
export type Place =
  /** Lines counted from 1; `end` is the first one behind them. Where both are the same, the block is inserted before `start`. */
  | { readonly type: "lines"; readonly start: number; readonly end: number }
  /** The whole file. */
  | { readonly type: "complete" }
  | { readonly type: "symbol"; readonly symbol: string; readonly act: "replace" | "before" | "after" | "remove" };

/**
 * What the info string of a fence says. `none`: nothing, the fence is for the reader. `wrong`: it was meant as an
 * address and is none; `file` is the one that it concerns, where that is beyond doubt.
 */
export type Address<File extends Addressee> =
  | { readonly type: "none" }
  | { readonly type: "place"; readonly file: File; readonly place: Place }
  | { readonly type: "wrong"; readonly file?: File; readonly why: string };

const PATH = /(?:^|\s)path=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))/;
const LINES = /^(\d+):(\d+)$/;
const ACT = /:(before|after|remove)$/;

/**
 * Reads the info string of a fence as an address to one of the files (B27, B29): `lang:START:END`, `lang` and
 * `lang:Symbol[:before|:after|:remove]`, with the path before the place (`lang:path:START:END`) or apart from it
 * (`lang:START:END path=...`), which is needed when there are several files. The first word counts, and a path with blanks that is
 * one of the files; a colon in the first word or a `path=` makes an address of it. A path is never guessed.
 */
export function parseAddress<File extends Addressee>(info: string, files: readonly File[]): Address<File> {
  const named = PATH.exec(info);
  const [word = ""] = info.replace(PATH, " ").trim().split(/\s+/);
  const colon = word.indexOf(":");
  if (colon < 0 && named === null) return { type: "none" };
  const rest = colon < 0 ? undefined : word.slice(colon + 1);

  if (named !== null) {
    const path = named[1] ?? named[2] ?? named[3] ?? "";
    // As it stands, as a path on Windows does, or else with the escapes of JSON.
    const file = files.find((other) => names(other, path)) ?? files.find((other) => names(other, unescaped(path)));
    return file === undefined ? notArmed(path) : placeIn(file, rest);
  }
  const found = leadingPath(rest ?? "", files) ?? leadingPath(info.slice(info.indexOf(":") + 1).trim(), files);
  if (found !== undefined) return placeIn(found.file, found.rest?.split(/\s/, 1)[0]);
  const [, other] = /^(.+):\d+:\d+$/.exec(rest ?? "") ?? [];
  if (other !== undefined) return notArmed(other);
  const [only] = files;
  if (only === undefined || files.length > 1)
    return { type: "wrong", why: `does not say which file it is for (${listed(files)})` };
  return only.mode === "complete" && rest ? notArmed(rest) : placeIn(only, rest || undefined);
}

/** The form of an address to a file, with a place in it: for instructions and errors. */
export function formatAddress(file: Addressee, language: string, place: string, isOneOfSeveral: boolean): string {
  const address = place === "" ? language : `${language}:${place}`;
  if (!isOneOfSeveral) return address;
  if (!/^[^\s:"'\\]+$/.test(file.path)) return `${address} path=${JSON.stringify(file.path)}`;
  return place === "" ? `${language}:${file.path}` : `${language}:${file.path}:${place}`;
}

/** A text in which the escapes of JSON are read; as it is when they are none. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function placeIn<File extends Addressee>(file: File, rest: string | undefined): Address<File> {
  const { path, mode } = file;
  switch (mode) {
    case "complete":
      if (rest === undefined) return { type: "place", file, place: { type: "complete" } };
      return { type: "wrong", file, why: `names a part of ${path}, but in mode complete one block is the whole file` };
    case "lines": {
      const [, start, end] = LINES.exec(rest ?? "") ?? [];
      if (start === undefined || end === undefined)
        return { type: "wrong", file, why: "does not say which lines it replaces; write them as START:END" };
      return { type: "place", file, place: { type: "lines", start: Number(start), end: Number(end) } };
    }
    case "symbol": {
      const [suffix = "", act = "replace"] = ACT.exec(rest ?? "") ?? [];
      const symbol = (rest ?? "").slice(0, (rest ?? "").length - suffix.length);
      if (symbol === "") return { type: "wrong", file, why: "does not say which symbol it replaces" };
      return { type: "place", file, place: { type: "symbol", symbol, act: act as "replace" } };
    }
  }
}

/** The file that a text begins with the path of, and what follows behind a colon. The longest path counts. */
function leadingPath<File extends Addressee>(
  text: string,
  files: readonly File[],
): { readonly file: File; readonly rest: string | undefined } | undefined {
  for (let end = text.length; end > 0; end = text.lastIndexOf(":", end - 1)) {
    const file = files.find((other) => names(other, text.slice(0, end)));
    if (file !== undefined) return { file, rest: end === text.length ? undefined : text.slice(end + 1) };
  }
  return undefined;
}

function names(file: Addressee, path: string): boolean {
  if (path === "") return false;
  const wanted = [path, meaningOf(path, file.base)].map((each) => posix.normalize(each));
  return [file.path, ...file.aliases].some((name) => wanted.includes(posix.normalize(name)));
}

/** The path that an address means (S35). */
function meaningOf(path: string, base: PathBase | undefined): string {
  try {
    return base === undefined ? path : meantPath(path, base);
  } catch {
    // It names no file of this machine, and so none that is armed.
    return path;
  }
}

function notArmed(path: string): Address<never> {
  return { type: "wrong", why: `is for ${path}, and edit_mode was not called for that file` };
}

function listed(files: readonly Addressee[]): string {
  return files.map(({ path }) => path).join(", ");
}
