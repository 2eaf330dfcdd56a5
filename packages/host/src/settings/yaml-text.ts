import { errorMessage } from "@banyan/core/shown";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { TextPosition } from "./json-text.ts";
import type { KeyPath } from "./key.ts";

/** A parsed YAML text, or the position of its error. */
export type YamlText =
  | { readonly ok: true; readonly value: unknown; readonly places: YamlPlaces }
  | { readonly ok: false; readonly at: TextPosition | undefined; readonly problem: string; readonly advice: string };

/** The positions of values and names in a YAML text. */
export interface YamlPlaces {
  /** The start of the value at a path. */
  value(path: KeyPath): TextPosition | undefined;
  /** The start of the name at the end of a path. */
  name(path: KeyPath): TextPosition | undefined;
}

/** Parses a YAML text. Ignores a byte order mark. Never throws. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const positionAt = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const broken = (message: string, offset?: number): YamlText => ({
    ok: false,
    at: offset === undefined ? undefined : positionAt(offset),
    problem: `this is not YAML (${message.split("\n")[0]})`,
    advice: "correct it; put a text that begins with a sign in quotes",
  });
  try {
    const document = parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter: lines, prettyErrors: false });
    const [error] = document.errors;
    if (error) return broken(error.message, error.pos[0]);
    const startOf = (node: unknown) => {
      const range = node && typeof node === "object" && "range" in node ? (node.range as [number] | null) : undefined;
      return range ? positionAt(range[0]) : undefined;
    };
    const nodeAt = (path: KeyPath) =>
      document.getIn(
        path.filter((part) => typeof part !== "symbol"),
        true,
      );
    const places: YamlPlaces = {
      value: (path) => startOf(path.length === 0 ? document.contents : nodeAt(path)),
      name(path) {
        const around = path.length === 1 ? document.contents : nodeAt(path.slice(0, -1));
        const pairs = isMap(around) ? around.items : [];
        return startOf(pairs.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key);
      },
    };
    return { ok: true, value: document.toJS({ maxAliasCount: 10 }) ?? {}, places };
  } catch (error) {
    // An unknown or too large alias (`*name`), or lists deeper than the stack.
    return broken(errorMessage(error));
  }
}
