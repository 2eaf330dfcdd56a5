import { readJsonFile } from "./json-file.ts";
import type { FileLayer } from "./layer.ts";

/** A layer with the file that it was read from. */
export interface SourcedLayer {
  readonly file: string;
  readonly layer: FileLayer;
}

/**
 * The layer of a project without its `compaction`, where `hint` and `threshold`, each right in its own file, do not fit
 * each other: the fault names both files.
 */
export function withFittingCompaction(user: SourcedLayer, { file, layer }: SourcedLayer): FileLayer {
  const { compaction, ...settings } = layer.settings;
  const values = { hint: 0, threshold: 1, ...user.layer.settings.compaction, ...compaction };
  if (compaction === undefined || values.hint < values.threshold) return layer;
  // It sets one of the two: both of one file fit.
  const [own, other] =
    compaction.hint === undefined ? (["threshold", "hint"] as const) : (["hint", "threshold"] as const);
  const json = readJsonFile(file);
  const fault = {
    source: file,
    ...(json.state === "read" ? json.places.value(["compaction", own]) : {}),
    key: `compaction.${own}`,
    problem: `found ${values[own]} beside the ${other} ${values[other]} of ${user.file}`,
    advice: "expected a hint below the threshold, so the project's compaction is not used",
  };
  return { ...layer, settings, faults: [...layer.faults, fault] };
}
