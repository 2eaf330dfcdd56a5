import { join } from "node:path";
import { z } from "zod";
import { directories } from "../places/directories.ts";
import { projectOf } from "../places/project.ts";
import { misfitsOf, SettingsError } from "../settings/fault.ts";
import { readJsonFile, replaceJsonFile } from "../settings/json-file.ts";
import { locateFault } from "../settings/layer.ts";
import { type ProjectItem, untrustedContent } from "./project-content.ts";

/**
 * The user's decision about a project's content. `nothing`: the project has no content, and there is no decision.
 * `unknown`: no decision yet. `changed`: trusted before, but `items` that can run or allow something are new.
 * `distrusted`: the user declined.
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

type TrustDecision = z.infer<typeof decision>;

/**
 * The user's decisions about projects by real path, with their content at that time (S5, S6), in a private file.
 * @example
 * const record = new TrustRecord({ env: process.env, home: homedir() });
 * if (record.trustOf(".").state === "unknown") record.distrust(".");
 */
export class TrustRecord {
  readonly file: string;

  constructor({ env, home }: { readonly env: Readonly<Record<string, string | undefined>>; readonly home: string }) {
    this.file = join(directories(env, home).config, "trust.json");
  }

  /** Returns the decision about the project around a folder. An unreadable record trusts nothing. Never throws. */
  trustOf(directory: string): Trust {
    const items = untrustedContent(directory);
    const known = this.#decisions().decisions[projectOf(directory).root];
    if (items.length === 0) return { state: known?.trusted ? "trusted" : "nothing" };
    if (known === undefined) return { state: "unknown", items };
    if (!known.trusted) return { state: "distrusted" };
    const changed = items.filter(({ acts, digest }) => acts && !known.items.includes(digest));
    return changed.length === 0 ? { state: "trusted" } : { state: "changed", items: changed };
  }

  /**
   * Trusts the project around a folder with the content that the user saw. Later content needs a new decision. Throws a
   * `SettingsError` if the record cannot be read.
   */
  trust(directory: string, shown: readonly ProjectItem[] = untrustedContent(directory)): void {
    const before = this.#decisions().decisions[projectOf(directory).root];
    const known = before?.trusted ? before.items : [];
    const still = untrustedContent(directory).filter(({ digest }) => known.includes(digest));
    this.#decide(directory, true, [...new Set([...shown, ...still].map(({ digest }) => digest))]);
  }

  /** Declines the project around a folder, without later questions. Throws a `SettingsError`. */
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

  #decisions(): { readonly decisions: Readonly<Record<string, TrustDecision>>; readonly broken?: SettingsError } {
    const json = readJsonFile(this.file);
    if (json.state === "absent") return { decisions: {} };
    if (json.state === "faulty") return { decisions: {}, broken: new SettingsError(json.fault) };
    const [misfit] = misfitsOf(json.value, recordSchema);
    if (misfit) return { decisions: {}, broken: new SettingsError(locateFault(this.file, json.places, misfit)) };
    return { decisions: recordSchema.parse(json.value).directories };
  }
}
