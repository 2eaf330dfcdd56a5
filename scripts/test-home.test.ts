import { tmpdir } from "node:os";
import { expect, test } from "vitest";

test("tests read and write no folder of the user's", () => {
  const folders = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
  for (const name of folders) expect(process.env[name]).toContain("banyan-test-");
  expect(tmpdir()).toContain("banyan-test-");
});

test("tests have no key and no address of a provider, and look for no local server", () => {
  const names = Object.keys(process.env).filter((name) => /(_API_KEY|_AUTH_TOKEN|_BASE_URL)$/.test(name));
  expect(names).toEqual([]);
  expect(process.env.BANYAN_NO_DISCOVERY).toBe("1");
});
