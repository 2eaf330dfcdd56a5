import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxProgram, type User } from "../../../packages/tools/src/sandbox/programs.fixture.ts";
import { type Attack, NotTried, type Place } from "../attack.ts";

// S30: several programs with sandboxes in one folder. Their commands try to create each missing protected file, while
// other programs start, exit and are killed. git and the folder are the judges.

/** Starts of each program; an attack has 200 in all. */
const STARTS = 50;
const AT_ONCE = 4;
const SECONDS = 3600;
const ORDINARY = 60_030;

const FILES = [".mcp.json", ".envrc", ".vscode/tasks.json", ".idea/a.xml", ".claude/a", ".cursor/a", ".banyan/a"];

/** Each command retries for a while, because other programs end at any time. */
const COMMAND = `exec 2>/dev/null
mkdir -p o; cp -r .git/objects .git/refs o
printf '[core]\\n\\tbare = false\\n\\tfsmonitor = "touch %s/ran-evil; false"\\n' "$PWD" > o/config
for N in 1 2 3 4; do
  rm -f .git/commondir; echo ../o > .git/commondir
  for F in ${FILES.join(" ")}; do
    D=\${F%/*}; rmdir $D; [ $D = $F ] || mkdir $D; echo evil > $F
  done
  sleep 0.05
done
echo "inside:$BANYAN_IN_SANDBOX"`;

export const attacks: readonly Attack[] = [
  starting("one user", (place) => [place.folder]),
  starting("an ordinary user", (place) => [place.folder, ordinary(place)]),
  starting("root and an ordinary user", (place, lane) =>
    lane % 2 === 0 ? [place.folder] : [place.folder, ordinary(place)],
  ),
];

function starting(who: string, programOf: (place: Place, lane: number) => [folder: string, user?: User]): Attack {
  return {
    rule: "S30",
    name: `${AT_ONCE} programs of ${who} in one repository, started ${STARTS} times each`,
    seconds: SECONDS,
    async attempt(place) {
      if (spawnSync("git", ["init", "-q", place.folder]).status !== 0) throw new NotTried("there is no git");
      const lanes = Array.from({ length: AT_ONCE }, (_, lane) => programOf(place, lane));
      const found = new AbortController();
      const tries = lanes.map(async (lane) => {
        for (let start = 0; start < STARTS && !found.signal.aborted; start += 1) {
          const broken = (await runOnce(lane)) ?? brokenIn(place.folder);
          if (broken === undefined) continue;
          found.abort();
          return `${broken} (start ${start + 1})`;
        }
        return undefined;
      });
      const broken = (await Promise.all(tries)).find((one) => one !== undefined);
      return broken ?? (await leftIn(place.folder));
    },
  };
}

async function runOnce([folder, user]: readonly [string, User?]): Promise<string | undefined> {
  const { program, why } = await SandboxProgram.tryToStart(folder, user);
  await using _ = program;
  if (/it needs|No permissions/.test(why)) throw new NotTried(why);
  if (why !== "") return `a program has no sandbox: ${why}`;
  const way = Math.random();
  const running = program.run(`sleep 0.${Math.floor(Math.random() * 3)}; ${COMMAND}`);
  if (way < 0.1) {
    await sleep(300 * Math.random());
    await program.kill(way < 0.05 ? "both" : "program");
    return undefined;
  }
  const said = await running;
  return said === "inside:1\n" ? undefined : `a command did not run in its sandbox: ${said}`;
}

/** Returns a planted file in the folder, or a program that git ran. */
function brokenIn(folder: string): string | undefined {
  const planted = FILES.find((name) => contentOf(join(folder, name)).includes("evil"));
  if (planted !== undefined) return `${planted} was planted`;
  if (contentOf(join(folder, ".git/commondir")).includes("o")) return ".git/commondir was planted";
  spawnSync("git", ["-c", `safe.directory=${folder}`, "status"], { cwd: folder });
  return existsSync(join(folder, "ran-evil")) ? "git ran a program of the command's choice" : undefined;
}

/** Returns a placeholder that remains after all programs have ended and another one has come and gone. */
async function leftIn(folder: string): Promise<string | undefined> {
  for (const _ of [1, 2]) await (await SandboxProgram.start(folder))[Symbol.asyncDispose]();
  const left = [".git/commondir", ...FILES].find((name) => existsSync(join(folder, name)));
  return left && `${left} stayed`;
}

function contentOf(file: string): string {
  try {
    return statSync(file).isFile() ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/** Returns an ordinary user who owns the folder. Commands of root may also write there. */
function ordinary(place: Place): User {
  if (process.getuid?.() !== 0) throw new NotTried("only root starts programs of another user");
  const home = join(place.home, "ordinary");
  if (existsSync(home)) return { uid: ORDINARY, home };
  mkdirSync(home);
  for (const path of [place.folder, home]) {
    execFileSync("chown", ["-R", `${ORDINARY}:${ORDINARY}`, path]);
    execFileSync("chmod", ["-R", "a+rwX", path]);
  }
  for (const path of [place.home, dirname(place.home)]) chmodSync(path, 0o755);
  place.defer(() => rmSync(`/tmp/banyan-sandboxes-${ORDINARY}`, { recursive: true, force: true }));
  return { uid: ORDINARY, home };
}
