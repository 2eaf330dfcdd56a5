import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHOICES = ["BANYAN_SEED", "BANYAN_LONG", "BANYAN_SOAK_SECONDS", "BANYAN_ROUNDS", "BANYAN_TEST_POSTGRES"];

/**
 * Gives a test run a home of its own: user folders and a temporary folder that are removed at its end, so that no test
 * reads or leaves anything of the user's; and no keys or addresses, so that no test reaches a paid service.
 */
export default function testHome(): () => void {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-test-")));
  for (const name of Object.keys(process.env)) {
    // What chooses which tests there are is no setting of the program's.
    if (CHOICES.includes(name)) continue;
    if (/^BANYAN_|(_API_KEY|_AUTH_TOKEN|_BASE_URL)$/.test(name)) delete process.env[name];
  }
  for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"]) {
    process.env[name] = join(home, name.slice("XDG_".length).toLowerCase());
  }
  // os.tmpdir() reads the first on POSIX and the others on Windows.
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = home;
  // A program that a test starts is compiled once for all of them, and not in each new home.
  process.env.NODE_COMPILE_CACHE = join(home, "compiled");
  return () => {
    endPostgres(`${home}-postgres`);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Ends the database that the tests of the run shared, if one of them started it: at once, for nobody needs what it holds. */
function endPostgres(folder: string): void {
  const ready = join(folder, "ready");
  if (existsSync(ready)) process.kill(-JSON.parse(readFileSync(ready, "utf8")).process, "SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
