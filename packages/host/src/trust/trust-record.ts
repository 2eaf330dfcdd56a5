import { join } from "node:path";
import { z } from "zod";
import { directories } from "../places/directories.ts";
import { projectOf } from "../places/project.ts";
import { misfitsOf, SettingsError } from "../settings/fault.ts";
import { readJsonFile, replaceJsonFile } from "../settings/json-file.ts";
import { placed } from "../settings/layer.ts";
import { type ProjectItem, untrustedContent } from "./project-content.ts";

/**
 * Whether what a project brings may be used.
 *
 * `nothing`: it brings nothing, so nobody needs to be asked. `unknown`: nobody has decided. `changed`: it was trusted,
 * and `items` came or changed since then, which can run or allow something. `distrusted`: somebody said no.
 */
export type Trust =
  | { readonly state: "nothing" | "trusted" | "distrusted" }
  | { readonly state: "unknown" | "changed"; readonly items: readonly ProjectItem[] };

const decision = z.strictObject(
  {
    trusted: z.boolean("true or false"),
    at: z.string("a time"),
    items: z.array(z.string("a digest"), "a list of digests"),
  },
  "an object with trusted, at and items",
);
const recordSchema = z.strictObject(
  { directories: z.record(z.string(), decision, "an object with folders by their paths") },
  "an object with directories",
);

type Decision = z.infer<typeof decision>;

/**
 * Which projects the user trusts (S5, S6): a file in the user's configuration, for the user alone, that says for each
 * folder, by its real path, what was decided, and what the project brought at that time.
 */
export class TrustRecord {
  readonly file: string;

  constructor({ env, home }: { readonly env: Readonly<Record<string, string | undefined>>; readonly home: string }) {
    this.file = join(directories(env, home).config, "trust.json");
  }

  /** What was decided about the project around a folder. Without a record that can be read nothing is trusted. Throws nothing. */
  trustOf(directory: string): Trust {
    const items = untrustedContent(directory);
    if (items.length === 0) return { state: "nothing" };
    const known = this.#decisions().decisions[projectOf(directory).root];
    if (known === undefined) return { state: "unknown", items };
    if (!known.trusted) return { state: "distrusted" };
    const changed = items.filter(({ acts, digest }) => acts && !known.items.includes(digest));
    return changed.length === 0 ? { state: "trusted" } : { state: "changed", items: changed };
  }

  /**
   * Trusts the project around a folder, as far as it brings what a person was shown: more is asked about later. Throws a
   * `SettingsError` when the record cannot be read.
   */
  trust(directory: string, shown: readonly ProjectItem[] = untrustedContent(directory)): void {
    const before = this.#decisions().decisions[projectOf(directory).root];
    const known = before?.trusted ? before.items : [];
    const still = untrustedContent(directory).filter(({ digest }) => known.includes(digest));
    this.#decide(directory, true, [...new Set([...shown, ...still].map(({ digest }) => digest))]);
  }

  /** Uses nothing of the project around a folder, and asks no more. Throws a `SettingsError` when the record cannot be read. */
  distrust(directory: string): void {
    this.#decide(directory, false, []);
  }

  #decide(directory: string, trusted: boolean, items: readonly string[]): void {
    const { decisions, broken } = this.#decisions();
    if (broken) throw broken;
    const at = new Date().toISOString();
    const { root } = projectOf(directory);
    replaceJsonFile(this.file, { directories: { ...decisions, [root]: { trusted, at, items } } });
  }

  #decisions(): { readonly decisions: Readonly<Record<string, Decision>>; readonly broken?: SettingsError } {
    const json = readJsonFile(this.file);
    if (json.state === "absent") return { decisions: {} };
    if (json.state === "faulty") return { decisions: {}, broken: new SettingsError(json.fault) };
    const [misfit] = misfitsOf(json.value, recordSchema);
    if (misfit) return { decisions: {}, broken: new SettingsError(placed(this.file, json.places, misfit)) };
    return { decisions: recordSchema.parse(json.value).directories };
  }
}
