import { readFileSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Limits } from "@banyan/core";
import { nearestNameAdvice } from "@banyan/core/shown";
import { z } from "zod";
import { type CaseCheck, check, path, TEXT, text } from "../checks/case-check.ts";
import { type CaseFiles, pathsWithout } from "../checks/case-files.ts";
import { limitsOf } from "../settings/connection.ts";
import { misfitsOf, SettingsError } from "../settings/fault.ts";
import { formatKey, type KeyPath } from "../settings/key.ts";
import { limitSettings } from "../settings/schema.ts";
import { parseYaml, type YamlPlaces } from "../settings/yaml-text.ts";

// `misfitsOf` puts the actual value before these messages.

const NAME = "a name of at most 100 characters, in one line";
const COUNT = "a whole number above 0";
const SECONDS = "a number of seconds above 0";
const DOLLARS = "an amount of US dollars above 0";
const MODE = '"task" or "chat"';
const CALL = "an object with tool, and the input of that tool";

const name = z.string(NAME).regex(/^[^\p{Cc}\u2028\u2029]{1,100}$/u, NAME);
const count = z.int(COUNT).positive(COUNT);
const mode = z.enum(["task", "chat"], MODE);
const texts = (form: string) => z.array(text, form).min(1, form);

const scripted = z.union(
  [
    text,
    z.strictObject(
      {
        say: text.optional(),
        calls: z.array(z.strictObject({ tool: text, input: z.record(z.string(), z.json()) }, CALL)).min(1),
      },
      "an object with calls, and say for a text before them",
    ),
  ],
  "a text, or an object with calls",
);

const aCase = z.strictObject(
  {
    name,
    say: z.union([text, texts("a text, or a list of texts")], "a text, or a list of texts"),
    mode: mode.optional(),
    folder: text.optional(),
    files: z.record(path, z.string(TEXT), "an object with contents by their paths").optional(),
    limits: limitSettings.optional(),
    script: z.array(scripted, "a list of responses").min(1, "a list of responses").optional(),
    expect: z.array(check, "a list of what must hold").min(1, "at least one thing that must hold"),
  },
  "an object with name, say and expect",
);

const file = z.strictObject(
  {
    name: name.optional(),
    models: texts('a list of names of models, as in ["openai/gpt-5"]').optional(),
    prompts: z.record(name, text, "an object with texts, or @ and a file, by their names").optional(),
    judge: text.optional(),
    mode: mode.optional(),
    repetitions: count.max(1_000, "a whole number up to 1000").optional(),
    atOnce: count.max(64, "a whole number up to 64").optional(),
    limits: limitSettings.optional(),
    total: z
      .strictObject(
        { cost: z.number(DOLLARS).positive(DOLLARS).optional(), time: z.number(SECONDS).positive(SECONDS).optional() },
        "an object with cost, time or both",
      )
      .optional(),
    cases: z.array(aCase, "a list of cases").min(1, "at least one case"),
  },
  "an object with cases",
);

/**
 * The cases of an evaluation, as a user writes them in a file or a program.
 * @example
 * const written: WrittenCases = { cases: [{ name: "sum", say: "What is 2 + 2?", expect: [{ contains: "4" }] }] };
 */
export type WrittenCases = z.input<typeof file>;

/** A response of the scripted model: a text, or tool calls. See {@link readCases}. */
export type ScriptedResponse = z.output<typeof scripted>;

/** A task for an agent, with files and checks. See {@link readCases}. */
export interface Case extends CaseFiles {
  readonly name: string;
  /** User messages, each sent after the previous turn. */
  readonly say: readonly string[];
  readonly mode: "task" | "chat";
  readonly limits: Limits;
  /** Responses of the model `scripted`, in order. */
  readonly script?: readonly ScriptedResponse[];
  readonly expect: readonly CaseCheck[];
}

/** Checked cases of an evaluation. No model was called yet. See {@link readCases}. */
export interface Cases {
  readonly name: string;
  readonly cases: readonly Case[];
  /** `provider/model`. */
  readonly models: readonly string[];
  /** Additional instructions for agents, by name. */
  readonly prompts: Readonly<Record<string, string>>;
  readonly judge?: string;
  readonly repetitions: number;
  /** Number of parallel attempts. */
  readonly atOnce?: number;
  /** Limits of all attempts together: US dollars, and milliseconds. */
  readonly total: { readonly cost?: number; readonly time?: number };
  /** Makes an error with the line of `path` in the file. */
  fault(path: KeyPath, problem: string, advice: string): SettingsError;
}

