import { nearest } from "@banyan/core/shown";
import type { z } from "zod";
import { type KeyPath, valueAt } from "./key.ts";
import { knownNames } from "./known-names.ts";

/** A fault in the settings: its place, the problem, and advice. */
export interface SettingsFault {
  /** A file, or the name of an environment variable. */
  readonly source: string;
  /** The line, from 1; absent if there is no position. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  /** The setting, such as `permissions.allow[2]`; absent for the source as a whole. */
  readonly key?: string;
  readonly problem: string;
  /** The expected value, or what to do. */
  readonly advice: string;
}

/**
 * The error of unusable settings, or of an invalid change. The message gives the place, the setting and advice.
 * @example
 * try {
 *   readConfiguration({ env: process.env, home: homedir() });
 * } catch (error) {
 *   if (error instanceof SettingsError) console.error(error.fault.source, error.message);
 * }
 */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly fault: SettingsFault;

  constructor(fault: SettingsFault, options?: ErrorOptions) {
    super(describeFault(fault), options);
    this.fault = fault;
  }
}

/**
 * Formats a fault as its place and one sentence.
 * @example
 * const { faults } = readConfiguration({ env: process.env, home: homedir() });
 * for (const fault of faults) console.error(describeFault(fault));
 */
export function describeFault(fault: SettingsFault): string {
  return `${describePlace(fault)}: ${fault.problem}; ${fault.advice}${fault.advice.endsWith("?") ? "" : "."}`;
}

/** Formats the place of a fault: `settings.json:3:5: permissions.allow[2]`. */
export function describePlace({ source, line, column, key }: Omit<SettingsFault, "problem" | "advice">): string {
  const place = line === undefined ? source : `${source}:${line}:${column}`;
  return key === undefined ? place : `${place}: ${key}`;
}

/** A fault of a value, and the path of the faulty part. */
export interface Misfit {
  readonly path: KeyPath;
  /** True if the last name of the path is wrong, not its value. */
  readonly isName: boolean;
  readonly problem: string;
  readonly advice: string;
}

/** Returns the faults of a value by a schema whose messages give the expected value. */
export function misfitsOf(value: unknown, schema: z.ZodType): Misfit[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => misfitsOfIssue(value, schema, issue));
}

type Issue = z.core.$ZodIssue;

function misfitsOfIssue(value: unknown, schema: z.ZodType, issue: Issue): Misfit[] {
  const { path } = issue;
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownSettingName([...path, key], knownNames(schema, path)));
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
  const problem = `found ${shortJson(valueAt(value, path))}`;
  return [{ path, isName: false, problem, advice: `expected ${issue.message}` }];
}

/** Returns the beginning of a value's JSON, for messages. */
export function shortJson(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 80) ?? "nothing";
  } catch {
    // A circular value, or one deeper than the stack.
    return "too many levels";
  }
}

/** Makes the fault of a setting with an unknown name, and suggests similar names. */
export function unknownSettingName(path: KeyPath, known: readonly string[]): Misfit {
  const name = String(path.at(-1));
  const meant = nearest(name, known);
  const all = known.length > 0 ? `one of ${known.join(", ")}` : "nothing there";
  const expected = meant.length > 0 ? meant.map((other) => `'${other}'`).join(" or ") : all;
  return { path, isName: true, problem: `'${name}' is not known`, advice: `expected ${expected}` };
}

/** Of several allowed forms, the one with the fewest faults. */
function likeliest(forms: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return forms.toSorted((a, b) => a.length - b.length)[0];
}
