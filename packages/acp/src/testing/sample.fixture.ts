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
import { type AcpAgentOptions, acpAgent } from "../acp-agent.ts";

const PROGRAM = fileURLToPath(new URL("./sample-agent.fixture.ts", import.meta.url));

/** A person who is asked. */
export type Person = (
  question: Extract<FeedItem, { readonly type: "call.approval-requested" | "question.asked" }>,
  session: Session,
) => Answer | undefined | Promise<Answer | undefined>;

/** Folders for one test: where an agent works, where backups are, and what it remembers. */
export class Place {
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

  /** The sample agent, which can what `can` names and behaves as `env` says. */
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

/** What came of one turn. */
export interface Played {
  readonly reason: string;
  /** Why it failed, for a person. */
  readonly problem: string | undefined;
  readonly session: Session;
  readonly items: readonly FeedItem[];
  /** The responses of the branch, and the calls of all of them. */
  readonly responses: readonly AssistantMessage[];
  readonly calls: AssistantMessage["calls"];
  readonly text: string;
}

/** Whose agent takes the turn, where, and who is asked. */
export interface Playing extends AgentOptions {
  readonly session?: Session;
  /** The message that the turn goes on from. */
  readonly at?: string | undefined;
  /** Nobody is asked without one. */
  readonly person?: Person;
}

/** Lets an agent take a turn, and answers as the person would. What comes of it is a conversation without a fault. */
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
