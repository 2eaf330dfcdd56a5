import { z } from "zod";
import { permissionEntries } from "../permissions/rule-file.ts";
import { describeFault, type FileFault, faultIn, readJsonFile, replaceJsonFile } from "./json-file.ts";

const MODEL = 'the name of a model, as in "anthropic/claude-sonnet-5"';
const TEMPERATURE = "a number from 0 to 2";
const MAX_TOKENS = "a whole number above 0";

const schema = z.strictObject(
  {
    model: z.string(MODEL).min(1, MODEL).optional(),
    temperature: z.number(TEMPERATURE).min(0, TEMPERATURE).max(2, TEMPERATURE).optional(),
    maxTokens: z.int(MAX_TOKENS).positive(MAX_TOKENS).optional(),
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

function checked(file: string, value: unknown): Settings {
  const keysAt = (path: string): readonly string[] =>
    Object.keys(path === "permissions" ? permissionEntries.shape : schema.shape);
  const fault = faultIn(file, value, schema, keysAt);
  if (fault !== undefined) throw new SettingsError(fault);
  return value as Settings;
}
