import type { ConversationState } from "@banyan/core";
import { turnWaitingFor } from "@banyan/core/conversation";
import type { Principal } from "@banyan/desk";
import type { CommandOutcome, ConversationActivity, DeskCommand } from "@banyan/desk/serving";
import type { Command, CommandName } from "@banyan/protocol";

/** A command for the node that owns its conversation, on its way to this node. See {@link RestateDriver}. */
export interface NodeCommand {
  /** The id of the command. A second command with the same id is a repetition. */
  readonly id: string;
  readonly conversation: string;
  readonly command: Command<DeskCommand>;
  readonly by: Principal["name"];
}

/**
 * A position in a conversation's log, for a driver that follows the conversation's turns. See {@link RestateDriver}.
 */
export interface DriverPosition {
  readonly conversation: string;
  /** The number of the last event that the driver knows. Only later events are steps. */
  readonly after: number;
  /** The runs that were active at this position. The run of a sub-agent is a part of its parent's run. */
  readonly runs: readonly string[];
}

/**
 * The next step in the log after a position, without its content. `rested`: no step follows, and no run is active. See
 * {@link RestateDriver}.
 */
export interface LogStep {
  readonly did: "began" | "model call" | "tool call" | "ended" | "rested";
  readonly seq: number;
  /** The id of the run, message or call. */
  readonly of?: string;
}

/**
 * The functions of a node that drivers call. If a call is rejected, the driver can repeat it, also on another node. See
 * {@link RestateDriver}.
 */
export interface DrivenNode {
  readonly isDraining: boolean;
  /** Returns the number of the last event of a conversation; 0 if there is none. */
  last(conversation: string): Promise<number>;
  /** Stores a command for the owner of its conversation. */
  leave(command: NodeCommand): Promise<void>;
  /** Lets the owner carry out a command, or carries it out here without an owner. `isLeft`: the command is stored already. */
  carryOut(command: NodeCommand, isLeft?: boolean): Promise<CommandOutcome>;
  /** Lets the owner carry out a stored command. Returns whether the command began a turn. */
  carryOutLeft(left: Pick<NodeCommand, "id" | "conversation">): Promise<boolean>;
  /** Waits for the next step after a position. Takes over and continues the conversation if its owner is gone. */
  next(position: DriverPosition, signal: AbortSignal): Promise<LogStep>;
  /** Opens a conversation without an owner, carries out its stored commands, and continues its unfinished runs. */
  takeOver(conversation: string): Promise<void>;
}

/**
 * Makes sure that turns come to an end even if nodes die. A cluster that needs only the database and a cluster with a
 * workflow engine differ only in their drivers: clients, commands, feed and log are the same. See
 * {@link RestateDriver}.
 */
export interface Driver {
  /** True if nodes look for stored commands of conversations without an owner. */
  readonly takesWaiting: boolean;
  /** Starts to use this node. */
  begin(node: DrivenNode): Promise<void>;
  /** Carries out a command that may begin a turn. Rejects if the command was not accepted. */
  accept(command: NodeCommand): Promise<CommandOutcome>;
  /** Hands a command that may begin a turn to the other nodes. */
  leave(command: NodeCommand): Promise<void>;
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
 * Returns whether a command may begin or continue a turn, which the driver must then follow. An answer continues a turn
 * that no process runs. `state` is present if the conversation is open here.
 */
export async function mayBeginTurn(
  command: Command<DeskCommand>,
  state: ConversationState | undefined,
  activities: () => Promise<ReadonlyMap<string, ConversationActivity>>,
): Promise<boolean> {
  if (command.type !== "question.answer") return BEGINS.has(command.type);
  const question = state?.questions.get(command.question);
  if (state) return question !== undefined && turnWaitingFor(state, question) !== undefined;
  // A run on another node may be the turn that asks: the driver already follows it.
  return ((await activities()).get(command.conversation)?.running ?? 0) === 0;
}
