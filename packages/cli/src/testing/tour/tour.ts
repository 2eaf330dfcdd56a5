// Draws docs/tour.svg, the animation in the README, from the bytes of a real run: the program in a real terminal
// (tmux), keys from this script, and a scripted model server. Run `npm run picture` after changes of the terminal's
// look.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { modelServer } from "../model-server.ts";
import { film } from "./film.ts";
import { Recording } from "./recording.ts";

const MODEL = "openai-compatible/scripted";
const PROMPT = /Reply to banyan: ─+\n\s*\n?(?:chat · )?asks first · /;
const [columns, rows] = [100, 30];
const root = fileURLToPath(new URL("../../../../..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "banyan-tour-"));
const workspace = mkdtempSync(join(tmpdir(), "garden-"));

const retry = `/** Calls \`work\` until it succeeds, five times at most. */
export async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}
`;
const test = `import assert from "node:assert/strict";
import test from "node:test";
import { retry } from "./retry.ts";

test("tries again after a failure", async () => {
  let tries = 0;
  const fails = async () => {
    if (++tries < 3) throw new Error("not yet");
    return tries;
  };
  assert.equal(await retry(fails), 3);
});
`;
const change = `The failures come too fast one after the other. I put a pause between them:

\`\`\`ts:7:8
      if (attempt === 5) throw error;
      // Twice as long each time, and never the same for two callers.
      const longest = 100 * 2 ** attempt;
      const pause = longest * (0.5 + Math.random() / 2);
      await new Promise((resolve) => setTimeout(resolve, pause));
\`\`\`
`;
const table = `Between two attempts there is now a **pause that doubles**:

| after attempt | longest pause |
|---|---|
| 1 | 200 ms |
| 2 | 400 ms |
| 3 | 800 ms |
| 4 | 1.6 s |
`;
const long = `## What jitter is for

When a service fails, all its callers fail **at the same moment**. If each of them waits for the same time, they also come back
at the same moment, and the service fails again under their load. This is called a *thundering herd*.

Jitter is the part of a pause that is left to chance. With it the callers come back one by one, and`;
const short = `Jitter is the part of a pause that is left to chance, so that callers who failed together do not **come back together**.`;

/** The plan with `done` completed steps. */
const plan = (done: number) => {
  const titles = ["Pause longer after each failure", "Run its test", "Keep its demo running"];
  const statusOf = (step: number) => (step < done ? "completed" : step === done ? "in_progress" : "pending");
  return { tool: "update_plan", input: { steps: titles.map((title, step) => ({ title, status: statusOf(step) })) } };
};

/** Text in pieces as a model streams it. */
const pieces = (text: string) => text.match(/\s*\S+/g)?.concat("\n") ?? [];

try {
  mkdirSync(join(home, "banyan", "config"), { recursive: true });
  mkdirSync(join(home, "banyan", "state"));
  for (const said of ["welcomed", "memory-offered"]) writeFileSync(join(home, "banyan", "state", said), "");
  const models = { [MODEL]: { price: { input: 3, output: 15 }, contextSize: 200_000 } };
  writeFileSync(join(home, "banyan", "config", "settings.json"), JSON.stringify({ models }));
  writeFileSync(join(workspace, "retry.ts"), retry);
  writeFileSync(join(workspace, "test.ts"), test);
  writeFileSync(
    join(workspace, "demo.ts"),
    'console.log("calls a service every second");\nsetInterval(() => {}, 1000);\n',
  );
  writeFileSync(join(workspace, "package.json"), `{ "type": "module" }\n`);
  await using server = await modelServer(
    {
      text: pieces("I look at its test first, and open the file."),
      calls: [
        plan(0),
        { tool: "read", input: { path: "test.ts" } },
        { tool: "edit_mode", input: { file_path: "retry.ts" } },
      ],
      pace: 60,
      tokens: [6_214, 96],
    },
    { text: pieces(change), pace: 80, tokens: [6_892, 174] },
    {
      text: pieces("Now its test."),
      calls: [plan(1), { tool: "shell", input: { command: "node --test --test-reporter=dot" } }],
      pace: 60,
      tokens: [7_112, 34],
    },
    {
      text: pieces("It passes. I leave the demo running, for you to look at."),
      calls: [plan(2), { tool: "shell", input: { command: "node demo.ts", background: true } }],
      pace: 60,
      tokens: [7_204, 52],
    },
    { calls: [plan(3)], tokens: [7_298, 40] },
    { text: pieces(table), pace: 60, tokens: [7_431, 71] },
    { text: pieces(long), pace: 60, stalls: true, tokens: [7_520, 80] },
    { text: pieces(short), pace: 60, tokens: [7_519, 24] },
  );
  using terminal = new Recording({
    columns,
    rows,
    folder: home,
    env: {
      ...server.env,
      PATH: process.env.PATH ?? "",
      HOME: home,
      BANYAN_HOME: join(home, "banyan"),
      BANYAN_NO_DISCOVERY: "1",
      COLORTERM: "truecolor",
      LANG: "C.UTF-8",
    },
    command: [process.execPath, join(root, "packages/cli/src/main.ts"), "--cwd", workspace, "--model", MODEL],
  });
  await terminal.until(PROMPT);
  await terminal.hold(900);

  // Completes and attaches a file; shows a plan, a change that grows and is approved and tested, and a running demo.
  await terminal.type("wait longer after each failure in @ret");
  await terminal.until(/retry\.ts/);
  await terminal.hold(400);
  terminal.press("Tab");
  await terminal.type("and test it");
  await terminal.hold(400);
  terminal.press("Enter");
  await terminal.until(/^Allow this\?$/m);
  await terminal.hold(1_500);
  terminal.press("y");
  await terminal.hold(400);
  terminal.press("Enter");
  await terminal.until(/asks to run shell[\s\S]*^Allow this\?$/m);
  await terminal.hold(1_800);
  terminal.press("y");
  await terminal.hold(400);
  terminal.press("Enter");
  await terminal.until(/demo\.ts[\s\S]*^Allow this\?$/m);
  await terminal.hold(1_800);
  terminal.press("y");
  await terminal.hold(400);
  terminal.press("Enter");
  await terminal.until(/1\.6 s[\s\S]*Reply to/);
  await terminal.until(PROMPT);
  await terminal.hold(2_200);

  // Interrupts a long answer, and revises its question on a new branch.
  await terminal.type("explain jitter");
  terminal.press("Enter");
  await terminal.until(/one by one, and/);
  terminal.press("C-c");
  await terminal.until(/Stopped\. Your turn\./);
  await terminal.hold(1_800);
  terminal.press("Escape");
  await terminal.hold(150);
  terminal.press("Escape");
  await terminal.until(/Enter goes there/);
  await terminal.hold(1_600);
  terminal.press("Enter");
  await terminal.until(/Reply to banyan: ─+\nexplain jitter/);
  await terminal.hold(500);
  await terminal.type(" in one sentence");
  terminal.press("Enter");
  await terminal.until(/come back together/);
  await terminal.until(PROMPT);
  await terminal.hold(1_600);
  await terminal.type("/tree");
  await terminal.hold(300);
  terminal.press("Enter");
  await terminal.until(/Tree: all messages/);
  await terminal.hold(100);

  const title =
    "A run of Banyan: a plan, a growing change, three questions, a command that stays in the background, an interrupt, a branch";
  writeFileSync(join(root, "docs/tour.svg"), film(await terminal.stills(), { columns, rows, title, last: 4_000 }));
} finally {
  for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