/** The name and base folder of some cases. See {@link casesFrom}. */
export interface CasesSource {
  /** The name of the file, for messages. */
  readonly source: string;
  /** The base folder. Default: the working directory of the process. */
  readonly directory?: string;
  readonly places?: YamlPlaces;
}

/**
 * Reads a file of cases in YAML or JSON. Throws a `SettingsError` with the line of the fault and the expected value.
 * @example const cases = readCases("cases.yaml");
 */
export function readCases(source: string): Cases {
  const written = parseYaml(readCaseText(source, () => ({ source })));
  if (!written.ok) {
    const { at, problem, advice } = written;
    throw new SettingsError({ source, ...at, problem, advice });
  }
  return casesFrom(written.value, { source, directory: dirname(resolve(source)), places: written.places });
}

/**
 * Checks cases that a program wrote.
 * @example
 * const cases = casesFrom({
 *   cases: [{ name: "sum", say: "What is 2 + 2?", mode: "chat", expect: [{ contains: "4" }] }],
 * });
 */
export function casesFrom(
  written: unknown,
  { source, directory = ".", places }: CasesSource = { source: "the cases" },
): Cases {
  const fault = (key: KeyPath, problem: string, advice: string, isName = false) => {
    const at = isName ? places?.name(key) : (places?.value(key) ?? places?.name(key));
    const formatted = formatKey(key);
    return new SettingsError({ source, ...at, ...(formatted !== "" && { key: formatted }), problem, advice });
  };
  const misfits = misfitsOf(written, file);
  // An unknown name often explains why another name is missing.
  const first = misfits.find(({ isName }) => isName) ?? misfits[0];
  if (first) throw fault(first.path, first.problem, first.advice, first.isName);
  const checked = file.parse(written);
  const seen = new Map<string, number>();
  const cases = checked.cases.map((one, index): Case => {
    const before = seen.get(one.name);
    if (before !== undefined)
      throw fault(
        ["cases", index, "name"],
        `${formatKey(["cases", before])} has the name "${one.name}" too`,
        "give it another name",
      );
    seen.set(one.name, index);
    const { files = {} } = one;
    const folder = one.folder === undefined ? {} : { folder: folderOf(one.folder, index) };
    for (const [at, { restore = [] }] of one.expect.entries())
      for (const [number, path] of restore.entries()) {
        const paths = pathsWithout({ ...folder, files }, path);
        const key = ["cases", index, "expect", at, "restore", number];
        if (paths)
          throw fault(key, `the case has no file ${path}`, `name one of its files. ${nearestNameAdvice(path, paths)}`);
      }
    return {
      name: one.name,
      say: [one.say].flat(),
      mode: one.mode ?? checked.mode ?? "task",
      ...folder,
      files,
      limits: { ...limitsOf({ limits: checked.limits }), ...limitsOf({ limits: one.limits }) },
      ...(one.script && { script: one.script }),
      expect: one.expect,
    };
  });
  const prompts = Object.entries(checked.prompts ?? {}).map(([key, said]) => [key, promptOf(key, said)]);
  const { judge, atOnce, total = {} } = checked;
  return {
    name: checked.name ?? basename(source),
    cases,
    models: checked.models ?? [],
    prompts: Object.fromEntries(prompts),
    ...(judge !== undefined && { judge }),
    repetitions: checked.repetitions ?? 1,
    ...(atOnce !== undefined && { atOnce }),
    total: { ...total, ...(total.time !== undefined && { time: total.time * 1_000 }) },
    fault,
  };

  function folderOf(folder: string, index: number): string {
    const whole = resolve(directory, folder);
    if (statSync(whole, { throwIfNoEntry: false })?.isDirectory()) return whole;
    throw fault(["cases", index, "folder"], `there is no folder ${whole}`, "give its path from this file");
  }

  function promptOf(key: string, said: string): string {
    if (!said.startsWith("@")) return said;
    return readCaseText(resolve(directory, said.slice(1)), () => ({
      source,
      ...places?.value(["prompts", key]),
      key: formatKey(["prompts", key]),
    }));
  }
}

function readCaseText(
  path: string,
  position: () => Pick<SettingsError["fault"], "source" | "line" | "column" | "key">,
): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const problem = why === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read (${why})`;
    throw new SettingsError({ ...position(), problem, advice: "name a file with text" }, { cause: error });
  }
}
