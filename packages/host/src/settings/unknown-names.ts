import { statSync } from "node:fs";
import { resolve } from "node:path";
import { nearest } from "@banyan/core/shown";
import { checkModel, type EnvironmentVariables, embeddingModel, ModelChoiceError } from "@banyan/models";
import { expandHome } from "@banyan/tools/named-path";
import type { WebError } from "@banyan/tools/web";
import { serversMeant } from "../permissions/named-tool.ts";
import { modelNames } from "./connection.ts";
import type { Misfit } from "./fault.ts";
import type { KeyPath } from "./key.ts";
import type { SettingEntry } from "./merge.ts";
import { agentNamed, installedAgent } from "./other-agents.ts";
import type { Settings } from "./schema.ts";

/** The settings and folders in which names are looked up. */
export interface LookupContext {
  /** The settings of all sources together. A short name that one source defines can be used in the others. */
  readonly settings: Settings;
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly workspace: string;
}

/** Returns the faults in the names of a setting: unusable models, unknown MCP servers, missing files and folders. */
export async function findUnknownNames(
  { path, value }: Pick<SettingEntry, "path" | "value">,
  context: LookupContext,
): Promise<Misfit[]> {
  const [setting, name] = path;
  const models = (found: unknown, at: KeyPath, needsSetUp = true) =>
    typeof found === "string" ? modelMisfits(found, at, context, needsSetUp) : [];
  switch (setting) {
    case "model":
    case "titleModel":
      return models(value, path);
    case "fallbacks":
      return (await Promise.all(asList(value).map((model, index) => models(model, [...path, index])))).flat();
    case "compaction":
      return name === "model" ? models(value, path) : [];
    case "memory":
      return name === "embedModel" ? embeddingMisfits(String(value), path, context) : [];
    case "aliases":
      // Users need not have keys for all short names.
      return models(value, path, false);
    case "models":
      return (await models(name, path, false)).map((misfit) => ({ ...misfit, isName: true }));
    case "agents":
      return agentMisfits(value as NonNullable<Settings["agents"]>[string], path, context, true);
    case "sandbox":
      return name === "writable" ? missingPaths(asList(value), path, context) : [];
    case "instructions":
      return missingPaths(asList(value), path, context);
    case "search":
      return searchMisfits(context, path);
    default:
      return [];
  }
}

/** Returns the faults in the model and the tools of an agent that is written at `path`. */
export async function agentMisfits(
  { model, tools = [] }: { readonly model?: string | undefined; readonly tools?: readonly string[] | undefined },
  path: KeyPath,
  context: LookupContext,
  needsSetUp: boolean,
): Promise<Misfit[]> {
  const ofModel = model === undefined ? [] : await modelMisfits(model, [...path, "model"], context, needsSetUp);
  return [...ofModel, ...toolMisfits(tools, [...path, "tools"], context)];
}

function asList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

async function modelMisfits(
  name: string,
  path: KeyPath,
  context: LookupContext,
  needsSetUp: boolean,
): Promise<Misfit[]> {
  const { settings, env } = context;
  try {
    const agent = agentNamed(name, settings);
    if (agent) {
      if (needsSetUp) installedAgent(agent, context);
      return [];
    }
    const { aliases, overrides } = modelNames(settings);
    const near = await checkModel(name, { env, aliases, overrides }, needsSetUp);
    if (near.length === 0) return [];
    const advice = `did you mean ${near.join(" or ")}? If it is new, add it to "models"`;
    return [{ path, isName: false, problem: `no known model is called "${name}"`, advice }];
  } catch (error) {
    return [misfitOf(error, path, ModelChoiceError)];
  }
}

function embeddingMisfits(name: string, path: KeyPath, { settings: { aliases = {} }, env }: LookupContext): Misfit[] {
  try {
    embeddingModel(name, { env, aliases });
    return [];
  } catch (error) {
    return [misfitOf(error, path, ModelChoiceError)];
  }
}

/** The first sentence is the problem, the rest is advice. */
function misfitOf(error: unknown, path: KeyPath, kind: typeof ModelChoiceError | typeof WebError): Misfit {
  if (!(error instanceof kind)) throw error;
  const [problem = "", advice = ""] = error.message.replace(/\.$/, "").split(/\. (.*)/s);
  return { path, isName: false, problem: lowerCaseFirst(problem), advice: lowerCaseFirst(advice) };
}

/** Makes the first letter of a sentence lower case, so that it can follow a colon. */
export function lowerCaseFirst(sentence: string): string {
  return /^[A-Z][a-z ]/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
}

/** The agent cannot get tools of MCP servers that the settings do not have. */
function toolMisfits(
  tools: readonly string[],
  path: KeyPath,
  { settings: { mcpServers = {} } }: LookupContext,
): Misfit[] {
  const servers = Object.keys(mcpServers);
  return tools.flatMap((tool, index) => {
    if (!/^mcp_[^*]/.test(tool) || serversMeant(tool, servers).length > 0) return [];
    const [, named = ""] = /^mcp__(.+?)(?:__|$)/.exec(tool) ?? [];
    const near = nearest(named, servers);
    const there = servers.length === 0 ? "no server is configured" : `the servers are ${servers.join(", ")}`;
    const advice = near.length > 0 ? `did you mean ${near.join(" or ")}?` : there;
    return { path: [...path, index], isName: false, problem: `"${tool}" is a tool of no MCP server here`, advice };
  });
}

function missingPaths(paths: readonly string[], path: KeyPath, { home, workspace }: LookupContext): Misfit[] {
  return paths.flatMap((written, index) => {
    const whole = resolve(workspace, expandHome(written, home));
    if (statSync(whole, { throwIfNoEntry: false })) return [];
    return {
      path: [...path, index],
      isName: false,
      problem: `there is no ${whole}`,
      advice: "name a path that exists",
    };
  });
}

async function searchMisfits({ settings: { search }, env }: LookupContext, path: KeyPath): Promise<Misfit[]> {
  const { searchProvider, WebError } = await import("@banyan/tools/web");
  try {
    if (search) searchProvider(search, env);
    return [];
  } catch (error) {
    return [misfitOf(error, path, WebError)];
  }
}
