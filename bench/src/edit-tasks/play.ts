import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, Session, textOf } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Step, sceneOf, type Way } from "./answers.ts";
import type { Task, TaskFile } from "./task.ts";

/** The result of one way in one task. */
export interface Outcome {
  /** Tokens that the model wrote: texts, tool names and JSON arguments, without the last answer of the turn. */
  readonly tokens: number;
  /** Tokens that the model got: results of calls, and reports about blocks. */
  readonly told: number;
  /** Model calls until the files are written. */
  readonly steps: number;
  /** Bytes of wrong lines, or of missing lines if they are more. */
  readonly wrongBytes: number;
  /** Failed calls, and messages whose blocks were not applied. */
  readonly failures: number;
}

/** Runs the answers of a way with an agent and the real tools in a separate folder, and compares the files. */
export async function play(task: Task, way: Way): Promise<Outcome> {
  const root = mkdtempSync(join(tmpdir(), "banyan-edit-tasks-"));
  try {
    for (const { path, before } of task.files) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      if (before !== undefined) writeFileSync(join(root, path), before);
    }
    const steps = way.answer(task);
    const session = Session.inMemory();
    const model = scriptedModel([...steps.map(sceneOf), "Done."]);
    await new Agent({ model, tools: workspaceTools({ root }) }).send("Go", { session });
    return {
      told: toldIn(session).reduce((sum, text) => sum + countTokens(text), 0),
      tokens: steps.reduce((sum, step) => sum + tokensOf(step), 0),
      steps: steps.length,
      wrongBytes: task.files.reduce((sum, file) => sum + wrongBytes(root, file), 0),
      failures: failures(session),
    };
  } finally {
    rmSync(root, { recursive: true });
  }
}

function tokensOf({ text, calls }: Step): number {
  const inputs = calls.map(({ tool, input }) => countTokens(tool) + countTokens(JSON.stringify(input)));
  return inputs.reduce((sum, tokens) => sum + tokens, countTokens(text));
}

function wrongBytes(root: string, { path, wanted }: TaskFile): number {
  const left = new Map<string, number>();
  for (const line of linesOf(wanted)) left.set(line, (left.get(line) ?? 0) + 1);
  let wrong = 0;
  for (const line of linesOf(readFileSync(join(root, path), "utf8"))) {
    const count = left.get(line) ?? 0;
    if (count === 0) wrong += Buffer.byteLength(line);
    else left.set(line, count - 1);
  }
  const missing = [...left].reduce((sum, [line, count]) => sum + count * Buffer.byteLength(line), 0);
  return Math.max(wrong, missing);
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** Returns the texts that the model got, in order. */
function toldIn({ state }: Session): string[] {
  return [...state.messages.values()].flatMap((message) => {
    if (message.role === "assistant") return message.calls.map(({ output = "" }) => output);
    return message.role === "user" && message.author === "tool" ? [textOf(message)] : [];
  });
}

function failures(session: Session): number {
  return toldIn(session).filter((text) => /^(The tool failed|Some blocks|No block)/.test(text)).length;
}
