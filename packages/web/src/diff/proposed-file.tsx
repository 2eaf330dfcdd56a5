import type { Json } from "@banyan/core/conversation";
import { diffLines } from "diff";
import { useMemo } from "react";
import { ChangedFiles } from "./changed-files.tsx";
import { addedLines, type DiffLine } from "./patch.ts";
import type { ShownFile } from "./shown-file.ts";

/** Milliseconds that a comparison may take before the two texts stand one below the other as they are. */
const PATIENCE = 80;

/** The file that the arguments of `edit` or `write` would change, with the lines that would go and come. */
export function ProposedFile({ input }: { readonly input: Json | undefined }) {
  const files = useMemo(() => [proposed(input)].filter((file) => file !== undefined), [input]);
  return files.length === 0 ? null : (
    <div className="overflow-hidden rounded border border-hair bg-ground">
      <ChangedFiles files={files} name="What would change" height="max-h-72" />
    </div>
  );
}

/** Nothing when the arguments are not those of `edit` or `write`. */
function proposed(input: Json | undefined): ShownFile | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  const { path, old_text: before, new_text: after, content } = input as Readonly<Record<string, Json>>;
  if (typeof path !== "string") return undefined;
  if (typeof content === "string") return shown(path, "written as a whole", addedLines(content));
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return shown(path, "one place", linesOf(before, after));
}

function shown(path: string, word: string, lines: readonly DiffLine[]): ShownFile {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { key: path, path, word, added: count("added"), removed: count("removed"), lines: () => lines };
}

/** Where in the file they stand is not known: they have no numbers. */
function linesOf(before: string, after: string): DiffLine[] {
  const changes = diffLines(before, after, { timeout: PATIENCE }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  return changes.flatMap(({ value, added, removed }) => {
    const kind = added ? "added" : removed ? "removed" : "same";
    return value
      .replace(/\n$/, "")
      .split("\n")
      .map((text) => ({ kind, text }) as const);
  });
}
