import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const RUNNER = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
const CLIENT = fileURLToPath(new URL("./client.fixture.ts", import.meta.url));
const BASELINE = fileURLToPath(new URL("./baseline.yml", import.meta.url));
/** Milliseconds for one scenario. */
const PATIENCE = 60_000;

/** Runs the protocol's own conformance runner against our client. Returns exit code and output. */
function conformance(...wanted: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  const args = ["client", "--command", `${process.execPath} ${CLIENT}`, "--timeout", String(PATIENCE), ...wanted];
  return new Promise((resolve) => {
    execFile(process.execPath, [RUNNER, ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, said: stdout + stderr });
    });
  });
}

// `sse-retry` measures time and only runs in the whole suite.
test.concurrent.each([
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "auth/metadata-default",
  "auth/scope-step-up",
])("B47: the client conforms to the protocol in the scenario %s", async (scenario) => {
  const { code, said } = await conformance("--scenario", scenario);
  expect(said).toMatch(/OVERALL: PASSED/);
  expect(code).toBe(0);
});

test.runIf(process.env.BANYAN_LONG === "1")(
  "B47: the client conforms in every scenario but those of the baseline",
  async () => {
    const { said } = await conformance("--suite", "all", "--expected-failures", BASELINE);
    const unexpected =
      said.slice(said.indexOf("Unexpected failures (not in baseline)")).match(/(?<=^ {2}✗ )\S+/gm) ?? [];
    const passed = said.match(/^✓ /gm)?.length ?? 0;
    // `sse-retry` measures a reconnect next to all other scenarios. If it was late there, it must pass alone.
    if (unexpected.length > 0) {
      expect(unexpected).toEqual(["sse-retry"]);
      await expect.poll(async () => (await conformance("--scenario", "sse-retry")).said).toMatch(/OVERALL: PASSED/);
    }
    expect(passed + unexpected.length).toBe(23);
  },
);
