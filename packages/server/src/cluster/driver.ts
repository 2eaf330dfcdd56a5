import type { ConversationState } from "@banyan/core";
import { turnThatWaits } from "@banyan/core/conversation";
import type { Command, CommandName } from "@banyan/protocol";
import type { DeskCommand } from "../desk/commands/workplace.ts";
import type { Activity } from "../desk/elsewhere.ts";
import type { Outcome } from "../desk/perform.ts";
import type { Principal } from "../desk/principal.ts";

/** A command about a conversation, on its way to whoever has that. */
export interface Asked {
  /** Asked again under one id, it is the same. */
  readonly id: string;
  readonly conversation: string;
  readonly command: Command<DeskCommand>;
  readonly by: Principal["name"];
}

/** Where the turns of a conversation stand in its log, for who sees to it that they come to their end. */
export interface Place {
  readonly conversation: string;
  /** Number of the last event that is known; what comes behind it counts. */
  readonly after: number;
  /** Runs that began and have not ended before it. Those of sub-agents are part of them. */
  readonly runs: readonly string[];
}

/**
 * The next thing that the log has behind a place, with its number there, and nothing of what was said in it. `rested`: there is
 * nothing, and nothing is at work.
 */
export interface Step {
  readonly did: "began" | "model call" | "tool call" | "ended" | "rested";
  readonly seq: number;
  /** Id of the run, message or call. */
  readonly of?: string;
}

/** What a driver finds at a node. What rejects may be tried again, at another node too. */
export interface DrivenNode {
  /** It takes nothing on any more. */
  readonly isDraining: boolean;
  /** Number of the last event of a conversation; 0 when there is none yet. */
  last(conversation: string): Promise<number>;
  /** Writes down what is asked, for whoever has the conversation. */
  leave(asked: Asked): Promise<void>;
  /** Has it carried out by whoever has the conversation, or does so when nobody has. `isLeft`: it is written down already. */
  carryOut(asked: Asked, isLeft?: boolean): Promise<Outcome>;
  /** Sees to it that what was left under an id is carried out, and returns whether it began a turn. */
  carryOutLeft(left: Pick<Asked, "id" | "conversation">): Promise<boolean>;
  /** Waits for what comes behind a place. Takes the conversation over, and goes on with it, when who had it is gone. */
  next(place: Place, signal: AbortSignal): Promise<Step>;
  /** Opens what nobody has, carries out what waits for it, and goes on with what was left in the middle. */
  takeOver(conversation: string): Promise<void>;
}

/**
 * Sees to it that turns come to their end though nodes die: the one thing in which running servers by the database alone and
 * running them by a workflow engine differ. Clients, commands, the feed and the log know nothing of it.
 */
export interface Driver {
  /** Nodes look for what waits for a conversation that nobody has. */
  readonly takesWaiting: boolean;
  /** This node lends a hand from now on. */
  begin(node: DrivenNode): Promise<void>;
  /** Has a command carried out that may begin a turn. Rejects when it could not be taken. */
  accept(asked: Asked): Promise<Outcome>;
  /** Leaves such a command to the other nodes. */
  leave(asked: Asked): Promise<void>;
  end(): Promise<void>;
}

const BEGINS: ReadonlySet<CommandName> = new Set<CommandName>([
  "turn.say",
  "prompt.say",
  "turn.retry",
  "turn.resume",
  "branch.fan",
  "branch.bring",
]);

/**
 * Whether a command may begin or continue a turn, which is the driver's to see through then. An answer continues a turn that no
 * process works on. `state` is that of the conversation, if it is open here.
 */
export async function mayBeginTurn(
  command: Command<DeskCommand>,
  state: ConversationState | undefined,
  activities: () => Promise<ReadonlyMap<string, Activity>>,
): Promise<boolean> {
  if (command.type !== "question.answer") return BEGINS.has(command.type);
  const asked = state?.questions.get(command.question);
  if (state) return asked !== undefined && turnThatWaits(state, asked) !== undefined;
  // A run at another node may be the turn that asks: the driver follows it already.
  return ((await activities()).get(command.conversation)?.running ?? 0) === 0;
}
