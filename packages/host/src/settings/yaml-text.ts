import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { Position } from "./json-text.ts";
import type { KeyPath } from "./key.ts";

/** A YAML text as it was read, or where it breaks. */
export type YamlText =
  | { readonly ok: true; readonly value: unknown; readonly places: YamlPlaces }
  | { readonly ok: false; readonly at: Position | undefined; readonly problem: string; readonly advice: string };

/** Where what stands in a YAML text. */
export interface YamlPlaces {
  /** Where the value at the end of a way begins. */
  value(path: KeyPath): Position | undefined;
  /** Where the name at the end of a way stands. */
  name(path: KeyPath): Position | undefined;
}

/** Reads a YAML text. A byte order mark is passed over. Throws nothing. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
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
    // A `*name` that stands for nothing or for too much, or lists that are deeper than the stack.
    return broken(error instanceof Error ? error.message : String(error));
  }
}
