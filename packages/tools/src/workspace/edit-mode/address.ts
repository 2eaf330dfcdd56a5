import { posix } from "node:path";
import { meantPath, type PathBase } from "../files/named-path.ts";

/** The part of a file that a code block replaces: lines, the whole file, or a symbol. */
export type EditMode = "lines" | "complete" | "symbol";

/** A file that code blocks of a message can name. */
export interface Addressee {
  readonly path: string;
  /** Other names of the file: the path as given, and the absolute path. */
  readonly aliases: readonly string[];
  /** The base of paths in addresses; absent: paths are literal. */
  readonly base?: PathBase;
  readonly mode: EditMode;
}

/** The part of a file that a code block replaces. */
export type BlockTarget =
  /** Lines from 1; `end` is exclusive. If both are equal, the block is inserted before `start`. */
  | { readonly type: "lines"; readonly start: number; readonly end: number }
  | { readonly type: "complete" }
  | { readonly type: "symbol"; readonly symbol: string; readonly act: "replace" | "before" | "after" | "remove" };

/**
 * The target that the info string of a code block names. `none`: the block names no file and is only for the reader.
 * `wrong`: the address is invalid; `file` is set if the address names a known file.
 */
export type BlockAddress<File extends Addressee> =
  | { readonly type: "none" }
  | { readonly type: "target"; readonly file: File; readonly target: BlockTarget }
  | { readonly type: "wrong"; readonly file?: File; readonly why: string };

const PATH = /(?:^|\s)path=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))/;
const LINES = /^(\d+):(\d+)$/;
const ACT = /:(before|after|remove)$/;

/**
 * Parses the info string of a code block as an address (B27, B29): `lang:START:END`, `lang` and
 * `lang:Symbol[:before|:after|:remove]`. The path is part of the address (`lang:path:START:END`) or separate
 * (`lang:START:END path=...`), and is required with several files. The address is the first word, or longer if a path
 * with blanks names a file. Only an info string with a colon in the first word or a `path=` is an address. A path is
 * never guessed.
 */
export function parseBlockAddress<File extends Addressee>(info: string, files: readonly File[]): BlockAddress<File> {
  const named = PATH.exec(info);
  const [word = ""] = info.replace(PATH, " ").trim().split(/\s+/);
  const colon = word.indexOf(":");
  if (colon < 0 && named === null) return { type: "none" };
  const rest = colon < 0 ? undefined : word.slice(colon + 1);

  if (named !== null) {
    const path = named[1] ?? named[2] ?? named[3] ?? "";
    // Literally, which includes Windows paths, or else with JSON escapes.
    const file =
      files.find((other) => namesFile(other, path)) ?? files.find((other) => namesFile(other, readEscapes(path)));
    return file === undefined ? notArmed(path) : addressInFile(file, rest);
  }
  const found = leadingPath(rest ?? "", files) ?? leadingPath(info.slice(info.indexOf(":") + 1).trim(), files);
  if (found !== undefined) return addressInFile(found.file, found.rest?.split(/\s/, 1)[0]);
  const [, other] = /^(.+):\d+:\d+$/.exec(rest ?? "") ?? [];
  if (other !== undefined) return notArmed(other);
  const [only] = files;
  if (only === undefined || files.length > 1)
    return { type: "wrong", why: `does not name its file (${files.map(({ path }) => path).join(", ")})` };
  return only.mode === "complete" && rest ? notArmed(rest) : addressInFile(only, rest || undefined);
}

/** Formats the address of a code block, for instructions and errors. */
export function formatAddress(file: Addressee, language: string, target: string, isOneOfSeveral: boolean): string {
  const address = target === "" ? language : `${language}:${target}`;
  if (!isOneOfSeveral) return address;
  if (!/^[^\s:"'\\]+$/.test(file.path)) return `${address} path=${JSON.stringify(file.path)}`;
  return target === "" ? `${language}:${file.path}` : `${language}:${file.path}:${target}`;
}

function readEscapes(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function addressInFile<File extends Addressee>(file: File, rest: string | undefined): BlockAddress<File> {
  const { path, mode } = file;
  switch (mode) {
    case "complete":
      if (rest === undefined) return { type: "target", file, target: { type: "complete" } };
      return { type: "wrong", file, why: `names a part of ${path}, but in mode complete one block is the whole file` };
    case "lines": {
      const [, start, end] = LINES.exec(rest ?? "") ?? [];
      if (start === undefined || end === undefined)
        return { type: "wrong", file, why: "does not name its lines; write them as START:END" };
      return { type: "target", file, target: { type: "lines", start: Number(start), end: Number(end) } };
    }
    case "symbol": {
      const [suffix = "", act = "replace"] = ACT.exec(rest ?? "") ?? [];
      const symbol = (rest ?? "").slice(0, (rest ?? "").length - suffix.length);
      if (symbol === "") return { type: "wrong", file, why: "does not name its symbol" };
      return { type: "target", file, target: { type: "symbol", symbol, act: act as "replace" } };
    }
  }
}

/** Finds the file whose path begins the text, and the rest after a colon. The longest path wins. */
function leadingPath<File extends Addressee>(
  text: string,
  files: readonly File[],
): { readonly file: File; readonly rest: string | undefined } | undefined {
  for (let end = text.length; end > 0; end = text.lastIndexOf(":", end - 1)) {
    const file = files.find((other) => namesFile(other, text.slice(0, end)));
    if (file !== undefined) return { file, rest: end === text.length ? undefined : text.slice(end + 1) };
  }
  return undefined;
}

function namesFile(file: Addressee, path: string): boolean {
  if (path === "") return false;
  const wanted = [path, addressedPath(path, file.base)].map((each) => posix.normalize(each));
  return [file.path, ...file.aliases].some((name) => wanted.includes(posix.normalize(name)));
}

function addressedPath(path: string, base: PathBase | undefined): string {
  try {
    return base === undefined ? path : meantPath(path, base);
  } catch {
    // The path names no file of this machine, and therefore no armed file.
    return path;
  }
}

function notArmed(path: string): BlockAddress<never> {
  return { type: "wrong", why: `is for ${path}, and edit_mode was not called for that file` };
}
