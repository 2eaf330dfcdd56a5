import type { Aliases, ModelOverrides } from "@banyan/models";
import { z } from "zod";
import { permissionEntries } from "../permissions/rule-file.ts";
import { describeFault, type FileFault, faultIn, readJsonFile, replaceJsonFile } from "./json-file.ts";

const MODEL = 'the name of a model, as in "anthropic/claude-sonnet-5"';
const TEMPERATURE = "a number from 0 to 2";
const MAX_TOKENS = "a whole number above 0";
const SHORT = 'a short name without a slash, as in "quick"';
const MEANT = 'the model that it stands for, as in "anthropic/claude-haiku-4-5:low"';
const DOLLARS = "US dollars for a million tokens, 0 or more";
const CONTEXT_SIZE = "a whole number of tokens above 0";
const NAME = 'the name of a model as provider/model, as in "anthropic/claude-sonnet-5"';

const dollars = z.number(DOLLARS).min(0, DOLLARS);
const price = z.strictObject(
  { input: dollars, output: dollars, cached: dollars.optional(), cacheWrite: dollars.optional() },
  "an object with the prices input and output, and cached and cacheWrite if they differ",
);
const facts = z.strictObject(
  { price: price.optional(), contextSize: z.int(CONTEXT_SIZE).positive(CONTEXT_SIZE).optional() },
  "an object with price, contextSize or both",
);

const schema = z.strictObject(
  {
    model: z.string(MODEL).min(1, MODEL).optional(),
    temperature: z.number(TEMPERATURE).min(0, TEMPERATURE).max(2, TEMPERATURE).optional(),
    maxTokens: z.int(MAX_TOKENS).positive(MAX_TOKENS).optional(),
    aliases: z
      .record(z.string().regex(/^[^/]+$/, SHORT), z.string(MEANT).min(1, MEANT), "an object with short names")
      .optional(),
    models: z.record(z.string().regex(/^[^/]+\/./, NAME), facts, "an object with models by their names").optional(),
    permissions: permissionEntries.optional(),
    approval: z.enum(["ask", "edits", "all"], '"ask", "edits" or "all"').optional(),
  },
  "an object with settings",
);

/** What a user has set, all of it optional. */
export interface Settings {
  /** The model that is used when none is named: `provider/model` or an alias. */
  readonly model?: string | undefined;
  /** From 0 to 2. */
  readonly temperature?: number | undefined;
  /** The most tokens of one answer. */
  readonly maxTokens?: number | undefined;
  /** Short names for models, beside the built-in ones; they count more. */
  readonly aliases?: Aliases | undefined;
  /** What the user knows of models better than the catalogue: prices and context sizes by `provider/model`. */
  readonly models?: ModelOverrides | undefined;
  /** Permission rules as text; `rulesFrom` reads them. */
  readonly permissions?: z.infer<typeof permissionEntries> | undefined;
  /** How much is asked. */
  readonly approval?: "ask" | "edits" | "all" | undefined;
}

/** A settings file, or a change of it, that cannot be used. The message names the file, the place and what is expected there. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly fault: FileFault;

  constructor(fault: FileFault) {
    super(describeFault(fault));
    this.fault = fault;
  }
}

/** The settings of a file; empty when there is no file. Throws a `SettingsError`. */
export function readSettings(file: string): Settings {
  const json = readJsonFile(file);
  if (json.state === "absent") return {};
  if (json.state === "faulty") throw new SettingsError(json.fault);
  return checked(file, json.value);
}

/**
 * Changes the named settings and keeps the others; `undefined` removes one. Answers the new settings. Throws a
 * `SettingsError` and leaves the file as it is when the file is broken or the change is not valid.
 */
export function changeSettings(file: string, change: Settings): Settings {
  const merged = Object.entries({ ...readSettings(file), ...change }).filter(([, value]) => value !== undefined);
  const settings = checked(file, Object.fromEntries(merged));
  replaceJsonFile(file, settings);
  return settings;
}

/** What may stand at a place of the file. */
function keysAt([setting, , fact]: readonly PropertyKey[]): readonly string[] {
  if (setting === "permissions") return Object.keys(permissionEntries.shape);
  if (setting === "models") return Object.keys((fact === "price" ? price : facts).shape);
  return Object.keys(schema.shape);
}

function checked(file: string, value: unknown): Settings {
  const fault = faultIn(file, value, schema, keysAt);
  if (fault !== undefined) throw new SettingsError(fault);
  return value as Settings;
}
