import { readFileSync } from "node:fs";
import type { JsonSchema } from "@banyan/core";
import type { Arguments } from "./arguments.ts";
import { UsageError } from "./problem.ts";

/** What the result of a task must be, when the command line says so (B44). Throws `UsageError` for a file that is no such schema. */
export function outputOption({ outputSchema: file }: Arguments): { readonly output?: JsonSchema } {
  if (file === undefined) return {};
  const schema = read(file);
  if (schema === null || typeof schema !== "object" || !("type" in schema) || schema.type !== "object")
    throw new UsageError(`${file} is not the JSON Schema of an object: it needs "type": "object".`);
  return { output: schema as JsonSchema };
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The output schema ${file} cannot be read: ${why}.`, { cause: error });
  }
}
