import type { ChangedFile } from "@banyan/host";
import { UsageError } from "../problem.ts";

/** The changed file that a person means. Throws `UsageError` when there is none of that name. */
export function fileNamed(files: readonly ChangedFile[], path: string): ChangedFile {
  const wanted = path.replace(/^\.\//, "");
  const found = files.find((file) => file.path === wanted);
  if (found) return found;
  const names = files.map((file) => file.path).join(", ");
  throw new UsageError(`${path} was not changed. ${names === "" ? "No file was." : `Changed are: ${names}.`}`);
}
