import { existsSync, lstatSync, readFileSync } from "node:fs";
import { arch, release, type } from "node:os";
import { join, resolve } from "node:path";
import type { Agent, ConversationState } from "@banyan/core";
import { cutTo, visibleLine } from "@banyan/core/shown";
import { withoutEffort } from "@banyan/models";
import { firstTold, toldTools } from "@banyan/tools/finder";
import { commandShell } from "@banyan/tools/workspace";
import { contextOf, idOf, maxToolsOf } from "../drivers/drivers.ts";
import { projectOf } from "../places/project.ts";
import type { Settings } from "../settings/index.ts";
import { asServersSaid, type InstructionPart, instructionsText } from "./instructions.ts";
import { isSmallProfile, SMALL_WINDOW, smallProfile, withNote } from "./small-profile.ts";

/** Bytes of a file that says where a branch is. */
const MOST = 4_096;

/** Letters of the name of a branch. */
const LONGEST = 100;

/** The label of a conversation under which stands what was so when it began. */
export const BEGAN = "began";

/**
 * What a model cannot see and works better with (C11): the date, the system and its shell, and on which branch the repository
 * around the workspace is. Said once, when a conversation begins, and kept as its label, so that the beginning of its requests
 * never changes. What cannot be said is left out.
 */
export function surroundings(workspace: string): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" }).format(new Date());
  const { root } = projectOf(workspace);
  const isRepository = existsSync(join(root, ".git"));
  const state = isRepository ? branchIn(root) : "the workspace is not in a repository";
  return [
    `Date: ${day} (${timeZone})`,
    `System: ${type()} ${release()} (${arch()}); commands run in ${commandShell()}`,
    ...(state === undefined ? [] : [`Git: ${state}`]),
  ].join("\n");
}

/** The same as a part of the instructions, with the name of the model; nothing in a conversation that has none kept. */
export function surroundingsPart(began: string | undefined, model: string): InstructionPart[] {
  if (began === undefined) return [];
  const lines = [...began.split("\n"), `Model: you are ${model}`];
  return [{ source: "surroundings", text: lines.map((line) => `- ${line}`).join("\n") }];
}

/**
 * On which branch the repository is, by its own file: git itself would obey what a repository names, and runs in the sandbox
 * alone (S16). Nothing when that is not to be read.
 */
function branchIn(root: string): string | undefined {
  const head = headOf(root);
  const branch = branchOf(head);
  if (branch !== undefined) return `branch ${branch}`;
  return head !== undefined && /^[0-9a-f]{40,64}$/.test(head) ? "no branch (detached HEAD)" : undefined;
}

/** The branch of the repository around a folder, found without git; nothing where there is none. */
export function gitBranch(workspace: string): string | undefined {
  return branchOf(headOf(projectOf(workspace).root));
}

function headOf(root: string): string | undefined {
  return firstOf(join(root, ".git", "HEAD")) ?? headOfWorktree(root);
}

function branchOf(head = ""): string | undefined {
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  // Whoever made the repository gave it the name.
  return branch && cutTo(visibleLine(branch), LONGEST, "");
}

/** A worktree names the folder of its HEAD in a file. */
function headOfWorktree(root: string): string | undefined {
  const [, folder] = /^gitdir: (.+)$/.exec(firstOf(join(root, ".git")) ?? "") ?? [];
  return folder === undefined ? undefined : firstOf(resolve(root, folder, "HEAD"));
}

/** The first line of a small file; nothing of what is none, such as a pipe that nobody writes to. */
function firstOf(file: string): string | undefined {
  try {
    const found = lstatSync(file);
    if (!found.isFile() || found.size > MOST) return undefined;
    return readFileSync(file, "utf8").split("\n")[0]?.trim();
  } catch {
    return undefined;
  }
}

/** What an agent is told beside its own instructions. */
export interface Told {
  /** What it is told before any conversation. */
  readonly own: readonly InstructionPart[];
  /** What MCP servers say now of how they are to be used. */
  readonly servers: readonly InstructionPart[];
  /** What its model is called where that does not say so itself. */
  readonly model: string;
  /** The folder that it works in. */
  readonly workspace: string;
  /** Of them count the share of the context that the tools of MCP servers may take (C3), and the profile of the model. */
  readonly settings: Pick<Settings, "toolShare" | "models">;
}

/** The context of a model of which nobody knows; and what stands beyond it in a larger one is paid for all the same. */
const ASSUMED = 128_000;
const LARGEST = 200_000;

/**
 * An agent as it works in a conversation: told what was so when that began, of itself and of its MCP servers, so that the
 * beginning of its requests never changes. A model with a small window gets the small profile (F69).
 */
export function asBegan(agent: Agent, state: Pick<ConversationState, "labels" | "contents">, told: Told): Agent {
  const { model, tools = [], instructions = "" } = agent.options;
  const name = idOf(model) ?? told.model;
  const parts = surroundingsPart(state.labels[BEGAN], name);
  const { toolShare = 0.1, models = {} } = told.settings;
  if (isSmall(model, models[withoutEffort(name).full]?.profile)) {
    const small = smallProfile(agent, told.workspace, { parts: partsOf(agent, told), began: parts });
    const isKnown = [...state.contents.values()].some(isSmallProfile);
    return isKnown || !("stream" in model) ? small.agent : withNote(small, model);
  }
  const first = firstTold(tools, state, isSmallProfile);
  const begun = first ? asServersSaid(instructions, told.own, told.servers, first.instructions) : instructions;
  const text = parts.length === 0 ? begun : `${begun}\n\n${instructionsText(parts)}`;
  const room = toolShare * Math.min(contextOf(model) ?? ASSUMED, LARGEST);
  const listed = toldTools(tools, first, room, maxToolsOf(model));
  return text === instructions && listed === tools ? agent : agent.with({ tools: listed, instructions: text });
}

/** Returns whether an agent works in the small profile: by the settings, else by the window of its model. */
function isSmall(model: Agent["options"]["model"], profile: "full" | "small" | undefined): boolean {
  if (profile !== undefined) return profile === "small";
  return (contextOf(model) ?? ASSUMED) <= SMALL_WINDOW;
}

/** The parts of instructions, for a user who looks at them: one in the small profile, which has parts of its own. */
export function toldParts(instructions = "", parts: readonly InstructionPart[]): readonly InstructionPart[] {
  return isSmallProfile(instructions) ? [{ source: "small profile", text: instructions }] : parts;
}

/** Instructions of an agent beside the built-in ones, the most important part last. */
function partsOf({ name, options: { instructions = "" } }: Agent, { own, servers }: Told): InstructionPart[] {
  const current = instructionsText([...own, ...servers]);
  if (!instructions.startsWith(current)) return [{ source: `the agent ${name}`, text: instructions }];
  const more = instructions.slice(current.length).trim();
  return [
    ...servers,
    ...(more === "" ? [] : [{ source: "earlier tasks", text: more }]),
    ...own.filter(({ source }) => source !== "built-in"),
  ];
}
