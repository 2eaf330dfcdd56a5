import { posix } from "node:path";
import { DOCS } from "./docs.ts";

/** The fields of a package.json in packages/ that the build reads. There, every entry is a TypeScript source. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  /** `false` lets bundlers of users leave out modules of which they use nothing. */
  readonly sideEffects?: boolean;
  readonly engines: { readonly node: string };
  readonly exports?: Readonly<Record<string, string>>;
  /** Dependencies that bundles for pages leave out. */
  readonly browser?: Readonly<Record<string, false>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Optional packages that are loaded if a user installed them. */
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** Returns the modules to build, without `.js`, with their sources: the exports and the commands of the package. */
export function entriesOf({ exports = {}, bin = {} }: Manifest): Record<string, string> {
  return { ...mapKeys(exports, moduleOf), ...mapKeys(bin, programOf) };
}

/** Returns the package.json to publish, whose entries are built modules and their types. */
export function publishedManifest(manifest: Manifest): object {
  const { name, version, description, license, sideEffects, engines, browser } = manifest;
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
  return {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects,
    engines,
    exports: {
      ...mapValues(manifest.exports ?? {}, (source, path) => ({
        types: `./types/${declarationOf(source)}`,
        // Only Node needs the check of its version. Bundlers for pages get the module itself.
        node: `./${checkedOf(path)}.js`,
        default: `./${moduleOf(path)}.js`,
      })),
      // For our other packages: they run on a Node that was already checked.
      "./*.js": "./*.js",
      "./package.json": "./package.json",
    },
    ...(manifest.bin && { bin: mapValues(manifest.bin, (_source, command) => `./${command}.js`) }),
    ...(browser && { browser }),
    files: ["**/*.js", "**/*.js.map", "types", "page", "THIRD-PARTY-LICENCES.txt", ...DOCS],
    dependencies,
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
    publishConfig: { access: "public" },
  };
}

/** Returns the package.json of a program that contains its dependencies, with the files of other packages in `data`. */
export function programManifest(manifest: Manifest, data: readonly string[]): object {
  const { dependencies: _bundled, ...rest } = manifest;
  return { ...publishedManifest(rest), files: ["*.js", "page", "THIRD-PARTY-LICENCES.txt", ...data] };
}

/** Returns the declaration of a source. Both are relative, to `types` and `src`: `./src/a/b.ts` becomes `a/b.d.ts`. */
export function declarationOf(source: string): string {
  return posix.relative("src", source).replace(/\.ts$/, ".d.ts");
}

/** Returns the module of a command, without `.js`. The command itself checks Node first. */
export function programOf(command: string): string {
  return `${command}.program`;
}

/** Returns the module that checks Node before it loads the module of an export. */
export function checkedOf(path: string): string {
  return `${moduleOf(path)}.checked`;
}

/** Returns the name under which our built modules import an entry of our other packages, without a check of Node. */
export function uncheckedOf(dependency: string): string {
  const [, name, path] = /^(@banyan\/[^/]+)(\/.+)?$/.exec(dependency) ?? [];
  return name === undefined ? dependency : `${name}/${moduleOf(`.${path ?? ""}`)}.js`;
}

export function moduleOf(path: string): string {
  return path === "." ? "index" : posix.normalize(path);
}

function mapKeys<V>(record: Readonly<Record<string, V>>, name: (key: string) => string): Record<string, V> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [name(key), value]));
}

function mapValues<V, W>(record: Readonly<Record<string, V>>, to: (value: V, key: string) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
}
