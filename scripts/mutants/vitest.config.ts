import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import everyday from "../../vitest.config.ts";
import { type Mutant, mutated } from "./mutant.ts";

/** The suite with one changed line. The change is made while the source is loaded; no file changes. */
export default defineConfig((environment) => {
  const mutant: Mutant = JSON.parse(process.env.BANYAN_MUTANT ?? "");
  const root = fileURLToPath(new URL("../..", import.meta.url));
  return mergeConfig(everyday(environment), {
    root,
    // The cache contains the unchanged source.
    test: { fsModuleCache: false, testTimeout: 60_000, bail: 1, reporters: [["json"]] },
    plugins: [
      {
        name: "mutant",
        enforce: "pre",
        transform: (code: string, id: string) => (id === `${root}${mutant.file}` ? mutated(code, mutant) : undefined),
      },
    ],
  });
});
