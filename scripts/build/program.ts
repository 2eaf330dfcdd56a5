import { copyFileSync, globSync, mkdirSync } from "node:fs";
import { findPackageJSON, isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "rolldown";
import { bundle } from "./bundle.ts";
import { entriesOf, programManifest } from "./manifest.ts";
import { readManifest, writeCommands, writeManifest } from "./modules.ts";

/** The optional peers of the program, and packages that its dependencies try to import and can do without. */
export const NOT_BUNDLED = [
  ...["@restatedev/restate-sdk", "node-llama-cpp"],
  ...["@microsoft/mxc-sdk", "bufferutil", "canvas", "livekit-client", "pg-native", "utf-8-validate"],
];

/** The sources that load what a start of the program needs, piece by piece. */
const STARTS = ["src/main.ts", "src/run.ts", "src/terminal/open-terminal.ts"];

/** Files of packages that the program opens by path, at the same paths below its modules. */
const DATA: Readonly<Record<string, readonly string[]>> = {
  "@anthropic-ai/sandbox-runtime": ["vendor/seccomp/*/apply-seccomp", "vendor/java-proxy-agent/*.jar"],
  "@vscode/tree-sitter-wasm": ["wasm/tree-sitter-*.wasm"],
  "web-tree-sitter": ["web-tree-sitter.wasm"],
};

/**
 * Writes the published program into `dist`, with all its dependencies. Returns the files of all its modules. Its
 * modules are not minified, so that stacks of errors can be read without source maps, which would be as large again.
 */
export async function writeProgram(folder: string, dist: string): Promise<readonly string[]> {
  const manifest = readManifest(folder);
  const files = await bundle(folder, entriesOf(manifest), {
    dist,
    inlines: (id) => !isBuiltin(id) && !NOT_BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [ownFiles],
    sourcemap: false,
    starts: STARTS,
  });
  const data = Object.entries(DATA).flatMap(([name, patterns]) => {
    const from = dirname(findPackageJSON(name, join(folder, "../tools/package.json")) ?? "");
    return globSync(patterns, { cwd: from }).map((file) => ({ from: join(from, file), to: file }));
  });
  for (const { from, to } of data) {
    mkdirSync(dirname(join(dist, to)), { recursive: true });
    copyFileSync(from, join(dist, to));
  }
  writeCommands(manifest, dist);
  writeManifest(
    programManifest(
      manifest,
      data.map(({ to }) => to),
    ),
    dist,
  );
  return [...files, ...data.map(({ from }) => from)];
}

/** Finds the files of packages, and packages that are required late, among the files of the program. */
const ownFiles: Plugin = {
  name: "own-files",
  transform: {
    filter: { id: /\/packages\/[^/]+\/src\//, code: "import.meta" },
    handler(code) {
      const found = code
        .replace(/import\.meta\.resolve\("([^"]+)\/package\.json"\)/g, (_call, name: string) => {
          if (!Object.hasOwn(DATA, name)) throw new Error(`Name the files of ${name} in DATA, which the code opens.`);
          return 'new URL("./package.json", import.meta.url).href';
        })
        .replace(/(?<=\brequire\(")([\w-]+)(?="\))/g, (_call, name: string) => {
          this.emitFile({ type: "chunk", id: name, fileName: `${name}.js` });
          return `./${name}.js`;
        });
      return { code: found, map: null };
    },
  },
};
