import type { ToolContext } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import { addressText, type ConnectionAsker, type NetworkAddress } from "../../sandbox/network-access.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { offerRerun, type Rerun } from "./offered-rerun.ts";

const ONCE = "Yes, once";
const HERE = "Yes, in this conversation";
const ALWAYS = "Yes, always";
const REGISTRIES = "Yes, for my package registries, in this conversation";
const NO = "No";
const AGAIN = "Yes, run it again";

/** Characters of a command in a question. The call shows the whole command. */
const SHOWN = 200;

/** Milliseconds of waiting after which a program may have given up. */
const PATIENCE = 5000;

/** Addresses that the settings accept. */
const STORABLE = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:.]+\]):\d+$/i;

const OWN_MACHINE = /^(?:(?:.*\.)?localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]):\d+$/i;

/** A command that tries to connect, and its call. */
export interface ConnectingCommand {
  readonly command: string;
  readonly sandbox: Sandbox;
  readonly context: Pick<ToolContext, "ask" | "conversation">;
}

/** The connections of one command in the sandbox. Asks the user about each new address (S38). */
export class CommandConnections implements ConnectionAsker {
  /** How often programs in its network tried to connect without the proxy. */
  directAttempts = 0;
  readonly #command: ConnectingCommand;
  /** The reason of each refusal by address; undefined for an allowed address. */
  readonly #answers = new Map<string, string | undefined>();
  readonly #late = new Set<string>();
  #asking: Promise<unknown> = Promise.resolve();
  #askedSince: number | undefined;
  #waited = 0;
  #hasEnded = false;
  #isAllowedAfterEnd = false;
  #isInBackground = false;
  #isDeclined = false;

  constructor(command: ConnectingCommand) {
    this.#command = command;
  }

  get canAsk(): boolean {
    return !this.#isInBackground;
  }

  /** Milliseconds for which the command has waited for answers. */
  get waited(): number {
    return this.#waited + (this.#askedSince === undefined ? 0 : performance.now() - this.#askedSince);
  }

  allows(address: NetworkAddress): boolean {
    const text = addressText(address);
    return this.#isKnown(text) && this.#answers.get(text) === undefined;
  }

  /** Asks one question after the other, because an answer may cover the next address. */
  connect(address: NetworkAddress, isOnly: boolean): Promise<string | undefined> {
    const text = addressText(address);
    const decided = this.#asking.then(async () => {
      if (!this.#isKnown(text)) this.#answers.set(text, await this.#decide(text, isOnly));
      return this.#answers.get(text);
    });
    this.#asking = decided;
    return decided;
  }

  /** The call ends, and the command continues in the background: from now on, no user is asked. */
  stay(): void {
    this.#isInBackground = true;
  }

  /**
   * Waits for the open question of a command that has ended. Resolves with how the user wants the command to run again:
   * because the user allowed an address only then, or because the command failed at a limit of the sandbox.
   * `failedOutput`: the output of a command that failed in the sandbox.
   */
  async runsAgain(failedOutput: string | undefined): Promise<Rerun | undefined> {
    this.#hasEnded = true;
    await this.#asking;
    this.#hasEnded = false;
    const { command, sandbox, context } = this.#command;
    if (this.#isAllowedAfterEnd) {
      this.#isAllowedAfterEnd = false;
      const text = `The command ended before your answer. Run it again?\n${this.#shownCommand}`;
      // A user who declines the question, or cancels the call, keeps the output so far.
      const answer = await context.ask({ text, choices: [AGAIN, NO] }).catch(() => NO);
      return answer === AGAIN ? "same" : undefined;
    }
    if (failedOutput === undefined || !sandbox.network.canAsk) return undefined;
    const { directAttempts } = this;
    const offered = await offerRerun({ command, output: failedOutput, sandbox, directAttempts }, context.ask);
    this.#isDeclined = offered === "no";
    return offered === "no" ? undefined : offered;
  }

  /** Returns a sentence for the result of a command that the user did not let run again; empty without an offer. */
  get declined(): string {
    return this.#isDeclined ? "The user did not allow the command to run again without this limit of the sandbox." : "";
  }

  /** Sentences for the result of the command: the refused addresses, and those that were allowed late. */
  get notes(): readonly string[] {
    const refused = [...this.#answers].flatMap(([address, reason]) =>
      reason === undefined ? [] : [`The sandbox refused the connection to ${address}. ${reason}`],
    );
    const late = [...this.#late].map(
      (address) =>
        `The user allowed ${address} after a delay. If a program has already given up, run the command again.`,
    );
    return [...refused, ...late];
  }

  get #shownCommand(): string {
    const { command } = this.#command;
    return command.length > SHOWN ? `${command.slice(0, SHOWN)}…` : command;
  }

  #isKnown(address: string): boolean {
    const { sandbox, context } = this.#command;
    return this.#answers.has(address) || sandbox.network.allowsIn(context.conversation.id, address);
  }

  /** Resolves with undefined if the user allows the address, or with the reason of the refusal. Never rejects. */
  async #decide(address: string, isOnly: boolean): Promise<string | undefined> {
    const { network } = this.#command.sandbox;
    if (!network.canAsk) return `No user can be asked here. ${network.advice(address)}`;
    if (this.#hasEnded) return "The command ended before it could connect.";
    if (this.#isInBackground) return IN_BACKGROUND;
    const since = performance.now();
    this.#askedSince = since;
    try {
      await this.#ask(address, isOnly);
    } catch (error) {
      return errorMessage(error);
    } finally {
      this.#askedSince = undefined;
      this.#waited += performance.now() - since;
    }
    if (this.#hasEnded) this.#isAllowedAfterEnd = true;
    else if (performance.now() - since > PATIENCE) this.#late.add(address);
    return undefined;
  }

  /** Throws the reason of a refusal. */
  async #ask(address: string, isOnly: boolean): Promise<void> {
    const { sandbox, context } = this.#command;
    const { network } = sandbox;
    const { registries } = network;
    const isRegistry = registries.includes(address);
    const lines = [
      `Connect to ${address}?`,
      ...(OWN_MACHINE.test(address) ? ["This address is on your own machine, outside the sandbox."] : []),
      isOnly
        ? `This command tries to connect: ${this.#shownCommand}`
        : "Several programs run in the sandbox. One of them tries to connect.",
      "A program that may connect can also send data.",
      ...(isRegistry ? [`Your configuration names these package registries: ${registries.join(", ")}`] : []),
    ];
    const always = STORABLE.test(address) ? [ALWAYS] : [];
    const choices = [ONCE, HERE, ...always, ...(isRegistry ? [REGISTRIES] : []), NO];
    const answer = await context.ask({ text: lines.join("\n"), choices });
    if (answer === NO) throw new Error("The user said no.");
    if (!choices.includes(answer)) throw new Error(`The user did not allow the connection, and wrote: ${answer}`);
    if (answer === ALWAYS) network.allowAlways(address);
    else if (answer !== ONCE) network.allowIn(context.conversation.id, answer === HERE ? [address] : registries);
  }
}

const IN_BACKGROUND =
  "A background command cannot ask the user. First run a command in the foreground that connects to the address.";
