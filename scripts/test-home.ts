import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHOICES = ["BANYAN_SEED", "BANYAN_LONG", "BANYAN_SOAK_SECONDS", "BANYAN_ROUNDS", "BANYAN_TEST_POSTGRES"];

/**
 * Gives a test run its own home: user folders and a temporary folder that are removed at the end, so that no test reads
 * or leaves data of the user. Keys and addresses are removed, so that no test reaches a paid service.
 */
export default function testHome(): () => void {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-test-")));
  for (const name of Object.keys(process.env)) {
    // The variables that choose tests are no settings of the program.
    if (CHOICES.includes(name)) continue;
    if (/^BANYAN_|(_API_KEY|_AUTH_TOKEN|_BASE_URL)$/.test(name)) delete process.env[name];
  }
  for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"]) {
    process.env[name] = join(home, name.slice("XDG_".length).toLowerCase());
  }
  // os.tmpdir() reads the first on POSIX and the others on Windows.
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = home;
  process.env.NODE_COMPILE_CACHE = join(home, "compiled");
  return () => {
    endPostgres(`${home}-postgres`);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Kills the shared database of the tests, if one of them started it: its data is not needed. */
function endPostgres(folder: string): void {
  const ready = join(folder, "ready");
  if (existsSync(ready)) process.kill(-JSON.parse(readFileSync(ready, "utf8")).process, "SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
