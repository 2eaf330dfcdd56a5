import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Event, emptyConversation, type Message, reduce, textOf } from "@banyan/core";
import { checkConversation } from "@banyan/core/testing";
import { postgresStore } from "@banyan/store/postgres";
import { superuser, testDatabase } from "@banyan/store/testing";
import type { NodeProgramOptions } from "./node-program.fixture.ts";
import { TOKEN } from "./serving.fixture.ts";
import { TestClient } from "./test-client.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./node-program.fixture.ts", import.meta.url));

/** The options of one test node. */
export interface NodeSetting extends Partial<Omit<NodeProgramOptions, "token" | "effects">> {
  /** Environment variables in addition to those of the test. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A node in its own process. */
export class NodeProcess {
  readonly child: ChildProcess;
  readonly address: string;
  /** Its error output, line by line. */
  readonly log: string[] = [];

  private constructor(child: ChildProcess, address: string) {
    this.child = child;
    this.address = address;
    if (child.stderr) createInterface({ input: child.stderr }).on("line", (line) => this.log.push(line));
  }

  static async start(options: NodeProgramOptions, env: NodeJS.ProcessEnv = {}): Promise<NodeProcess> {
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    return new NodeProcess(child, String(value));
  }

  /** Kills the process as a crash would. */
  async kill(): Promise<void> {
    const exit = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await exit;
  }
}

/** Nodes with a common database, and the effects of their tools. */
export class Nodes {
  readonly url: string;
  readonly all: NodeProcess[] = [];
  readonly #effects = join(mkdtempSync(join(tmpdir(), "banyan-nodes-")), "effects");
  readonly #remove: () => Promise<void>;

  private constructor({ url, remove }: Awaited<ReturnType<typeof testDatabase>>) {
    this.url = url;
    this.#remove = remove;
  }

  /** Creates nodes on a new database, or on the given one. */
  static async onOneDatabase(database?: Awaited<ReturnType<typeof testDatabase>>): Promise<Nodes> {
    return new Nodes(database ?? (await testDatabase()));
  }

  async start({ env, ...setting }: NodeSetting = {}): Promise<NodeProcess> {
    const node = await NodeProcess.start({ url: this.url, token: TOKEN, effects: this.#effects, ...setting }, env);
    this.all.push(node);
    return node;
  }

  /** A welcomed client of a node. */
  client({ address }: NodeProcess): Promise<TestClient> {
    return TestClient.connect({ address, token: TOKEN });
  }

  /** Expires a node's lease in the database. */
  leaseIsOver({ child }: NodeProcess): Promise<void> {
    return superuser(
      this.url,
      `UPDATE banyan.nodes SET lease_until = now() - interval '1 s' WHERE process = ${child.pid}`,
    );
  }

  /** The stored events of a conversation, and the rules that they break. */
  async stored(conversation: string): Promise<{ readonly events: Event[]; readonly wrong: readonly string[] }> {
    const store = postgresStore(this.url, { connections: 1 });
    const events: Event[] = [];
    const state = emptyConversation(conversation);
    try {
      const view = await store.view(conversation);
      for await (const batch of view.read())
        for (const event of batch) {
          reduce(state, event);
          events.push(event);
        }
    } finally {
      await store.close();
    }
    return { events, wrong: checkConversation(state, events) };
  }

  /** The effects of tools so far: the keys of calls with outside effects, "waiting" and "stopped". */
  get effects(): string[] {
    return existsSync(this.#effects) ? readFileSync(this.#effects, "utf8").split("\n").slice(0, -1) : [];
  }

  /** The keys of calls with outside effects, one for each time that the effect happened. */
  get acts(): string[] {
    return this.effects.filter((line) => line !== "waiting" && line !== "stopped");
  }

  /** Keeps calls with effects from ending on all nodes, until the returned function is called. */
  holdActs(): () => void {
    const gate = `${this.#effects}.closed`;
    writeFileSync(gate, "");
    return () => rmSync(gate, { force: true });
  }

  async remove(): Promise<void> {
    for (const { child } of this.all) child.kill("SIGKILL");
    await this.#remove();
  }
}

export function say(words: string) {
  return [{ type: "text", text: words }] as const;
}

function isWhole(message: Message): boolean {
  // An answer that broke off after its last word is continued.
  return message.role === "assistant" && message.finish === "stop" && textOf(message).endsWith("Done.");
}

/** Returns whether the last message of a conversation is a whole answer, and no run is left. */
export function isDone(client: TestClient, conversation: string): boolean {
  const state = client.mirrors.get(conversation)?.state;
  const last = state?.leaf ? state.messages.get(state.leaf) : undefined;
  return state?.runs.size === 0 && last !== undefined && isWhole(last as Message);
}
