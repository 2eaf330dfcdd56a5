import { defineConfig } from "vitest/config";

/** `vitest run` is the everyday suite; `--mode long` adds the tests that take minutes: they look at BANYAN_LONG. */
export default defineConfig(({ mode }) => {
  const long = mode === "long" || process.env.BANYAN_LONG === "1";
  return {
    test: {
      include: [
        "packages/*/src/**/*.test.ts",
        "scripts/**/*.test.ts",
        "bench/src/**/*.test.ts",
        "examples/src/**/*.test.ts",
      ],
      pool: "forks",
      // One for each core: many tests wait for processes and sockets, and Vitest would leave a core to itself.
      maxWorkers: "100%",
      testTimeout: long ? 10 * 60_000 : 20_000,
      hookTimeout: 20_000,
      env: {
        BANYAN_NO_DISCOVERY: "1",
        ...(long && { BANYAN_LONG: "1" }),
      },
      globalSetup: "./scripts/test-home.ts",
      reporters: ["default", "./scripts/closing-line.ts"],
    },
  };
});
