import { nearest } from "@banyan/core/shown";
import type { z } from "zod";
import { type KeyPath, valueAt } from "./key.ts";
import { knownNames } from "./known-names.ts";

/** Something that is wrong with the settings: where it stands, what it is, and what to do. */
export interface SettingsFault {
  /** A file, or the name of an environment variable. */
  readonly source: string;
  /** From 1; absent where there is no place to point at. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  /** The setting, as in `permissions.allow[2]`; absent when it is the source as a whole. */
  readonly key?: string;
  readonly problem: string;
  /** What would be right, or what to do. */
  readonly advice: string;
}

/** Settings, or a change of them, that cannot be used. The message names the place, the setting and what to do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly fault: SettingsFault;

  constructor(fault: SettingsFault, options?: ErrorOptions) {
    super(describeFault(fault), options);
    this.fault = fault;
  }
}

/** One sentence for a fault, with the place in front as compilers write it. */
export function describeFault(fault: SettingsFault): string {
  return `${describePlace(fault)}: ${fault.problem}; ${fault.advice}${fault.advice.endsWith("?") ? "" : "."}`;
}

/** Where a fault stands, as in `settings.json:3:5: permissions.allow[2]`. */
export function describePlace({ source, line, column, key }: Omit<SettingsFault, "problem" | "advice">): string {
  const place = line === undefined ? source : `${source}:${line}:${column}`;
  return key === undefined ? place : `${place}: ${key}`;
}

/** A fault of a value, and which part of the value it is about. */
export interface Misfit {
  readonly path: KeyPath;
  /** It is the name at the end of the path that is wrong, not what it holds. */
  readonly isName: boolean;
  readonly problem: string;
  readonly advice: string;
}

/** What is wrong with a value, by a schema whose messages say what is expected. */
export function misfitsOf(value: unknown, schema: z.ZodType): Misfit[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => misfitsOfIssue(value, schema, issue));
}

type Issue = z.core.$ZodIssue;

function misfitsOfIssue(value: unknown, schema: z.ZodType, issue: Issue): Misfit[] {
  const { path } = issue;
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownName([...path, key], knownNames(schema, path)));
    case "invalid_key":
      return [
        {
          path,
          isName: true,
          problem: `found the name '${String(path.at(-1))}'`,
          advice: `expected ${issue.issues[0]?.message ?? "another"}`,
        },
      ];
    case "invalid_union": {
      const likely = likeliest(issue.errors);
      if (likely === undefined || likely.some((inner) => inner.path.length === 0 && inner.code !== "unrecognized_keys"))
        break;
      return likely.flatMap((inner) => misfitsOfIssue(value, schema, { ...inner, path: [...path, ...inner.path] }));
    }
  }
  const problem = `found ${shown(valueAt(value, path))}`;
  return [{ path, isName: false, problem, advice: `expected ${issue.message}` }];
}

/** A value as people are shown it: the beginning of its JSON. */
export function shown(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 80) ?? "nothing";
  } catch {
    // It holds itself, or is deeper than the stack.
    return "too many levels";
  }
}

/** A name that no setting has. */
export function unknownName(path: KeyPath, known: readonly string[]): Misfit {
  const name = String(path.at(-1));
  const meant = nearest(name, known);
  const all = known.length > 0 ? `one of ${known.join(", ")}` : "nothing there";
  const expected = meant.length > 0 ? meant.map((other) => `'${other}'`).join(" or ") : all;
  return { path, isName: true, problem: `'${name}' is not known`, advice: `expected ${expected}` };
}

/** Of several forms that a value may have, the one that it misses by the least. */
function likeliest(forms: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return forms.toSorted((a, b) => a.length - b.length)[0];
}
