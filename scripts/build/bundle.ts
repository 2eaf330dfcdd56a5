import { dirname, isAbsolute, join, parse } from "node:path";
import { build, type CodeSplittingGroup, type Plugin } from "rolldown";

/** Where a bundle goes, and what it holds beside the package. */
export interface BundleOptions {
  /** `dist` of the package when absent. */
  readonly dist?: string;
  /** Whether something that `importer` imports by its name becomes part of the bundle; nothing does when absent. */
  readonly inlines?: (id: string, importer: string | undefined) => boolean;
  /** By which name something that stays an import is imported; by its own when absent. */
  readonly named?: (dependency: string) => string;
}

/**
 * Bundles the entries of the package in `folder` into `dist`, each into one module. What several of them need, and
 * what is loaded only when it is wanted (`await import("./...")`), becomes a module beside them. Dependencies and Node's
 * own modules stay imports. Answers what each entry exports. Throws when the bundler has anything to warn of.
 */
export async function bundle(
  folder: string,
  entries: Readonly<Record<string, string>>,
  { dist = join(folder, "dist"), inlines = () => false, named = (dependency) => dependency }: BundleOptions = {},
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { output } = await build({
    cwd: folder,
    input: entries,
    external: (id, importer) => isDependency(id) && !inlines(id, importer),
    platform: "node",
    tsconfig: false,
    transform: { target: "node24" },
    plugins: [threads],
    onLog(level, log) {
      if (level === "warn") throw new Error(`${folder}: ${log.message}`);
    },
    output: {
      dir: dist,
      sourcemap: true,
      entryFileNames: "[name].js",
      // The bundler names what is shared after all that share it.
      chunkFileNames: ({ name }) => `${name.replace(/~.*/, "")}-[hash].js`,
      minifyInternalExports: false,
      paths: named,
      codeSplitting: { groups: shared(entries) },
    },
  });
  return new Map(output.flatMap((made) => (made.type === "chunk" && made.isEntry ? [[made.name, made.exports]] : [])));
}

/**
 * What several entries share is a module of its own for each set of entries that share the same, unless it is small: to find
 * and open a module takes Node as long as to read 20,000 characters. With the main entry of a package comes nearly all that
 * others share with it, so there more counts as small. What imports something from outside is put together with next to
 * nothing, since with it comes all that it imports; what does not can be loaded in a page, too. An entry that imports no other
 * module of its package is put together with nothing: whoever needs it alone, as the first drawing of a terminal does, would wait
 * for the rest.
 */
function shared(entries: Readonly<Record<string, string>>): CodeSplittingGroup[] {
  const small = "index" in entries ? 200_000 : 20_000;
  const group = { tags: ["$initial" as const], minShareCount: 2, entriesAware: true };
  return [
    {
      tags: ["$initial"],
      debugName: "alone",
      name: (id, context) => (standsAlone(id, context) ? parse(id).name : undefined),
    },
    {
      ...group,
      debugName: "plain",
      name: (id, context) => (reachesOutside(id, context) ? undefined : "plain"),
      entriesAwareMergeThreshold: small,
    },
    { ...group, name: "shared", entriesAwareMergeThreshold: 2_000 },
  ];
}

function reachesOutside(id: string, context: Modules, seen = new Set<string>()): boolean {
  if (isDependency(id)) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return [...(context.getModuleInfo(id)?.importedIds ?? [])].some((other) => reachesOutside(other, context, seen));
}

/** Whether a module is an entry that imports no other module of its package. */
function standsAlone(id: string, context: Modules): boolean {
  const { isEntry, importedIds } = context.getModuleInfo(id) ?? {};
  return isEntry === true && importedIds?.every(isDependency) === true;
}

interface Modules {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importedIds: readonly string[] } | null;
}

function isDependency(id: string): boolean {
  return !id.startsWith(".") && !isAbsolute(id);
}

/** Bundles what a thread is started from, `new URL("./name.ts", import.meta.url)`, as `name.js`. */
const threads: Plugin = {
  name: "threads",
  transform: {
    filter: { code: "import.meta.url" },
    handler(code, id) {
      const named = code.replace(/(?<=new URL\(")(\.[^"]+)\.ts(?=", import\.meta\.url\))/g, (_file, path: string) => {
        const { name } = parse(path);
        this.emitFile({ type: "chunk", id: join(dirname(id), `${path}.ts`), fileName: `${name}.js` });
        return `./${name}.js`;
      });
      // What lies beside its starter keeps its place in the line, and with it the source map.
      return { code: named, map: null };
    },
  },
};
