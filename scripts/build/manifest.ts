import { posix } from "node:path";

/** What the build reads of a package.json in packages/: there, every entry is a TypeScript source. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** What is loaded where somebody has installed it. */
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** The modules to build, without their `.js`, each with its source: what the package exports, and its commands. */
export function entriesOf({ exports = {}, bin = {} }: Manifest): Record<string, string> {
  return { ...mapKeys(exports, moduleOf), ...mapKeys(bin, programOf) };
}

/** The package.json to publish: its entries are the built modules and their types. */
export function publishedManifest(manifest: Manifest): object {
  const { name, version, description, license, engines, dependencies, peerDependencies, peerDependenciesMeta } =
    manifest;
  return {
    name,
    version,
    description,
    license,
    type: "module",
    engines,
    exports: {
      ...mapValues(manifest.exports ?? {}, (source, path) => ({
        types: `./types/${declarationOf(source)}`,
        // Node alone asks which Node it is; what bundles for a page, or loads with `require`, gets the module itself.
        node: { import: `./${checkedOf(path)}.js`, default: `./${moduleOf(path)}.js` },
        default: `./${moduleOf(path)}.js`,
      })),
      // For our other packages: who comes from one of them runs on a Node that was asked already.
      "./*.js": "./*.js",
      "./package.json": "./package.json",
    },
    ...(manifest.bin && { bin: mapValues(manifest.bin, (_source, command) => `./${command}.js`) }),
    files: ["**/*.js", "**/*.js.map", "types", "page"],
    dependencies,
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
    publishConfig: { access: "public" },
  };
}

/** The declaration of a source, both as paths from the package's `types` and `src`: `./src/a/b.ts` is `a/b.d.ts`. */
export function declarationOf(source: string): string {
  return posix.relative("src", source).replace(/\.ts$/, ".d.ts");
}

/** The module of a command, without its `.js`: what is started checks Node first. */
export function programOf(command: string): string {
  return `${command}.program`;
}

/** The module that checks Node before it loads the one of an export. */
export function checkedOf(path: string): string {
  return `${moduleOf(path)}.checked`;
}

/** The name by which a built module of ours imports an entry of another of our packages: without asking which Node it is. */
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
