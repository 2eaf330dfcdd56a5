import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyConversation, reduce } from "@banyan/core/conversation";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OwnStatus } from "./own-status.ts";
import { type StatusFacts, statusFacts } from "./prompt-status.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "banyan-status-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const standing: StatusFacts = {
  live: [],
  run: undefined,
  leaf: null,
  mode: "chat",
  approval: "ask",
  model: "anthropic/claude-sonnet-5",
  contextSize: 200_000,
  git: "main",
  directory: "",
  own: undefined,
};
const state = emptyConversation();

/** A status line of a command, with its lines and notices. */
function opened(command: string) {
  const lines: (string | undefined)[] = [];
  const told: string[] = [];
  const status = new OwnStatus({
    command,
    directory,
    facts: () => statusFacts(state, { ...standing, directory }),
    changed: () => lines.push(status.line),
    tell: (sentence) => told.push(sentence),
  });
  return { status, lines, told };
}

test("T55: a command is told how it stands, by Claude Code's names, and its first line is shown, its colours alone", async () => {
  const { status, lines, told } = opened(
    String.raw`cat > told.json; printf '\033[32mready\033[0m\033]0;title\007\033[2J on main\nmore\n'`,
  );
  await using _ = status;
  status.refresh();
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(["\x1b[32mready\x1b[0m on main"]);
  expect(told).toEqual([]);
  expect(JSON.parse(readFileSync(join(directory, "told.json"), "utf8"))).toMatchObject({
    session_id: null,
    cwd: directory,
    transcript_path: null,
    git_branch: "main",
    model: { id: "anthropic/claude-sonnet-5", display_name: "claude-sonnet-5" },
    workspace: { current_dir: directory, project_dir: expect.any(String) },
    cost: { total_cost_usd: 0 },
    context_window: { context_window_size: 200_000, used_percentage: null, total_input_tokens: 0 },
  });
});

test("F99: the figure of the context is that of the summary at once, before the next answer", () => {
  const state = emptyConversation();
  const at = { epoch: 1, at: 0, parts: [{ type: "text", text: "Sum." }] } as const;
  const said = { ...at, seq: 1, type: "message.added", message: "a", parentId: null, role: "user" } as const;
  const compaction = { messages: 2, before: 160_000, after: 40_000, size: 200_000 };
  const sum = {
    ...at,
    seq: 2,
    type: "message.added",
    message: "b",
    parentId: "a",
    role: "summary",
    covers: "a",
  } as const;
  for (const event of [said, { ...sum, compaction }]) reduce(state, event);
  const facts = statusFacts(state, { ...standing, directory, leaf: "b" });
  expect(facts).toMatchObject({ context_window: { used_percentage: 20 } });
});

test("T55: a failing or too long output is reported once, and the usual line stays", async () => {
  const { status, lines, told } = opened("echo x >> runs; yes | head -c 3000000; echo broken >&2; exit 3");
  await using _ = status;
  status.refresh();
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(1);
  status.refresh();
  await expect.poll(readRuns, { timeout: 30_000 }).toBe("x\nx\n");
  await status[Symbol.asyncDispose]();
  expect(told).toEqual([expect.stringMatching(/^Your status line command echo x .*wrote more than 1 MiB/)]);
  expect(lines).toEqual([]);
});

test("T55: changes during a run of the command start one more run", async () => {
  const { status, lines } = opened("echo x >> runs; until [ -e go ]; do sleep 0.05; done; wc -l < runs");
  await using _ = status;
  status.refresh();
  await expect.poll(readRuns, { timeout: 30_000 }).toBe("x\n");
  for (let change = 0; change < 20; change++) status.refresh();
  writeFileSync(join(directory, "go"), "");
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(["1", "2"]);
  expect(readRuns()).toBe("x\nx\n");
});

function readRuns(): string {
  try {
    return readFileSync(join(directory, "runs"), "utf8");
  } catch {
    return "";
  }
}
