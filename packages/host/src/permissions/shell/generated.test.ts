// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell, not JavaScript
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";
import { type Chance, chance, deniedScript, openScript } from "./generated.fixture.ts";

const isLong = process.env.BANYAN_LONG === "1";
const SCRIPTS = isLong ? 50_000 : 1_200;
/** Minimum number of different scripts that must run; larger samples contain more duplicates. */
const FEWEST = Math.min(SCRIPTS / 20, 1_500);
const SEED = Number(process.env.BANYAN_SEED ?? (isLong ? Date.now() % 1_000_000 : 20_260));
const shells = ["/bin/bash", "/bin/dash"].filter((shell) => existsSync(shell));

const folder = mkdtempSync(join(tmpdir(), "banyan-generated-"));
const [workspace, programs, trace] = [join(folder, "workspace"), join(folder, "programs"), join(folder, "trace")];

/** Records its path and arguments for each run. */
const RECORDER = `#!/bin/sh\nprintf '%s|%s|%s\\0' "$RUN" "$0" "$*" >> '${trace}'\n`;

beforeAll(() => {
  for (const path of [workspace, programs, join(workspace, "src")]) mkdirSync(path);
  for (const name of ["ls", "cat", "git", "rg", "npm", "evil", "sort"]) {
    writeFileSync(join(programs, name), RECORDER, { mode: 0o755 });
    for (const place of [workspace, join(workspace, "src")])
      writeFileSync(join(place, name), RECORDER, { mode: 0o755 });
  }
  // An unknown program that runs the words after it.
  writeFileSync(join(programs, "frob"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  for (const name of ["env", "nice", "timeout", "xargs", "sh", "find"]) symlinkSync(realOf(name), join(programs, name));
});
afterAll(() => rmSync(folder, { recursive: true }));

function realOf(name: string): string {
  return ["/bin", "/usr/bin"].map((place) => join(place, name)).find((path) => existsSync(path)) ?? "/bin/false";
}

interface Ran {
  readonly script: string;
  readonly program: string;
  readonly words: readonly string[];
}

/** The programs that scripts ran in all shells, with their arguments. */
function runAll(scripts: readonly string[]): Ran[] {
  writeFileSync(trace, "");
  const list = join(folder, "list");
  writeFileSync(list, scripts.map((script) => `${script}\0`).join(""));
  for (const shell of shells) {
    const each = `n=0; while IFS= read -r -d '' script; do cd '${workspace}'; RUN=$n PATH='${programs}' '${shell}' -c "$script" </dev/null >/dev/null 2>&1; n=$((n+1)); done < '${list}'`;
    const { status, error } = spawnSync("/bin/bash", ["-c", each], { timeout: isLong ? 500_000 : 150_000 });
    expect(error, `seed ${SEED}`).toBeUndefined();
    expect(status).not.toBeNull();
  }
  return readFileSync(trace, "utf8")
    .split("\0")
    .filter((record) => record !== "")
    .map((record) => {
      const [run = "", program = "", words = ""] = record.split("|");
      return { script: scripts[Number(run)] ?? "", program, words: words.split(" ") };
    });
}

async function chosen(
  decide: (script: string, random: Chance) => Promise<boolean>,
  make: (random: Chance) => string,
): Promise<string[]> {
  const random = chance(SEED);
  const allowed = new Set<string>();
  for (let made = 0; made < SCRIPTS; made++) {
    const script = make(random);
    if (await decide(script, random)) allowed.add(script);
  }
  return [...allowed];
}

const ALLOWED: Readonly<Record<string, (ran: Ran) => boolean>> = {
  "shell(ls *)": ({ program }) => program.endsWith("/ls"),
  "shell(cat [harmless])": ({ program }) => program.endsWith("/cat"),
  "shell(rg [harmless])": ({ program, words }) =>
    program.endsWith("/rg") && !/(?:^| )(?:--pre|-z)/.test(optionsOf(words)),
  "shell(git log [harmless])": ({ program, words }) =>
    program.endsWith("/git") && words[0] === "log" && !/(?:^| )--(?:output|ext)/.test(optionsOf(words)),
  "shell(npm test *)": ({ program, words }) => program.endsWith("/npm") && words[0] === "test",
  "shell(sort [harmless])": ({ program, words }) => program.endsWith("/sort") && !/(?:^| )-o/.test(optionsOf(words)),
};

/** After `--`, no word is an option. */
function optionsOf(words: readonly string[]): string {
  const end = words.indexOf("--");
  return words.slice(0, end < 0 ? words.length : end).join(" ");
}

test.skipIf(shells.length === 0)(
  `S18, S24: of ${SCRIPTS} generated scripts, those that run unasked run nothing but what their rules allow, in bash and dash`,
  async () => {
    const names = Object.keys(ALLOWED);
    const rulesOf = new Map<string, string[]>();
    const scripts = await chosen(async (command, random) => {
      const allow = names.filter(() => random.below(3) > 0);
      const judging = permission({ workspace, rules: rules({ allow: [...allow, "shell(echo *)", "shell(cd *)"] }) });
      const { decision } = await judge(judging, tool("shell"), { command });
      if (decision === "allow") rulesOf.set(command, allow);
      return decision === "allow";
    }, openScript);
    const wrong = runAll(scripts).filter(
      (ran) =>
        !ran.program.startsWith(programs) || !(rulesOf.get(ran.script) ?? []).some((rule) => ALLOWED[rule]?.(ran)),
    );
    expect(shortest(wrong), `seed ${SEED}, BANYAN_SEED makes it again`).toBeUndefined();
    expect(scripts.length).toBeGreaterThan(FEWEST);
  },
);

test.skipIf(shells.length === 0)(
  `S25: of ${SCRIPTS} generated scripts, those that run where nothing is asked run no denied program`,
  async () => {
    const judging = permission({
      workspace,
      mode: "all",
      rules: rules({ deny: ["shell(evil *)", "shell(git push *)"] }),
    });
    const scripts = await chosen(
      async (command) => (await judge(judging, tool("shell"), { command })).decision === "allow",
      deniedScript,
    );
    const wrong = runAll(scripts).filter(
      ({ program, words }) =>
        program.endsWith("/evil") ||
        (program.endsWith("/git") && /^(?:-[cC] \S+ |--\S+ )*push\b/.test(words.join(" "))),
    );
    expect(shortest(wrong), `seed ${SEED}, BANYAN_SEED makes it again`).toBeUndefined();
    expect(scripts.length).toBeGreaterThan(FEWEST);
  },
);

test.skipIf(shells.length === 0)("the programs that are planted tell when they run", () => {
  const ran = runAll(["frob evil a", "PATH=.; ls", "nice -n 5 git -C . push"]);
  expect(new Set(ran.map(({ program, words }) => `${program.replace(folder, "")} ${words.join(" ")}`))).toEqual(
    new Set(["/programs/evil a", "./ls ", "/programs/git -C . push"]),
  );
});

function shortest(wrong: readonly Ran[]): Ran | undefined {
  return wrong.toSorted((a, b) => a.script.length - b.script.length)[0];
}
