import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type Session, say } from "@banyan/core";
import type { OpenQuestion } from "@banyan/core/conversation";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { type ApprovalMode, type Host, openHost } from "@banyan/host";

/** The number of questions that a user answered, by subject. */
export interface Questions {
  /** Whether a call may run. */
  calls: number;
  /** Whether commands may connect to an address. */
  addresses: number;
  /** Whether to open a port. */
  ports: number;
  /** Whether a command may run again without a limit of the sandbox. */
  limits: number;
}

/** How the user answers each question that has choices: the subject, the start of the question, and the choice. */
const ANSWERS = [
  ["addresses", "Connect to ", "Yes, in this conversation"],
  ["ports", "A command listens on port ", "Open the port"],
  ["limits", "The command failed at a limit of the sandbox.", "Yes, with the network of this machine"],
] as const;

/** A conversation of a user who says yes, with a model that makes prepared calls, in a folder of its own. */
export class EdgeConversation implements AsyncDisposable {
  readonly folder: string;
  readonly questions: Questions = { calls: 0, addresses: 0, ports: 0, limits: 0 };
  readonly #root: string;
  readonly #host: Host;
  readonly #session: Session;
  readonly #answered = new Set<string>();
  readonly #problems: unknown[] = [];

  private constructor(root: string, folder: string, host: Host, session: Session) {
    this.#root = root;
    this.folder = folder;
    this.#host = host;
    this.#session = session;
    session.listen({
      items: (items) => {
        for (const { type } of items)
          if (type === "call.approval-requested" || type === "question.asked") this.#answerAll();
      },
      ended() {},
    });
  }

  /** Rejects with the reason if no sandbox is available, or if the approval mode cannot be had. */
  static async begin(approval: ApprovalMode): Promise<EdgeConversation> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-edge-")));
    const folder = join(root, "workspace");
    mkdirSync(folder);
    const env = { ...process.env, BANYAN_HOME: join(root, "banyan"), BANYAN_NO_DISCOVERY: "1" };
    const flags = { model: "demo/offline", approval };
    const host = await openHost({ cwd: folder, home: homedir(), env, flags, canAsk: true, trusted: true });
    const { network, sandbox } = await host.ready();
    if (network === undefined) throw new Error(sandbox);
    return new EdgeConversation(root, folder, host, await host.newSession());
  }

  /** Makes one call, and returns its output. Throws if an answer to a question failed. */
  async use(tool: string, input: Readonly<Record<string, string | boolean | number>>): Promise<string> {
    const model = scriptedModel([[call(tool, input)], "Done."]);
    await collect(this.#host.agent.with({ model }).chat(say("Go on."), { session: this.#session }));
    if (this.#problems.length > 0) throw new AggregateError(this.#problems, "An answer to a question failed.");
    const calls = [...this.#session.state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.calls : [],
    );
    return calls.at(-1)?.output ?? "";
  }

  /** Makes a call of the tool `shell`. `timeout`: milliseconds. */
  shell(command: string, more: { readonly background?: boolean; readonly timeout?: number } = {}): Promise<string> {
    return this.use("shell", { command, ...more });
  }

  /** Resolves with the address at which a port of a background command is open. */
  async openedPort(): Promise<string> {
    const deadline = performance.now() + 60_000;
    for (;;) {
      for (const { title } of this.#session.state.processes.values()) {
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(title) ?? [];
        if (address !== undefined) return address;
      }
      if (performance.now() > deadline) throw new Error("No command listens on a port that is open.");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.close();
    await this.#host.close();
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }

  #answerAll(): void {
    for (const question of this.#session.openQuestions) {
      if (this.#answered.has(question.id)) continue;
      this.#answered.add(question.id);
      this.#answer(question).catch((error: unknown) => this.#problems.push(error));
    }
  }

  async #answer(question: OpenQuestion): Promise<void> {
    if (question.type !== "text") {
      this.questions.calls += 1;
      return this.#session.answer(question.id, { decision: "allow" });
    }
    const known = ANSWERS.find(([, start]) => question.text.startsWith(start));
    if (known) this.questions[known[0]] += 1;
    else this.#problems.push(new Error(`Nobody knows the answer to: ${question.text}`));
    return this.#session.answer(question.id, { decision: "answer", text: known?.[2] ?? "No" });
  }
}
