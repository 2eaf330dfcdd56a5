import {
  Agent,
  type AgentOptions,
  type FeedItem,
  type Message,
  pathTo,
  Session,
  say,
  type Tool,
  textOf,
} from "@banyan/core";
import { call, checkConversation, type Script, scriptedModel } from "@banyan/core/testing";
import { expect } from "vitest";
import { type WorkspaceToolsOptions, workspaceTools } from "../index.ts";
import type { TestFolder } from "../test-folder.fixture.ts";

/** The result of a turn. */
export interface Played {
  readonly session: Session;
  readonly items: readonly FeedItem[];
  readonly path: readonly Message[];
  /** Texts of tools for the model other than results. */
  readonly said: readonly string[];
  /** The results of the calls, in order. */
  readonly results: readonly string[];
  /** The number of model calls. */
  readonly asked: number;
}

/** Plays a script with the tools of a folder. No call may still follow at the end (F21). */
export async function play(
  folder: TestFolder,
  script: Script,
  more: Partial<AgentOptions> & {
    readonly session?: Session;
    /** The message from which to continue; default: the last. */
    readonly at?: string;
    readonly workspace?: Omit<WorkspaceToolsOptions, "root">;
    readonly also?: readonly Tool[];
    /** Gets each item of the feed. */
    readonly watch?: (item: FeedItem, session: Session) => void;
  } = {},
): Promise<Played> {
  const { session = Session.inMemory(), at, workspace, also = [], watch, ...options } = more;
  const model = scriptedModel(script);
  const tools = [...workspaceTools({ root: folder.root, ...workspace }), ...also];
  const agent = new Agent({ model, tools, retry: { delay: 1 }, ...options });
  const items: FeedItem[] = [];
  for await (const item of agent.chat(say("Go"), { session, ...(at !== undefined && { at }) })) {
    items.push(item);
    watch?.(item, session);
  }
  const path = pathTo(session.state, session.state.leaf);
  expect(session.state.following.size).toBe(0);
  expect(checkConversation(session.state)).toEqual([]);
  return {
    session,
    items,
    path,
    said: path.flatMap((message) => (message.role === "user" && message.author === "tool" ? [textOf(message)] : [])),
    results: path.flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ output = "" }) => output) : [],
    ),
    asked: model.asked,
  };
}

/** Returns calls that arm files: `file`, or `file mode`. */
export function arm(...files: readonly string[]) {
  return files.map((file) => {
    const [file_path = "", mode, overwrite] = file.split(" ");
    return call("edit_mode", {
      file_path,
      ...(mode === undefined ? {} : { mode }),
      ...(overwrite === undefined ? {} : { overwrite: true }),
    });
  });
}

/** Returns a fenced block. */
export function block(info: string, ...lines: readonly string[]): string {
  return `\`\`\`${info}\n${lines.map((line) => `${line}\n`).join("")}\`\`\`\n`;
}
