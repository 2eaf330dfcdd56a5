import type { Agent, ConversationState } from "@banyan/core";
import { firstTold, toldTools } from "@banyan/tools/finder";
import { contextOf, idOf } from "../drivers/drivers.ts";
import { asServersSaid, type InstructionPart, instructionsText } from "./instructions.ts";
import { BEGAN, surroundingsPart } from "./surroundings.ts";

/** What an agent is told beside its own instructions. */
export interface Told {
  /** What it is told before any conversation. */
  readonly own: readonly InstructionPart[];
  /** What MCP servers say now of how they are to be used. */
  readonly servers: readonly InstructionPart[];
  /** What its model is called where that does not say so itself. */
  readonly model: string;
  /** The share of the context that the tools of MCP servers may take (C3). */
  readonly toolShare: number | undefined;
}

/** The context of a model of which nobody knows; and what stands beyond it in a larger one is paid for all the same. */
const ASSUMED = 128_000;
const LARGEST = 200_000;

/**
 * An agent as it works in a conversation: told what was so when that began, of itself and of its MCP servers, so that the
 * beginning of its requests never changes.
 */
export function asBegan(agent: Agent, state: Pick<ConversationState, "labels" | "contents">, told: Told): Agent {
  const { model, tools = [], instructions = "" } = agent.options;
  const first = firstTold(tools, state);
  const begun = first ? asServersSaid(instructions, told.own, told.servers, first.instructions) : instructions;
  const parts = surroundingsPart(state.labels[BEGAN], idOf(model) ?? told.model);
  const text = parts.length === 0 ? begun : `${begun}\n\n${instructionsText(parts)}`;
  const { toolShare = 0.1 } = told;
  const listed = toldTools(tools, state, toolShare * Math.min(contextOf(model) ?? ASSUMED, LARGEST));
  return text === instructions && listed === tools ? agent : agent.with({ tools: listed, instructions: text });
}
