import { existsSync, lstatSync, readFileSync } from "node:fs";
import { arch, release, type } from "node:os";
import { join, resolve } from "node:path";
import type { Agent, ConversationState } from "@banyan/core";
import { cutTo, visibleLine } from "@banyan/core/shown";
import { withoutEffort } from "@banyan/models";
import { initialTools, toolsForModel } from "@banyan/tools/finder";
import { commandShell } from "@banyan/tools/workspace";
import { driverModelId, knownContextSize, maxToolsOf } from "../drivers/drivers.ts";
import { projectOf } from "../places/project.ts";
import type { Settings } from "../settings/index.ts";
import { type InstructionPart, instructionsText, withServerInstructionsOf } from "./instructions.ts";
import { isSmallProfile, SMALL_WINDOW, smallProfile, withNote } from "./small-profile.ts";

const MOST = 4_096;

const LONGEST = 100;

/** The label of a conversation that stores the date, system and git branch of its beginning. */
export const BEGAN = "began";

/**
 * Returns facts that a model cannot see (C11): the date, the system with its shell, and the branch of the repository. A
 * new conversation stores them once in a label, so that the beginning of its requests never changes.
 */
export function surroundings(workspace: string): string {
  // Not `Intl`, whose first use costs a start 10 ms.
  const [weekday, month, day, year, , zone] = new Date().toString().split(" ");
  const { root } = projectOf(workspace);
  const isRepository = existsSync(join(root, ".git"));
  const state = isRepository ? branchIn(root) : "the workspace is not in a repository";
  return [
    `Date: ${weekday}, ${day} ${month} ${year} (${zone})`,
    `System: ${type()} ${release()} (${arch()}); commands run in ${commandShell()}`,
    ...(state === undefined ? [] : [`Git: ${state}`]),
  ].join("\n");
}

/** Returns date, system, branch and model as a part of the instructions; none without `began`. */
export function surroundingsPart(began: string | undefined, model: string): InstructionPart[] {
  if (began === undefined) return [];
  const lines = [...began.split("\n"), `Model: you are ${model}`];
  return [{ source: "surroundings", text: lines.map((line) => `- ${line}`).join("\n") }];
}

/** Reads the branch from the repository's own file: git would obey the repository's settings (S16). */
function branchIn(root: string): string | undefined {
  const head = readGitHead(root);
  const branch = gitBranchIn(head);
  if (branch !== undefined) return `branch ${branch}`;
  return head !== undefined && /^[0-9a-f]{40,64}$/.test(head) ? "no branch (detached HEAD)" : undefined;
}

/** Returns the branch of the repository around a folder, without running git; undefined if there is none. */
export function gitBranch(workspace: string): string | undefined {
  return gitBranchIn(readGitHead(projectOf(workspace).root));
}

function readGitHead(root: string): string | undefined {
  return firstLineOfFile(join(root, ".git", "HEAD")) ?? headOfWorktree(root);
}

function gitBranchIn(head = ""): string | undefined {
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  // The name is foreign text.
  return branch && cutTo(visibleLine(branch), LONGEST, "");
}

/** In a worktree, the file `.git` names the folder with HEAD. */
function headOfWorktree(root: string): string | undefined {
  const [, folder] = /^gitdir: (.+)$/.exec(firstLineOfFile(join(root, ".git")) ?? "") ?? [];
  return folder === undefined ? undefined : firstLineOfFile(resolve(root, folder, "HEAD"));
}

/** Undefined for other files: reading a pipe could block forever. */
function firstLineOfFile(file: string): string | undefined {
  try {
    const found = lstatSync(file);
    if (!found.isFile() || found.size > MOST) return undefined;
    return readFileSync(file, "utf8").split("\n")[0]?.trim();
  } catch {
    return undefined;
  }
}

/** Input of `agentAsBegun`. */
export interface AgentInstructions {
  /** The instructions that are the same in all conversations. */
  readonly own: readonly InstructionPart[];
  /** Instructions of MCP servers. */
  readonly servers: readonly InstructionPart[];
  /** The id for a model that has no id of its own. */
  readonly model: string;
  /** The folder in which the agent works. */
  readonly workspace: string;
  /** `toolShare`: the share of the context for tools of MCP servers (C3). `models`: the models' profiles. */
  readonly settings: Pick<Settings, "toolShare" | "models">;
}

/** Tokens of an unknown context, and the most that counts: a larger context still costs money. */
const ASSUMED = 128_000;
const LARGEST = 200_000;

/**
 * Returns the agent for a conversation. The date, the tools and the instructions of MCP servers are those of the
 * conversation's beginning, so that the start of requests never changes. For a model with a small context, the agent
 * has the small profile (F69).
 */
export function agentAsBegun(
  agent: Agent,
  state: Pick<ConversationState, "labels" | "contents">,
  previous: AgentInstructions,
): Agent {
  const { model, tools = [], instructions = "" } = agent.options;
  const name = driverModelId(model) ?? previous.model;
  const parts = surroundingsPart(state.labels[BEGAN], name);
  const { toolShare = 0.1, models = {} } = previous.settings;
  if (isSmall(model, models[withoutEffort(name).full]?.profile)) {
    const small = smallProfile(agent, previous.workspace, { parts: instructionParts(agent, previous), began: parts });
    const isKnown = [...state.contents.values()].some(isSmallProfile);
    return isKnown || !("stream" in model) ? small.agent : withNote(small, model);
  }
  const first = initialTools(tools, state, isSmallProfile);
  const begun = first
    ? withServerInstructionsOf(instructions, previous.own, previous.servers, first.instructions)
    : instructions;
  const text = parts.length === 0 ? begun : `${begun}\n\n${instructionsText(parts)}`;
  const room = toolShare * Math.min(knownContextSize(model) ?? ASSUMED, LARGEST);
  const listed = toolsForModel(tools, first, room, maxToolsOf(model));
  return text === instructions && listed === tools ? agent : agent.with({ tools: listed, instructions: text });
}

/** By the settings, or by the context size of the model. */
function isSmall(model: Agent["options"]["model"], profile: "full" | "small" | undefined): boolean {
  if (profile !== undefined) return profile === "small";
  return (knownContextSize(model) ?? ASSUMED) <= SMALL_WINDOW;
}

/** Returns the parts of the instructions for display. The small profile is one part. */
export function shownParts(instructions = "", parts: readonly InstructionPart[]): readonly InstructionPart[] {
  return isSmallProfile(instructions) ? [{ source: "small profile", text: instructions }] : parts;
}

/** Without the built-in text, the most important part last. */
function instructionParts(
  { name, options: { instructions = "" } }: Agent,
  { own, servers }: AgentInstructions,
): InstructionPart[] {
  const current = instructionsText([...own, ...servers]);
  if (!instructions.startsWith(current)) return [{ source: `the agent ${name}`, text: instructions }];
  const more = instructions.slice(current.length).trim();
  return [
    ...servers,
    ...(more === "" ? [] : [{ source: "earlier tasks", text: more }]),
    ...own.filter(({ source }) => source !== "built-in"),
  ];
}
