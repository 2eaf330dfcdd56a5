import { type KeyPath, parseKey, unknownSetting } from "@banyan/host";
import { UsageError } from "../problem.ts";

/** The setting that a person names. Throws a `UsageError` when there can be none of that name. */
export function keyIn(text: string): KeyPath {
  const key = parseKey(text);
  if (!key)
    throw new UsageError(`'${text}' names no setting. Write it as in limits.steps or models["ollama/qwen3.5"].`);
  const problem = unknownSetting(key);
  if (problem !== undefined) throw new UsageError(problem);
  return key;
}
