import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Question, Tool, ToolContext } from "@banyan/core";
import { expect } from "vitest";
import { type McpOptions, type McpServers, openMcpServers } from "../index.ts";

const PUPPET = fileURLToPath(new URL("./stdio-puppet.fixture.ts", import.meta.url));

/** The entry of a puppet that is a program, and what it is told beforehand. */
export function puppet(told: object = {}, more: object = {}): object {
  return { command: process.execPath, args: [PUPPET, JSON.stringify(told)], ...more };
}

/** Servers of one test, in a workspace of their own; all that they started ends with the test. */
export class TestServers implements AsyncDisposable {
  readonly workspace = realpathSync(mkdtempSync(join(tmpdir(), "banyan-mcp-")));
  readonly servers: McpServers;
  /** How often something changed. */
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

  /** Servers of which it is known whether they can be used. */
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

  /** The sentence for why a server cannot be used. */
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

  /** Calls a tool as the engine does. */
  async call(name: string, input: object = {}, call: Partial<ToolContext> = {}): Promise<string> {
    return String(await this.tool(name).execute(input, { ...context, ...call }));
  }

  /** Waits until the journal of a server says something. */
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

/** Somebody who gives these answers, one after the other, and takes down what was asked. */
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

/** Whether a process runs. One that has ended and was not waited for does not. */
export function isRunning(id: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${id}/status`, "utf8"));
  } catch {
    // It is gone.
    return false;
  }
}
