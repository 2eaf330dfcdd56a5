import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Packages whose tests change nothing but what they make: one worker runs many of their files, and loads them once. */
const PURE = "packages/{core,protocol,models,memory}/src/**/*.test.ts";

/** `vitest run` is the everyday suite; `--mode long` adds the tests that take minutes: they look at BANYAN_LONG. */
export default defineConfig(({ mode }) => {
  const long = mode === "long" || process.env.BANYAN_LONG === "1";
  return {
    test: {
      projects: [
        { extends: true, test: { name: "shared", include: [PURE], isolate: false } },
        {
          extends: true,
          test: {
            name: "alone",
            include: [
              "packages/*/src/**/*.test.{ts,tsx}",
              "scripts/**/*.test.ts",
              "bench/src/**/*.test.ts",
              "examples/src/**/*.test.ts",
            ],
            exclude: [PURE],
          },
        },
      ],
      pool: "forks",
      // More than there are cores: half of the time tests wait, for processes, sockets and browsers.
      maxWorkers: Math.ceil(availableParallelism() * 1.5),
      // They end what hangs, and nothing else: a machine with other work may need twenty times as long as an idle one.
      testTimeout: (long ? 10 : 3) * 60_000,
      hookTimeout: 3 * 60_000,
      expect: { poll: { timeout: 30_000 } },
      env: {
        BANYAN_NO_DISCOVERY: "1",
        ...(long && { BANYAN_LONG: "1" }),
      },
      globalSetup: ["./scripts/test-home.ts", "./scripts/test-program.ts"],
      reporters: ["default", "./scripts/closing-line.ts"],
    },
  };
});
