import type { Command, CommandName, Problem } from "@banyan/protocol";
import { rightFor } from "@banyan/protocol/values";
import { answerHandlers } from "./commands/answers.ts";
import { branchHandlers } from "./commands/branches.ts";
import { conversationHandlers } from "./commands/conversations.ts";
import { fileHandlers } from "./commands/files.ts";
import { noteHandlers } from "./commands/notes.ts";
import { settingsHandlers } from "./commands/settings.ts";
import { shareHandlers } from "./commands/shares.ts";
import { turnHandlers } from "./commands/turns.ts";
import type { Handlers, Workplace } from "./commands/workplace.ts";
import type { OtherNodes } from "./live/elsewhere.ts";
import type { CommandOutcome, DeskCommand } from "./request/command.ts";
import type { Principal, ShareScope } from "./request/principal.ts";
import { clientProblem } from "./request/problem.ts";

const handlers: Handlers<DeskCommand> = {
  ...answerHandlers,
  ...branchHandlers,
  ...conversationHandlers,
  ...fileHandlers,
  ...noteHandlers,
  ...settingsHandlers,
  ...shareHandlers,
  ...turnHandlers,
};

/**
 * Carries out the commands of all clients. Each command runs on the node where its conversation is open. Never rejects.
 */
export class Performer {
  readonly #desk: Workplace;
  readonly #elsewhere: OtherNodes | undefined;
  readonly #once = new OncePerId<CommandOutcome>((outcome) => "error" in outcome);
  /** Commands that run on this node, also from clients of other nodes. */
  readonly #onceHere = new OncePerId<CommandOutcome>((outcome) => "error" in outcome);

  /** `elsewhere`: conversations that are open on other nodes. */
  constructor(desk: Workplace, elsewhere?: OtherNodes) {
    this.#desk = desk;
    this.#elsewhere = elsewhere;
  }

  /** A second command with the same id gets the first one's result. */
  perform(command: Command<DeskCommand>, principal: Principal): Promise<CommandOutcome> {
    const refused = refusalOf(command, principal);
    if (refused) return Promise.resolve({ error: refused });
    // Only a repeated action can do harm.
    if (rightFor(command.type) !== "act" || command.type === LOOK) return this.#perform(command, principal);
    const elsewhere = this.#elsewhere;
    if (!elsewhere) return this.performHere(command, principal);
    return onceIn(this.#once, command, principal, () => elsewhere.perform(command, principal));
  }

  /** Carries out an action once, on this node. The caller has checked the rights. */
  performHere(command: Command<DeskCommand>, principal: Principal): Promise<CommandOutcome> {
    return onceIn(this.#onceHere, command, principal, () => this.#perform(command, principal));
  }

  async outcomeOf(work: () => object | Promise<object>): Promise<CommandOutcome> {
    try {
      return { result: await work() };
    } catch (error) {
      const problem = clientProblem(error);
      return { error: problem ?? { code: "failed", message: this.#desk.told(error) }, cause: error };
    }
  }

  #perform(command: Command<DeskCommand>, principal: Principal): Promise<CommandOutcome> {
    const { agent, without } = this.#desk.host;
    if (without?.includes(command.type)) {
      const message = `${command.type} is not available: the agent "${agent.name}" has no workspace or settings of its own.`;
      return Promise.resolve({ error: { code: "invalid", message } });
    }
    const handle = handlers[command.type] as (
      command: Command,
      desk: Workplace,
      principal: Principal,
    ) => object | Promise<object>;
    return this.outcomeOf(() => handle(command, this.#desk, principal));
  }
}

/** Needs the right to act, because the server sends a request. Its results are too large to keep. */
const LOOK: CommandName = "picture.read";

function onceIn(
  once: OncePerId<CommandOutcome>,
  command: Command<DeskCommand>,
  principal: Principal,
  work: () => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { id, type } = command;
  const where = "conversation" in command ? (command.conversation ?? "") : "";
  const outcome = once.do(`${principal.name} ${id}`, `${type} ${where}`, work);
  if (outcome) return outcome;
  const message = `The id ${id} was already used by another command. Give each command its own id.`;
  return Promise.resolve({ error: { code: "invalid", message } });
}

/** Returns the reason why a client must not send a command; `undefined` if it may. */
export function refusalOf(
  { type, conversation }: { readonly type: CommandName; readonly conversation?: string | undefined },
  { rights, only }: Principal,
): Problem | undefined {
  const forbidden = (message: string) => ({ code: "forbidden", message }) as const;
  if (only && !isGood(only)) return forbidden(LINK_OVER);
  if (!rights.includes(rightFor(type))) return forbidden(`This access token is view-only and does not allow ${type}.`);
  return only && conversation !== only.conversation ? forbidden("This link shows only one conversation.") : undefined;
}

/** The message for a guest whose link has ended. */
export const LINK_OVER = "This link has expired or was revoked.";

function isGood({ ended, expiresAt }: ShareScope): boolean {
  return !ended.aborted && Date.now() < expiresAt;
}

/** Maximum remembered outcomes. */
const REMEMBERED = 10_000;

interface PerformedCommand<Outcome> {
  readonly what: string;
  readonly outcome: Promise<Outcome>;
}

/** Runs work of one id only once (B59). Failed work had no effect and may run again. */
class OncePerId<Outcome> {
  readonly #done = new Map<string, PerformedCommand<Outcome>>();
  readonly #failed: (outcome: Outcome) => boolean;

  constructor(failed: (outcome: Outcome) => boolean) {
    this.#failed = failed;
  }

  /** Returns the outcome of this or earlier work; `undefined` if another `what` had the id. */
  do(id: string, what: string, work: () => Promise<Outcome>): Promise<Outcome> | undefined {
    const known = this.#done.get(id);
    if (known) return known.what === what ? known.outcome : undefined;
    const outcome = work();
    this.#done.set(id, { what, outcome });
    if (this.#done.size > REMEMBERED) this.#done.delete(this.#done.keys().next().value as string);
    const forget = () => this.#done.delete(id);
    outcome.then((came) => this.#failed(came) && forget(), forget);
    return outcome;
  }
}
