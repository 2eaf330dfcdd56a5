import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Question, Tool, ToolContext } from "@banyan/core";
import { expect } from "vitest";
import { type McpOptions, type McpServers, openMcpServers } from "../index.ts";

const PUPPET = fileURLToPath(new URL("./stdio-puppet.fixture.ts", import.meta.url));

/** Returns the entry of a puppet program with these options. */
export function puppet(told: object = {}, more: object = {}): object {
  return { command: process.execPath, args: [PUPPET, JSON.stringify(told)], ...more };
}

/** The servers of one test, in their own workspace. All processes end with the test. */
export class TestServers implements AsyncDisposable {
  readonly workspace = realpathSync(mkdtempSync(join(tmpdir(), "banyan-mcp-")));
  readonly servers: McpServers;
  /** The number of changes. */
  changes = 0;

  constructor(servers: Readonly<Record<string, unknown>>, options: Partial<McpOptions> = {}) {
    this.servers = openMcpServers({
      servers,
      workspace: this.workspace,
      env: { PATH: process.env.PATH },
      reconnect: { delay: 10, maxDelay: 20, attempts: 3 },
      ...options,
      onChange: () => {
        this.changes += 1;
        options.onChange?.();
      },
    });
  }

  /** Opens servers and waits until each is ready or has failed. */
  static async settled(
    servers: Readonly<Record<string, unknown>>,
    options: Partial<McpOptions> = {},
  ): Promise<TestServers> {
    const opened = new TestServers(servers, options);
    await opened.servers.settled();
    return opened;
  }

  /** `name: status` of each server. */
  get statuses(): string[] {
    return this.servers.states.map(({ name, status }) => `${name}: ${status}`);
  }

  /** Returns the reason why a server cannot be used. */
  reason(server: string): string {
    const state = this.servers.states.find(({ name }) => name === server);
    return state !== undefined && "reason" in state ? state.reason : "";
  }

  get toolNames(): string[] {
    return this.servers.tools.map(({ name }) => name);
  }

  tool(name: string): Tool {
    const tool = this.servers.tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no ${name} among ${this.toolNames.join(", ")}.`);
    return tool;
  }

  /** Calls a tool like the engine. */
  async call(name: string, input: object = {}, call: Partial<ToolContext> = {}): Promise<string> {
    return String(await this.tool(name).execute(input, { ...context, ...call }));
  }

  /** Waits until the journal of a server contains the text. */
  async untilSaid(server: string, text: string): Promise<void> {
    await expect.poll(() => this.servers.journal(server)).toContain(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.servers.close();
    rmSync(this.workspace, { recursive: true });
  }
}

const context = {
  signal: new AbortController().signal,
  progress() {},
  ask: () => Promise.reject(new Error("Nobody can be asked.")),
} as unknown as ToolContext;

/** A user who gives these answers in order. Records the questions. */
export function person(...answers: readonly string[]): {
  readonly asked: Question[];
  ask(question: Question): Promise<string>;
} {
  const asked: Question[] = [];
  return {
    asked,
    async ask(question) {
      asked.push(question);
      const answer = answers[asked.length - 1] ?? question.default;
      if (answer === undefined) throw new Error(`Nothing is said to ${question.text}`);
      return answer;
    },
  };
}

/** Returns whether a process runs. A zombie counts as ended. */
export function isRunning(id: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${id}/status`, "utf8"));
  } catch {
    // The process is gone.
    return false;
  }
}
