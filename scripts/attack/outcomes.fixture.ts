import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Attack, NotTried } from "./attack.ts";

const seconds = 2;

/** One attack for each way in which an attempt can end. */
export const attacks: readonly Attack[] = [
  {
    rule: "S0",
    name: "holds, and leaves a file and a process behind",
    async attempt({ folder, home }) {
      writeFileSync(join(folder, "left"), "");
      writeFileSync(join(home, "left"), "");
      spawn("sleep", ["1000"], { stdio: "ignore" });
      return undefined;
    },
  },
  {
    rule: "S0",
    name: "holds, in a place of its own",
    async attempt({ folder, home }) {
      if (readdirSync(folder).length > 0 || existsSync(join(home, "left"))) return "the place was used before";
      return homedir() === home && tmpdir().startsWith(dirname(home)) ? undefined : "the home is another one";
    },
  },
  { rule: "S0", name: "breaks through", attempt: async () => "it broke" },
  {
    rule: "S0",
    name: "throws",
    attempt: async () => {
      throw new Error("a mistake");
    },
  },
  {
    rule: "S0",
    name: "cannot be tried",
    attempt: async () => {
      throw new NotTried("there is no moon");
    },
  },
  {
    rule: "S0",
    name: "waits for ever",
    seconds,
    attempt: () => new Promise(() => setInterval(() => {}, 1000)),
  },
  {
    rule: "S0",
    name: "never gives the processor back",
    seconds,
    async attempt() {
      for (;;);
    },
  },
  { rule: "S0", name: "ends its process", attempt: async () => process.exit(0) },
  {
    rule: "S0",
    name: "runs the command",
    async attempt({ banyan }) {
      const { code, stdout } = await banyan(["--version"]);
      return code === 0 && /^\d+\.\d+/.test(stdout) ? undefined : `it ended with ${code}: ${stdout}`;
    },
  },
];
