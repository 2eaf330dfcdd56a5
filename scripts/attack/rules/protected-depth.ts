import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { modelServer, shell } from "../../../packages/cli/src/testing/model-server.ts";
import { type Attack, NotTried, type Place } from "../attack.ts";

// S36: the promises about depth, about commands that did not run, and about secrets in other programs' sessions hold.

/** Files that programs obey in any folder that a user opens. */
const obeyed = [
  ".vscode/tasks.json",
  ".idea/workspace.xml",
  ".claude/commands/git/commit.md",
  ".devcontainer/devcontainer.json",
  ".config/fish/config.fish",
  ".bashrc",
  ".envrc",
  ".mcp.json",
  ".git/config",
];

/** As in docs/sandbox.md: the workspace and four levels of folders. */
const DEEPEST = 4;

const depths = Array.from({ length: DEEPEST + 1 }, (_, depth): Attack => {
  return {
    rule: "S36",
    name: `a sandboxed command changes what programs obey in a folder that is ${depth} deep`,
    async attempt(place) {
      const files = obeyed.map((file) => join(...["a", "b", "c", "d"].slice(0, depth), file));
      for (const file of files) {
        mkdirSync(dirname(join(place.folder, file)), { recursive: true });
        writeFileSync(join(place.folder, file), "as it was");
      }
      const command = files.map((file) => `echo evil > ${file}`).join("; ");
      await using model = await modelServer(shell(`touch ran; ${command}`), { text: "done" });
      const { stderr } = await place.banyan(["-p", "go", "--model", "openai-compatible/test", "--allow", "shell(*)"], {
        env: model.env,
      });
      if (stderr.includes("without a sandbox")) throw new NotTried("commands run in no sandbox here");
      if (!existsSync(join(place.folder, "ran"))) throw new Error(`The command did not run: ${stderr}`);
      const changed = files.filter((file) => readFileSync(join(place.folder, file), "utf8") !== "as it was");
      return changed.length > 0 ? `changed: ${changed.join(", ")}` : undefined;
    },
  };
});

/** Reasons that keep a command from running, with flags. A command that runs anyway leaves a mark. */
const refusals: Readonly<Record<string, { readonly call: object; readonly args?: readonly string[] }>> = {
  "arguments that do not fit": { call: { command: "touch ran", timeout: "soon" } },
  "a rule that denies it": { call: { command: "touch ran" }, args: ["--deny", "shell(touch *)"] },
  "nobody who could allow it": { call: { command: "touch ran; $(true)" } },
  "a placeholder of a secret": { call: { command: "touch ran; echo [redacted:key]" }, args: ["--allow", "shell(*)"] },
};

const renderings: Readonly<Record<string, (place: Place, said: string, id: string) => Promise<string>>> = {
  "the lines of a printed turn": async (_, said) => said,
  "an export as HTML": (place, _, id) => exported(place, id, "html"),
  "an export as Markdown": (place, _, id) => exported(place, id, "markdown"),
  "the lines of an earlier conversation": async (place, _, id) =>
    (await place.banyan(["conversations", "show", id])).stdout,
};

async function exported(place: Place, id: string, format: string): Promise<string> {
  const { stdout } = await place.banyan(["conversations", "export", id, "--format", format]);
  // The text for the model is below the word about the end of the call.
  return stdout.replaceAll(/<pre>[\s\S]*?<\/pre>|<style>[\s\S]*?<\/style>|^(`{3,})[\s\S]*?^\1$/gm, "");
}

const FAILED = /\bfailed\b|exit code|✗/i;

const commands = Object.entries(refusals).flatMap(([refusal, { call, args = [] }]) =>
  Object.entries(renderings).map(
    ([where, read]): Attack => ({
      rule: "S36",
      name: `a command that did not run, for ${refusal}, is told as one that failed, in ${where}`,
      async attempt(place) {
        await using model = await modelServer({ calls: [{ tool: "shell", input: call }] }, { text: "Well." });
        const run = ["-p", "go", "--model", "openai-compatible/test", ...args];
        const { stdout, stderr } = await place.banyan([...run, "--output", "json"], { env: model.env });
        if (existsSync(join(place.folder, "ran"))) throw new Error("The command ran.");
        const { conversation } = JSON.parse(stdout);
        const shown = await read(place, stderr, conversation);
        const line = shown.split("\n").find((each) => each.includes("shell") && FAILED.test(each));
        if (!shown.includes("shell")) throw new Error(`The call is not shown: ${shown.slice(0, 500)}`);
        return line;
      },
    }),
  ),
);

const SECRET = `sk-ant-api03-${"Qz7".repeat(31)}-AA`;
const FIXTURES = new URL("../../../packages/host/src/exchange/programs/fixtures/", import.meta.url);

const sessions: Readonly<Record<string, string>> = {
  "claude-code": ".claude/projects",
  codex: ".codex/sessions",
  pi: ".pi/agent/sessions",
};

const imports = Object.entries(sessions).map(
  ([program, folder]): Attack => ({
    rule: "S36",
    name: `a secret in the first words of a session of ${program} is shown when it is imported`,
    async attempt(place) {
      const target = join(place.home, folder);
      for (const name of readdirSync(new URL(`${program}/`, FIXTURES), { recursive: true, encoding: "utf8" })) {
        if (!name.endsWith(".jsonl")) continue;
        const text = readFileSync(new URL(`${program}/${name}`, FIXTURES), "utf8");
        mkdirSync(dirname(join(target, name)), { recursive: true });
        writeFileSync(join(target, name), text.replaceAll("write a file", `use ${SECRET} to write a file`));
      }
      const read = async (...args: string[]) => {
        const { stdout, stderr } = await place.banyan(["conversations", ...args]);
        return stdout + stderr;
      };
      const listed = await read("import");
      if (!listed.includes("write a file") && !listed.includes("use ")) throw new Error(`Nothing is listed: ${listed}`);
      const told = listed + (await read("import", "--all")) + (await read("list", "--all"));
      return told.includes(SECRET.slice(0, 30)) ? "the secret" : undefined;
    },
  }),
);

export const attacks: readonly Attack[] = [...depths, ...commands, ...imports];
