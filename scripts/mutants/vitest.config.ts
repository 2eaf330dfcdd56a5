import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import everyday from "../../vitest.config.ts";
import { type Mutant, mutated } from "./mutant.ts";

/** The suite with one line of the product changed on its way into the tests; no file is touched. */
export default defineConfig((environment) => {
  const mutant: Mutant = JSON.parse(process.env.BANYAN_MUTANT ?? "");
  const root = fileURLToPath(new URL("../..", import.meta.url));
  return mergeConfig(everyday(environment), {
    root,
    // What was cached is the source as it is.
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
