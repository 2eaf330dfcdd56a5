// Writes biome.layers.json, the import rules for Biome, from layers.json: `node scripts/layers.ts`.
import { readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";

/** The allowed imports of a package or a folder. Each layer is above all its imports. */
interface Layer {
  readonly imports: readonly string[];
  readonly runsIn?: "browser";
}

interface FolderLayer extends Layer {
  /** Its path in `src`. Folders inside belong to it, unless they are layers too. */
  readonly folder: string;
}

export interface PackageLayer extends Layer {
  readonly name: string;
  /** The folders of `src` from the bottom up. A folder without `imports` may import all folders below. */
  readonly folders?: readonly (string | FolderLayer)[];
  readonly except?: readonly string[];
  /** Modules of others that the package must not import either. */
  readonly refuses?: { readonly modules: readonly string[]; readonly message: string };
}

export interface Layers {
  /** From the bottom up. `core/**` means all entries of a package, `core` only one. */
  readonly packages: readonly PackageLayer[];
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

const NODE_GLOBALS = ["Buffer", "setImmediate", "__dirname"].map((name) => [
  name,
  "This code runs in the browser too.",
]);
const NO_NODE = {
  correctness: { noNodejsModules: "error", noProcessGlobal: "error" },
  style: { noRestrictedGlobals: { level: "error", options: { deniedGlobals: Object.fromEntries(NODE_GLOBALS) } } },
};
const PURE = "conversation/ is pure data and functions, in the browser too";

const NOT_TESTS = ["!**/*.test.ts", "!**/*.fixture.ts"];

export function readLayers(): Layers {
  return JSON.parse(readFileSync(join(ROOT, "layers.json"), "utf8"));
}

/** Returns the folders of a package from the bottom up, each with its imports. */
export function foldersOf({ folders = [] }: PackageLayer): readonly FolderLayer[] {
  const names = folders.map((layer) => (typeof layer === "string" ? layer : layer.folder));
  return folders.map((layer, index) =>
    typeof layer === "string" ? { folder: layer, imports: names.slice(0, index) } : layer,
  );
}

export function biomeLayers({ packages }: Layers): string {
  const overrides = [
    ...packages.map(ofPackage),
    ...packages.flatMap(ofBrowser),
    ...ofConversation(),
    ...packages.flatMap(ofFolders),
  ];
  return `${JSON.stringify({ overrides }, undefined, 2)}\n`;
}

function ofPackage(layer: PackageLayer): object {
  return override([`packages/${layer.name}/src/**`, ...exceptionsOf(layer)], refusalsOf(layer));
}

/** The rules of code that also runs in browsers, or of the folders of a package that do. */
function ofBrowser(layer: PackageLayer): object[] {
  const src = `packages/${layer.name}/src`;
  const folders = foldersOf(layer).filter(({ runsIn }) => runsIn === "browser");
  const places = layer.runsIn === "browser" ? [`${src}/**`] : folders.map(({ folder }) => `${src}/${folder}/**`);
  if (places.length === 0) return [];
  const includes = [...places, ...exceptionsOf(layer), ...NOT_TESTS, "!**/testing/**"];
  return [{ includes, linter: { rules: NO_NODE } }];
}

function exceptionsOf({ except = [] }: PackageLayer): string[] {
  return except.map((glob) => `!${glob}`);
}

function refusalsOf({ name, imports, refuses }: PackageLayer): readonly Refusal[] {
  const entries = imports.flatMap((entry) => (entry.endsWith("/**") ? [entry.slice(0, -3), entry] : [entry]));
  const allowed = imports.map((entry) => `@banyan/${entry.replace("/**", "")}`);
  const down: Refusal = {
    group: ["@banyan/**", ...entries.map((entry) => `!@banyan/${entry}`)],
    message: `Imports go down: ${name} imports ${allowed.length === 0 ? "no other package of Banyan" : `only ${listed(allowed)}`}.`,
  };
  return refuses ? [down, { group: refuses.modules, message: refuses.message }] : [down];
}

/** conversation/ is at the bottom: its overrides list all allowed imports, so they repeat no other rule. */
function ofConversation(): object[] {
  const folder = "packages/core/src/conversation";
  const inner = ["checked", "tree", "shown", "forms"].map((name) => `${folder}/${name}/**`);
  const outside: Refusal = { group: ["**", "!./**"], message: `${PURE}: it imports nothing outside itself.` };
  const beside: Refusal = {
    group: ["**", "!./**", "!../*.ts", "../index.ts"],
    message: `${PURE}: its inner rooms import only it, and not each other.`,
  };
  const forms: Refusal = {
    group: [...beside.group, "!../checked/*.ts"],
    message: `${PURE}: forms/ imports only it and checked/.`,
  };
  return [
    {
      includes: [`${folder}/**`, ...NOT_TESTS],
      linter: { rules: { style: { noRestrictedImports: importRule([outside]) } } },
    },
    {
      includes: [...inner, ...NOT_TESTS],
      linter: { rules: { style: { noRestrictedImports: importRule([beside]) } } },
    },
    {
      includes: [`${folder}/forms/**`, ...NOT_TESTS],
      linter: { rules: { style: { noRestrictedImports: importRule([forms]) } } },
    },
  ];
}

/** `conversation` of core has stricter rules of its own, and the last folder may import all others. */
function ofFolders(layer: PackageLayer): object[] {
  const folders = foldersOf(layer);
  const rules = folders.slice(0, -1).filter(({ folder }) => !(layer.name === "core" && folder === "conversation"));
  return rules.map(({ folder, imports }) => {
    const above = folders.map((other) => other.folder).filter((other) => other !== folder && !imports.includes(other));
    const allowed = imports.length === 0 ? "no other folder" : `only ${listed(imports.map((other) => `${other}/`))}`;
    const down: Refusal = {
      group: [
        ...above.flatMap((other) => patternOf(folder, other)),
        // A folder above may contain a folder below.
        ...imports.filter(isInside(above)).flatMap((other) => patternOf(folder, other).map((pattern) => `!${pattern}`)),
        posix.relative(folder, "index.ts"),
      ],
      message: `Imports in ${layer.name} go down: ${folder}/ imports ${allowed}.`,
    };
    const src = `packages/${layer.name}/src`;
    const inside = folders.filter((other) => other.folder.startsWith(`${folder}/`));
    const excluded = inside.map((other) => `!${src}/${other.folder}/**`);
    const includes = [`${src}/${folder}/**`, ...excluded, ...exceptionsOf(layer), ...NOT_TESTS, "!**/testing/**"];
    return override(includes, [down, ...refusalsOf(layer)]);
  });
}

function isInside(folders: readonly string[]): (folder: string) => boolean {
  return (folder) => folders.some((around) => folder.startsWith(`${around}/`));
}

/** A folder around has no pattern: the test of the layers looks at each import. */
function patternOf(from: string, to: string): string[] {
  const path = posix.relative(from, to);
  if (!path.startsWith("..")) return [`./${path}/**`];
  const below = path.replace(/^(\.\.\/?)+/, "");
  return below === "" ? [] : [`../**/${below}/**`];
}

function override(includes: readonly string[], refusals: readonly Refusal[]): object {
  return { includes, linter: { rules: { style: { noRestrictedImports: importRule([...refusals, ...EVERYWHERE]) } } } };
}

function importRule(patterns: readonly Refusal[]): object {
  return { level: "error", options: { patterns } };
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

if (import.meta.main) writeFileSync(join(ROOT, "biome.layers.json"), biomeLayers(readLayers()));
