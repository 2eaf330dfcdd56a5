import { dirname, isAbsolute, join, parse } from "node:path";
import { build, type CodeSplittingGroup, type Plugin, type PreRenderedChunk } from "rolldown";
import { isDependency, type Modules, outsideOf } from "./module-graph.ts";
import { groupByMoments } from "./moments.ts";
import { pageTimes } from "./page-times.ts";

export interface BundleOptions {
  /** The output folder. Default: `dist` of the package. */
  readonly dist?: string;
  /** Returns whether an import by name becomes part of the bundle. Default: none. */
  readonly inlines?: (id: string, importer: string | undefined) => boolean;
  /** Returns the name under which a remaining import is imported. Default: its own name. */
  readonly named?: (dependency: string) => string;
  /** Further steps of the bundler. */
  readonly plugins?: readonly Plugin[];
  /** Default `true`. */
  readonly sourcemap?: boolean;
  /** The sources of a program whose imports on demand are the moments of its start. Default: none. */
  readonly starts?: readonly string[];
}

/**
 * The syntax that remains: that of the oldest Node that reports which Node it needs, and of all current browsers. `using`
 * is compiled away.
 */
const TARGET = "es2023";

/**
 * Bundles each entry of the package in `folder` into one module in `dist`. Shared and dynamically imported code becomes
 * separate modules. Dependencies and Node's own modules stay imports. Returns the files of all modules in
 * the bundle. Throws if the bundler reports a warning about our own code.
 */
export async function bundle(
  folder: string,
  entries: Readonly<Record<string, string>>,
  options: BundleOptions = {},
): Promise<readonly string[]> {
  const { dist = join(folder, "dist"), inlines = () => false, named = (name) => name, plugins = [] } = options;
  const threads = new Set<string>();
  const sources = Object.values(entries).map((entry) => join(folder, entry));
  const { starts } = options;
  const groups = starts
    ? [
        groupByMoments(
          () => [...sources, ...threads],
          starts.map((source) => join(folder, source)),
        ),
      ]
    : shared(folder, entries, threads);
  const { output } = await build({
    cwd: folder,
    input: entries,
    external: (id, importer) => isDependency(id) && !inlines(id, importer),
    platform: "node",
    tsconfig: false,
    transform: { target: TARGET },
    // Nobody imports the modules of a program, so they may export more to each other.
    ...(starts && { preserveEntrySignatures: false }),
    plugins: [threadsPlugin(threads), ...plugins],
    onLog(level, log) {
      // One entry may need at once what another loads on demand.
      if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
      if (level === "warn" && !log.id?.includes("/node_modules/")) throw new Error(`${folder}: ${log.message}`);
    },
    output: {
      dir: dist,
      sourcemap: options.sourcemap ?? true,
      entryFileNames: "[name].js",
      chunkFileNames: (chunk) => `${chunkName(chunk)}-[hash].js`,
      minifyInternalExports: false,
      paths: named,
      codeSplitting: { groups },
    },
  });
  return output.flatMap((made) => (made.type === "chunk" ? made.moduleIds.filter(isAbsolute) : []));
}

/** By default, the bundler names shared modules after all their users, and modules of packages all alike. */
function chunkName({ name, moduleIds }: PreRenderedChunk): string {
  const [, owner] = /.*\/(?:node_modules\/(?:@[^/]+\/)?|packages\/)([^/]+)\//.exec(moduleIds.at(-1) ?? "") ?? [];
  return owner !== undefined && /^(src|dist|lib|build|esm|index|internal)$/.test(name)
    ? owner
    : name.replace(/~.*/, "");
}

/**
 * Code that the same set of entries shares becomes a separate module unless it is small: finding and opening a module
 * takes Node as long as reading 20,000 characters. The main entry of a package loads nearly all shared code anyway, so
 * there more counts as small. Code with external imports is hardly merged with other code, because its imports come
 * along, unless every entry has these imports anyway; code without them also works in a page. An entry that imports no
 * other module of its package is never merged: a user of only this entry, such as the first drawing of a terminal, would
 * have to load the rest. The modules of core are apart by the time at which a page loads them.
 */
function shared(
  folder: string,
  entries: Readonly<Record<string, string>>,
  threads: ReadonlySet<string>,
): CodeSplittingGroup[] {
  const importedByAll = (context: Modules): ReadonlySet<string> =>
    Object.values(entries)
      .map((entry) => outsideOf(context, join(folder, entry)))
      .reduce((all, imported) => all.intersection(imported));
  let common: ReadonlySet<string> | undefined;
  const small = "index" in entries ? 200_000 : 20_000;
  const timeOf = pageTimes(
    Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(folder, file)])),
  );
  const group = { tags: ["$initial" as const], minShareCount: 2 };
  const upTo = (size: number) => ({ entriesAware: true, entriesAwareMergeThreshold: size });
  return [
    {
      tags: ["$initial"],
      debugName: "alone",
      // A thread keeps the name under which it is started.
      name: (id, context) => (standsAlone(id, context) && !threads.has(id) ? parse(id).name : undefined),
    },
    {
      ...group,
      debugName: "first",
      name: (id, context) => (timeOf?.(id, context) === "first" ? "first" : undefined),
    },
    {
      ...group,
      debugName: "plain",
      name(id, context) {
        if (timeOf?.(id, context) === "later") return undefined;
        common ??= importedByAll(context);
        return outsideOf(context, id).isSubsetOf(common) ? "plain" : undefined;
      },
      // In core, modules that are merged by size could import each other.
      ...(timeOf ? {} : upTo(small)),
    },
    {
      ...group,
      debugName: "shared",
      name: (id, context) => (timeOf?.(id, context) === "later" ? undefined : "shared"),
      ...upTo(2_000),
    },
    {
      tags: ["$initial"],
      debugName: "later",
      name: (id, context) => (timeOf?.(id, context) === "later" ? "later" : undefined),
    },
    {
      debugName: "on demand",
      // Modules of one folder are needed together.
      name: (id, context) => (timeOf?.(id, context) === "later" ? parse(dirname(id)).name : undefined),
    },
  ];
}

function standsAlone(id: string, context: Modules): boolean {
  const { isEntry, importedIds } = context.getModuleInfo(id) ?? {};
  return isEntry === true && importedIds?.every(isDependency) === true;
}

/**
 * Bundles the sources of threads, `new URL("./name.ts", import.meta.url)`, each as a module with a name of its own. Adds
 * the sources to `threads`.
 */
function threadsPlugin(threads: Set<string>): Plugin {
  return {
    name: "threads",
    transform: {
      filter: { code: "import.meta.url" },
      handler(code, id) {
        const named = code.replace(/(?<=new URL\(")(\.[^"]+)\.ts(?=", import\.meta\.url\))/g, (_file, path: string) => {
          const source = join(dirname(id), `${path}.ts`);
          const fileName = `${threadName(source)}.js`;
          threads.add(source);
          this.emitFile({ type: "chunk", id: source, fileName });
          return `./${fileName}`;
        });
        // The replacement has no line breaks, so the source map stays correct.
        return { code: named, map: null };
      },
    },
  };
}

/** The program has threads of several packages in one folder, and two packages may use the same name. */
function threadName(source: string): string {
  const [, path = parse(source).name] = /.*[/\\]packages[/\\](.+)\.ts$/.exec(source) ?? [];
  return path
    .split(/[/\\]/)
    .filter((part) => part !== "src")
    .join("-");
}
