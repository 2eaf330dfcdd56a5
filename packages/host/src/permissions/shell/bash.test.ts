// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell, not JavaScript
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-bash-"));
const workspace = join(folder, "workspace");
const programs = join(folder, "programs");
const trace = join(folder, "trace");

beforeAll(() => {
  mkdirSync(workspace);
  mkdirSync(programs);
  writeFileSync(join(programs, "evil"), `#!/bin/sh\necho ran >> '${trace}'\n`);
  writeFileSync(join(programs, "cat"), "#!/bin/sh\nwhile read -r line; do :; done\n");
  for (const name of readdirSync(programs)) chmodSync(join(programs, name), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Forbidden acts of a command in a real Bash: it ran `evil` or created a file. */
function misdeeds(command: string): string[] {
  spawnSync("/bin/bash", ["-c", command], {
    cwd: workspace,
    env: { PATH: programs },
    input: "",
    stdio: ["pipe", "ignore", "ignore"],
    timeout: 10_000,
  });
  const made = readdirSync(workspace);
  for (const name of made) rmSync(join(workspace, name), { recursive: true });
  const ran = existsSync(trace) ? ["evil"] : [];
  rmSync(trace, { force: true });
  return [...ran, ...made];
}

/** The same commands for a seed: half well-formed, half with a missing or extra piece. */
function* commands(seed: number): Generator<string> {
  let state = seed;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % bound;
  };
  const one = (...makers: readonly (string | (() => string))[]): string => {
    const maker = makers[below(makers.length)] ?? "";
    return typeof maker === "string" ? maker : maker();
  };
  const some = (make: () => string, most: number): string => Array.from({ length: below(most + 1) }, make).join("");
  const piece = (): string =>
    one(
      "a",
      " ",
      "; evil ;",
      "$(evil)",
      "`evil`",
      "\nevil\n",
      '"',
      "'",
      "}",
      ")",
      "\\",
      " #",
      "<<E\n",
      "${",
      "\nE\n",
      "$'",
      "((",
      "))",
      "$[",
      "]",
      "{",
      ",",
      "!",
      "@(",
      "esac",
    );
  const quoted = (): string =>
    one(
      "a",
      "'",
      " ",
      "$'",
      '\\"',
      "; evil",
      "\n",
      '"',
      "$((1))",
      "${x:-a}",
      "${x:-'}",
      "${x#'}",
      () => `$(${script(2)})`,
      "`evil`",
    );
  const word = (): string =>
    one(
      "a",
      "evil",
      "*",
      "$x",
      "`evil`",
      () => `'${some(piece, 3)}'`,
      () => `"${some(quoted, 3)}"`,
      () => `$'${some(piece, 2)}'`,
      () => `$(${script(2)})`,
      () => `<(${script(3)})`,
      () => `{a,${word()}}`,
      () => `\\${piece()}`,
      () => `#${piece()}`,
    );
  const document = (): string =>
    one(
      () => ` <<E\n${some(piece, 3)}\nE\n`,
      () => ` <<'E'\n${some(piece, 3)}\nE\n`,
      () => ` <<-E\n${some(quoted, 3)}\n\tE\n`,
      () => ` <<"E"\n${some(piece, 2)}\nE`,
    );
  const simple = (): string =>
    one("echo", "echo", "cat", "true", "evil", "f") +
    some(() => ` ${word()}`, 3) +
    one("", "", "", " >/dev/null", " 2>&1", " > out", () => ` <<< ${word()}`, document);
  const script = (depth: number): string => {
    if (depth > 3) return "echo a";
    const inner = (): string => script(depth + 1);
    return one(
      simple,
      simple,
      simple,
      () => simple() + one(";", "&&", "||", "|", "\n", "&", " # c\n") + inner(),
      () => `( ${inner()} )`,
      () => `{ ${inner()}; }`,
      () => `if ${inner()}; then ${inner()}; fi`,
      () => `for i in ${word()}; do ${inner()}; done`,
      () => `case ${word()} in ${one("*", "a", "(a")}) ${inner()};; esac`,
      () => `f() { ${inner()}; }`,
      () => `[[ ${word()} == ${word()} ]] && ${inner()}`,
      () => `(( 1 + 1 )) && ${inner()}`,
    );
  };
  for (;;) {
    const made = script(0);
    const at = below(made.length + 1);
    yield one(
      made,
      () => made.slice(0, at) + piece() + made.slice(at),
      () => made.slice(0, at) + made.slice(at + 1 + below(2)),
    );
  }
}

test.skipIf(!existsSync("/bin/bash"))(
  "S7: what is allowed runs nothing else in a real Bash, and what a deny rule forbids is not run",
  async () => {
    const allowing = permission({
      workspace,
      rules: rules({ allow: ["shell(echo *)", "shell(cat *)", "shell(true *)", "shell(f *)"] }),
    });
    const denying = permission({ workspace, mode: "all", rules: rules({ deny: ["shell(evil *)", "write(**)"] }) });
    const misread: string[] = [];
    let judged = 0;
    for (const command of commands(20_260)) {
      if (judged === 150) break;
      if (!command.includes("evil") && !command.includes("out")) continue;
      for (const judging of [allowing, denying]) {
        if ((await judge(judging, tool("shell"), { command })).decision !== "allow") continue;
        judged++;
        if (misdeeds(command).length > 0) misread.push(command);
        break;
      }
    }
    expect(misread).toEqual([]);
    expect(misdeeds("echo $(evil) > out")).toEqual(["evil", "out"]);
  },
);
