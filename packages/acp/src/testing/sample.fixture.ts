import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Agent,
  type AgentOptions,
  type Answer,
  type AssistantMessage,
  type FeedItem,
  pathTo,
  Session,
  say,
  textOf,
} from "@banyan/core";
import { isSettled } from "@banyan/core/conversation";
import { checkConversation } from "@banyan/core/testing";
import { expect, onTestFinished } from "vitest";
import { acpAgent } from "../acp-agent.ts";
import type { AcpAgentOptions } from "../connection/options.ts";

const PROGRAM = fileURLToPath(new URL("./sample-agent.fixture.ts", import.meta.url));

export type Person = (
  question: Extract<FeedItem, { readonly type: "call.approval-requested" | "question.asked" }>,
  session: Session,
) => Answer | undefined | Promise<Answer | undefined>;

/** Temporary folders of one test: workspace, backups and the agent's state. */
export class SampleFolders {
  readonly #outer = mkdtempSync(join(tmpdir(), "banyan-acp-"));
  readonly workspace = join(this.#outer, "work");
  readonly backups = join(this.#outer, "backups");
  readonly state = join(this.#outer, "state.json");

  constructor(files: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.workspace);
    for (const [path, text] of Object.entries(files)) writeFileSync(join(this.workspace, path), text);
    onTestFinished(() => rmSync(this.#outer, { recursive: true, force: true }));
  }

  read(path: string): string {
    return readFileSync(join(this.workspace, path), "utf8");
  }

  /** The sample agent with the capabilities in `can` and the variables in `env`. */
  sample(can = "embedded", env: Readonly<Record<string, string>> = {}, more: Partial<AcpAgentOptions> = {}) {
    return acpAgent({
      name: "sample",
      command: process.execPath,
      args: [PROGRAM],
      cwd: this.workspace,
      backups: this.backups,
      env: { ...process.env, SAMPLE_CAN: can, SAMPLE_STATE: this.state, ...env },
      ...more,
    });
  }
}

export interface Played {
  readonly reason: string;
  readonly problem: string | undefined;
  readonly session: Session;
  readonly items: readonly FeedItem[];
  readonly responses: readonly AssistantMessage[];
  readonly calls: AssistantMessage["calls"];
  readonly text: string;
}

export interface Playing extends AgentOptions {
  readonly session?: Session;
  readonly at?: string | undefined;
  readonly person?: Person;
}

/** Runs a turn, answers questions with `person`, and checks that the conversation is consistent. */
export async function play(text: string, playing: Playing): Promise<Played> {
  const { session = Session.inMemory(), at, person, ...options } = playing;
  const agent = new Agent({ permission: () => ({ decision: "ask" }), unattended: person === undefined, ...options });
  const items: FeedItem[] = [];
  for await (const item of agent.chat(say(text), { session, ...(at !== undefined && { at }) })) {
    items.push(item);
    if (item.type !== "call.approval-requested" && item.type !== "question.asked") continue;
    const answer = await person?.(item, session);
    if (answer) await session.answer(item.question, answer);
  }
  expect(checkConversation(session.state)).toEqual([]);
  const ended = items.findLast((item) => item.type === "run.ended");
  const responses = pathTo(session.state, session.state.leaf).filter((message) => message.role === "assistant");
  expect(responses.every(isSettled)).toBe(true);
  return {
    reason: ended?.reason ?? "",
    problem: ended?.error?.message,
    session,
    items,
    responses,
    calls: responses.flatMap(({ calls }) => calls),
    text: responses.map(textOf).filter(Boolean).join("\n"),
  };
}
