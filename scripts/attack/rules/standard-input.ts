// S33: an "always" answer or a rule for words allows no other standard input than the one that the user saw.

import { tryInputs } from "../../../packages/host/src/permissions/shell/standard-input.fixture.ts";
import type { Attack } from "../attack.ts";
import { commandAttacks } from "../commands.ts";

const CASES = 3_000;

const generated: Attack = {
  rule: "S33",
  name: `${CASES} commands with another standard input than the one for which "always" was chosen`,
  seconds: 900,
  async attempt() {
    const seed = Number(process.env.BANYAN_SEED ?? Date.now() % 1_000_000);
    const { executed, allowed, possible } = await tryInputs(CASES, seed);
    if (allowed < CASES / 20 || possible < 20)
      throw new Error(`Only ${allowed} commands ran, and ${possible} programs of the sample told of their input.`);
    const [first] = executed;
    return first === undefined
      ? undefined
      : `with seed ${seed} a program got an input that nobody saw in ${executed.length} commands, as in ${JSON.stringify(first)}`;
  },
};

const ALLOWED = "awk,bash,cat,echo,env,git,make,node,nice,perl,printf,python3,sed,sh,tee,timeout,xargs"
  .split(",")
  .flatMap((name) => ["--allow", `shell(${name} *)`]);

const programs = commandAttacks({
  rule: "S33",
  planted: ["evil"],
  flags: [...ALLOWED, "--approval", "edits"],
  commands: [
    "bash <<'E'\n./evil\nE\n",
    "bash -s <<< ./evil",
    "sh < 0/evil",
    "sh 3< 0/evil <&3",
    "cat evil | sh",
    "echo ./evil | tee x | bash",
    "sh <(cat evil)",
    "sh < <(cat evil)",
    "echo ./evil > >(sh)",
    "echo ./evil | tee >(sh)",
    "env bash <<< ./evil",
    "env -i A=1 /bin/sh <<< ./evil",
    "nice timeout 9 sh <<< ./evil",
    "bash -c sh <<< ./evil",
    "bash -c 'echo ./evil | sh'",
    "{ sh; } <<< ./evil",
    "python3 - <<'E'\nimport os; os.system('./evil')\nE\n",
    "echo 'import os; os.system(\"./evil\")' | python3",
    "echo 'import os; os.system(\"./evil\")' | python3 /dev/stdin",
    'node <<< \'require("child_process").execFileSync("./evil")\'',
    "perl <<< 'exec \"./evil\"'",
    "make -f - <<< 'x: ; ./evil'",
    "xargs -I{} {} <<< ./evil",
    "echo ./evil | xargs env",
    "awk '{ system($0) }' <<< ./evil",
    "sed e <<< ./evil",
    "sh /dev/stdout >> 0/evil",
    "printf 'diff --git a/.bashrc b/.bashrc\\nnew file mode 100644\\n--- /dev/null\\n+++ b/.bashrc\\n@@ -0,0 +1 @@\\n+./evil\\n' | git apply && bash --rcfile .bashrc -i",
  ],
});

export const attacks: readonly Attack[] = [generated, ...programs];
