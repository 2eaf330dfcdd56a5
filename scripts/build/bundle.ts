import { dirname, isAbsolute, join, parse } from "node:path";
import { build, type Plugin } from "rolldown";

/**
 * Bundles the entries of the package in `folder` into `dist`, each into one module. What several of them need, and
 * what is loaded only when it is wanted (`await import("./...")`), becomes a module beside them. Dependencies and Node's
 * own modules stay imports. Answers what each entry exports. Throws when the bundler has anything to warn of.
 */
export async function bundle(
  folder: string,
  entries: Readonly<Record<string, string>>,
  dist = join(folder, "dist"),
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { output } = await build({
    cwd: folder,
    input: entries,
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
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
      chunkFileNames: "[name]-[hash].js",
      minifyInternalExports: false,
    },
  });
  return new Map(output.flatMap((made) => (made.type === "chunk" && made.isEntry ? [[made.name, made.exports]] : [])));
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
