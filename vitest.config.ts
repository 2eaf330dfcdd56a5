import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { type Suite, testFiles } from "./scripts/test-projects.ts";

/**
 * `vitest run` runs all test files, or those that are named. `--mode quick` and `--mode full` run one of the two suites.
 * `--mode long` runs all files, with the tests that take minutes: they look at BANYAN_LONG.
 */
export default defineConfig(({ mode }) => {
  const long = mode === "long" || process.env.BANYAN_LONG === "1";
  const suite: Suite = mode === "quick" || mode === "full" ? mode : "all";
  return {
    test: {
      projects: Object.entries(testFiles(import.meta.dirname, suite)).map(([name, include]) => ({
        extends: true as const,
        test: { name, include, isolate: name === "alone" },
      })),
      pool: "forks",
      // More than there are cores: half of the time tests wait, for processes, sockets and browsers.
      maxWorkers: Math.ceil(availableParallelism() * 1.5),
      // They end what hangs, and nothing else: a machine with other work may need twenty times as long as an idle one.
      testTimeout: (long ? 10 : 5) * 60_000,
      hookTimeout: 5 * 60_000,
      // One of ten thousand tests that fails once on a busy machine does not fail CI. The closing line names such tests.
      retry: process.env.CI ? 1 : 0,
      expect: { poll: { timeout: 30_000 } },
      env: {
        BANYAN_NO_DISCOVERY: "1",
        // One commit gives one result: only long mode tries new random cases.
        ...(long ? { BANYAN_LONG: "1" } : { BANYAN_SEED: process.env.BANYAN_SEED ?? "1" }),
      },
      setupFiles: ["./scripts/same-seed.ts"],
      // No quick test starts the program.
      globalSetup: ["./scripts/test-home.ts", ...(suite === "quick" ? [] : ["./scripts/test-program.ts"])],
      reporters: ["default", "./scripts/closing-line.ts"],
    },
  };
});
