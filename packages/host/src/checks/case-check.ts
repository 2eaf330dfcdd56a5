import { posix } from "node:path";
import type { Cost, Usage } from "@banyan/core";
import { schemaProblem } from "@banyan/core/hosts";
import { cutTo } from "@banyan/core/shown";
import { z } from "zod";

export const TEXT = "a text (put a number in quotes)";
const PATH = "a path in the folder of the attempt, without ..";
const SCHEMA = "a JSON Schema";
const SECONDS = "a number of seconds above 0";

export const text = z.string(TEXT).min(1, TEXT);
export const path = z.string(PATH).refine(isInside, PATH);

/** A condition that must hold at the end of an attempt, or for a goal. It has the form in which users write it. */
export const check = z
  .strictObject(
    {
      command: text.optional(),
      exit: z.int("an exit code from 0 to 255").min(0).max(255, "an exit code from 0 to 255").optional(),
      seconds: z.number(SECONDS).positive(SECONDS).optional(),
      file: path.optional(),
      absent: z.literal(true, "true").optional(),
      exists: z.literal(true, "true").optional(),
      judge: text.optional(),
      files: z.array(path, "a list of paths").min(1, "a list of paths").optional(),
      restore: z.array(path, "a list of paths, which may be empty").optional(),
      script: z
        .strictObject({ holds: z.boolean("true or false"), reason: text }, "an object with holds and reason")
        .optional(),
      equals: z.string(TEXT).optional(),
      contains: text.optional(),
      lacks: text.optional(),
      matches: text.refine(isRegularExpression, "a regular expression").optional(),
      schema: z
        .record(z.string(), z.json(), SCHEMA)
        .refine((schema) => schemaProblem(schema) === undefined, SCHEMA)
        .optional(),
    },
    "an object with command, file or judge, or with what the answer equals, contains, lacks or matches, or its schema",
  )
  .superRefine((given, context) => {
    const problem = oddity(given);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem, path: [] });
  });

/**
 * A check of an attempt: of a command's result, a file, a judge's verdict, or by default the answer.
 * See {@link readCases}.
 */
export type CaseCheck = z.output<typeof check>;

/** The result of one check of an attempt. See {@link tallyOf}. */
export interface CheckResult {
  readonly holds: boolean;
  /** A description of the check. */
  readonly what: string;
  /** The reason why the check failed, or the judge's explanation. */
  readonly why?: string;
  /** True if the check holds even before the agent works: for an empty answer and the unchanged files of the case. */
  readonly holdsUntouched?: true;
  /** Files that the agent changed. While the command ran, they had the content of the case. */
  readonly restored?: readonly string[];
  /**
   * Files that the agent changed and that the command names. The command ran with the agent's versions of these files.
   */
  readonly changed?: readonly string[];
}

/** Tokens and cost of some turns. See {@link evaluate}. */
export interface EvaluationCost {
  readonly usage: Usage;
  /** US dollars; `undefined` if a price is unknown. */
  readonly cost: Cost;
}

function isInside(written: string): boolean {
  const normal = posix.normalize(written);
  return written !== "" && normal !== "." && !/^\.\.(?:\/|$)|^[/\\]|^[A-Za-z]:|\0/.test(normal);
}

function isRegularExpression(source: string): boolean {
  try {
    return new RegExp(source, "m") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Returns the valid combination if the fields of a check do not go together. */
function oddity(fields: z.output<z.ZodObject<(typeof check)["shape"]>>): string | undefined {
  const { command, file, judge, exit, seconds, absent, exists, files, script, equals, contains, lacks, matches } =
    fields;
  const { schema, restore } = fields;
  const subjects = [command, file, judge].filter((one) => one !== undefined).length;
  const content = [equals, contains, lacks, matches, schema].some((one) => one !== undefined);
  if (subjects > 1) return "only one of command, file and judge";
  if (judge !== undefined && content) return "judge without equals, contains, lacks, matches and schema";
  if (judge === undefined && (files !== undefined || script !== undefined))
    return "judge together with files and script";
  if (command === undefined && exit !== undefined) return "command together with exit";
  if (command === undefined && matches === undefined && seconds !== undefined)
    return "command or matches together with seconds";
  if (command === undefined && restore !== undefined) return "command together with restore";
  for (const [name, is] of Object.entries({ absent, exists }))
    if (is && (file === undefined || content || (absent && exists)))
      return `file together with ${name}, and nothing about its content`;
  if (file !== undefined && !absent && !exists && !content)
    return "equals, contains, lacks, matches, schema, exists or absent for the file";
  if (subjects === 0 && !content)
    return "command, file or judge, or what the answer equals, contains, lacks or matches, or its schema";
  return undefined;
}

/** Maximum characters of a text in an explanation. */
export const SHOWN = 400;

/** Describes a check in words. */
export function describeCheck(check: CaseCheck): string {
  const { command, exit = 0, file, absent, exists, judge } = check;
  if (judge !== undefined) return `the judge says: ${judge.trim()}`;
  if (absent) return `there is no ${file}`;
  if (exists) return `there is ${file}`;
  const content = expectedText(check);
  if (command === undefined) return `${file ?? "the answer"} ${content}`;
  return `\`${command.trim()}\` exits with ${exit}${content === "" ? "" : `, and its output ${content}`}`;
}

function expectedText({ equals, contains, lacks, matches, schema }: CaseCheck): string {
  const fits = schema && `the schema ${JSON.stringify(schema)}`;
  const said = { equals, contains, lacks, fits, matches: matches === undefined ? undefined : `/${matches}/` };
  return Object.entries(said)
    .flatMap(([how, text]) =>
      text === undefined
        ? []
        : [`${how} ${how === "matches" ? text : how === "fits" ? cutTo(text, SHOWN) : quoteShortened(text)}`],
    )
    .join(" and ");
}

export function quoteShortened(text: string): string {
  return JSON.stringify(cutTo(text, SHOWN));
}
