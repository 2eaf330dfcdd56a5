// Writes biome.layers.json, the import rules for Biome, from layers.json: `node scripts/layers.ts`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The allowed imports of a package or a folder of core. Each layer is above all its imports. */
interface Layer {
  readonly imports: readonly string[];
  /** A layer for browsers must not use Node's API. */
  readonly runsIn?: "browser";
}

interface PackageLayer extends Layer {
  readonly name: string;
  /** Files to which the rule does not apply. */
  readonly except?: readonly string[];
  /** Modules of others that the package must not import either. */
  readonly refuses?: { readonly modules: readonly string[]; readonly message: string };
}

export interface Layers {
  /** From the bottom up. `core/**` means all entries of a package, `core` only one. */
  readonly packages: readonly PackageLayer[];
  /** The folders of core from the bottom up, above `conversation`. */
  readonly core: readonly (Layer & { readonly folder: string })[];
}

interface Refusal {
  readonly group: readonly string[];
  readonly message: string;
}

const ROOT = join(import.meta.dirname, "..");

/** Rules of the whole repository. Each override has to repeat them. */
const EVERYWHERE: readonly Refusal[] = [
  {
    group: ["banyan", "banyan/**"],
    message: "Nothing imports the command: move what is shared into a package below it.",
  },
  { group: ["**/src/**", "**/packages/**"], message: "Packages import each other by name, never by path." },
];

const NO_NODE = { noNodejsModules: "error", noProcessGlobal: "error" };
const PURE = "conversation/ is pure data and functions, in the browser too";

const NOT_TESTS = ["!**/*.test.ts", "!**/*.fixture.ts"];

/** Reads layers.json. */
export function readLayers(): Layers {
  return JSON.parse(readFileSync(join(ROOT, "layers.json"), "utf8"));
}

/** Returns the text of biome.layers.json. */
export function biomeLayers({ packages, core }: Layers): string {
  return `${JSON.stringify({ overrides: [...packages.map(ofPackage), ...ofConversation(), ...ofCore(core)] }, undefined, 2)}\n`;
}

function ofPackage({ name, imports, runsIn, except = [], refuses }: PackageLayer): object {
  const entries = imports.flatMap((entry) => (entry.endsWith("/**") ? [entry.slice(0, -3), entry] : [entry]));
  const allowed = imports.map((entry) => `@banyan/${entry.replace("/**", "")}`);
  const down: Refusal = {
    group: ["@banyan/**", ...entries.map((entry) => `!@banyan/${entry}`)],
    message: `Imports go down: ${name} imports ${allowed.length === 0 ? "no other package of Banyan" : `only ${listed(allowed)}`}.`,
  };
  const exceptions = [...except.map((glob) => `!${glob}`), ...(runsIn === "browser" ? NOT_TESTS : [])];
  const folder = `packages/${name}/src`;
  const refusals = refuses ? [down, { group: refuses.modules, message: refuses.message }] : [down];
  return override([`${folder}/**`, ...exceptions], refusals, runsIn);
}

/** conversation/ is at the bottom: its overrides list all allowed imports, so they repeat no other rule. */
function ofConversation(): object[] {
  const folder = "packages/core/src/conversation";
  const inner = ["checked", "tree", "shown"].map((name) => `${folder}/${name}/**`);
  const outside: Refusal = { group: ["**", "!./**"], message: `${PURE}: it imports nothing outside itself.` };
  const beside: Refusal = {
    group: ["**", "!./**", "!../*.ts", "../index.ts"],
    message: `${PURE}: its inner rooms import only it, and not each other.`,
  };
  const deniedGlobals = Object.fromEntries(
    ["Buffer", "setImmediate"].map((name) => [name, "conversation/ runs in the browser too."]),
  );
  const style = {
    noRestrictedGlobals: { level: "error", options: { deniedGlobals } },
    noRestrictedImports: importRule([outside]),
  };
  return [
    { includes: [`${folder}/**`, ...NOT_TESTS], linter: { rules: { correctness: NO_NODE, style } } },
    {
      includes: [...inner, ...NOT_TESTS],
      linter: { rules: { style: { noRestrictedImports: importRule([beside]) } } },
    },
  ];
}

function ofCore(core: Layers["core"]): object[] {
  return core.slice(0, -1).map(({ folder, imports, runsIn }) => {
    const above = core.map((layer) => layer.folder).filter((other) => other !== folder && !imports.includes(other));
    const down: Refusal = {
      group: [...above.map((other) => `**/${other}/**`), "../index.ts", "../../index.ts"],
      message: `Imports in core go down: ${folder}/ imports only ${listed(imports.map((other) => `${other}/`))}.`,
    };
    const alone: Refusal = {
      group: ["@banyan/**"],
      message: "Imports go down: core imports no other package of Banyan.",
    };
    return override([`packages/core/src/${folder}/**`, ...NOT_TESTS], [down, alone], runsIn);
  });
}

function override(includes: readonly string[], refusals: readonly Refusal[], runsIn?: "browser"): object {
  const style = { noRestrictedImports: importRule([...refusals, ...EVERYWHERE]) };
  return { includes, linter: { rules: runsIn === "browser" ? { correctness: NO_NODE, style } : { style } } };
}

function importRule(patterns: readonly Refusal[]): object {
  return { level: "error", options: { patterns } };
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

if (import.meta.main) writeFileSync(join(ROOT, "biome.layers.json"), biomeLayers(readLayers()));
