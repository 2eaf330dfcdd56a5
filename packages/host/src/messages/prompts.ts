import type { UserPart } from "@banyan/core";
import { adviceOn, isRootFolder, slashIn } from "@banyan/core/shown";
import { type PromptCommand, promptOf, wordsIn } from "../definitions/commands.ts";
import type { Host } from "../host.ts";
import { type McpServers, serversSettled } from "../mcp/index.ts";

/** What users, projects and MCP servers have people say with a slash: each says a text of its own to the agent. */
export interface Prompt {
  /** What is typed behind the slash, in small letters: `review`, or `server:review` for one of an MCP server. */
  readonly name: string;
  readonly description: string;
  /** What may stand behind the name, for people. */
  readonly hint?: string;
  /** What it wants to be told, in the order in which it is typed; those of files have no names. */
  readonly arguments: readonly PromptArgument[];
  /** The MCP server that brings it; absent when a file does. */
  readonly server?: string;
}

/** One of the things that a prompt wants to be told. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** All prompts that there are now. */
export interface Prompts {
  readonly prompts: readonly Prompt[];
  /** MCP servers that are still starting, and may bring more. */
  readonly starting: readonly string[];
}

/** A prompt that somebody asks for. */
export interface AskedPrompt {
  /** Without the slash; capital letters count as small ones. */
  readonly name: string;
  /** What was typed behind the name. */
  readonly argument?: string | undefined;
  /** The same, each argument by its name: only for those that have names. These count more. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/** What a prompt says. */
export interface SaidByPrompt {
  readonly parts: readonly UserPart[];
  /** Somebody else wrote it: nothing goes along that the texts name with `@`. */
  readonly asIs: boolean;
  /** The model that it wants for the turn. */
  readonly model?: string;
}

/** A prompt that cannot be said. */
export class PromptError extends Error {
  override readonly name = "PromptError";
}

/** What a host brings that prompts need. */
type Bringer = Pick<Host, "ready" | "redact">;

/** How long a prompt may take. */
export interface PromptPatience {
  readonly signal: AbortSignal;
  /** Milliseconds that its server may take to start until there is no such prompt. Default 10,000. */
  readonly starting?: number;
  /** Milliseconds that its server has to fill it in. Default 30,000. */
  readonly filling?: number;
}

const STARTING = 10_000;
const FILLING = 30_000;

/**
 * The prompts of files, then those of MCP servers. Waits so many milliseconds, at most, for servers that are still starting, and
 * no longer than the signal lets it. Rejects as `host.ready()` does.
 */
export async function listPrompts(host: Pick<Host, "ready">, wait: number, signal: AbortSignal): Promise<Prompts> {
  const { commands = [], mcp } = await host.ready();
  if (mcp && wait > 0) await serversSettled(mcp, AbortSignal.any([signal, AbortSignal.timeout(wait)]));
  const all = [...commands.map(ofFile), ...(mcp?.prompts.map(ofServer) ?? [])];
  // Of several that are typed alike, the first is said.
  const prompts = [...new Map(all.toReversed().map((prompt) => [prompt.name, prompt])).values()].toReversed();
  const starting = mcp?.states.flatMap(({ name, status }) => (status === "connecting" ? [name] : [])) ?? [];
  return { prompts, starting };
}

/**
 * What a prompt says with what it was told, as it says it: it may hold secrets. Rejects with `PromptError` when there is none of that name,
 * when it is not told what it needs, and when its server does not say it in time; and with the signal's reason.
 */
export async function saidByPrompt(host: Bringer, asked: AskedPrompt, patience: PromptPatience): Promise<SaidByPrompt> {
  const { signal, starting = STARTING } = patience;
  const { commands = [], mcp } = await host.ready();
  const name = asked.name.toLowerCase();
  const file = commands.find((command) => ofFile(command).name === name);
  if (file) {
    const [named] = Object.keys(asked.values ?? {});
    if (named !== undefined) throw new PromptError(`/${name} has no argument ${named}: say all of it in \`argument\`.`);
    const text = promptOf(file, asked.argument ?? "");
    return { parts: [{ type: "text", text }], asIs: false, ...(file.model === undefined ? {} : { model: file.model }) };
  }
  const find = () => mcp?.prompts.find((prompt) => ofServer(prompt).name === name);
  if (!find() && mcp && name.includes(":"))
    await serversSettled(mcp, AbortSignal.any([signal, AbortSignal.timeout(starting)]));
  signal.throwIfAborted();
  const prompt = find();
  if (!mcp || !prompt) throw new PromptError(host.redact(await whyNone(host, name, signal)));
  const values = valuesFor(ofServer(prompt), asked);
  const parts = await filled(host, mcp, { prompt, values }, patience);
  if (parts.length === 0) throw new PromptError(`/${name} is empty: the MCP server ${prompt.server} sent no text.`);
  return { parts, asIs: true };
}

/**
 * Returns what a message says that asks for a prompt with a slash (C18); nothing where the message is words. Rejects as
 * `saidByPrompt` does.
 */
export async function saidWithSlash(
  host: Bringer,
  text: string,
  patience: PromptPatience,
): Promise<SaidByPrompt | undefined> {
  const asked = slashIn(text);
  if (!asked) return undefined;
  const { signal, starting = STARTING } = patience;
  const isThere = async (wait: number) => {
    const { prompts } = await listPrompts(host, wait, signal);
    return prompts.some(({ name }) => name === asked.name.toLowerCase());
  };
  // A name with a colon may be one of a server that is starting.
  if ((await isThere(0)) || (asked.name.includes(":") && (await isThere(starting))))
    return saidByPrompt(host, asked, patience);
  if (isRootFolder(asked.name)) return undefined;
  const why = host.redact(await whyNone(host, asked.name, signal));
  throw new PromptError(`${why} Start with a space to send it as text.`);
}

function ofFile({ name, description, hint }: PromptCommand): Prompt {
  return { name: name.toLowerCase(), description, ...(hint === undefined ? {} : { hint }), arguments: [] };
}

type ServerPrompt = McpServers["prompts"][number];

function ofServer({ server, name, description, arguments: wanted }: ServerPrompt): Prompt {
  const hint = wanted.map(({ name, required }) => (required ? plain(name) : `[${plain(name)}]`)).join(" ");
  return {
    name: oneWord(`${server}:${name}`),
    description: description || `a prompt of ${server}`,
    ...(hint === "" ? {} : { hint }),
    arguments: wanted,
    server,
  };
}

/** As it can be typed behind a slash, whatever a server calls it. */
function oneWord(name: string): string {
  return plain(name).toLowerCase().replaceAll(/\s+/g, "_");
}

/** On one line, without what acts on a terminal or on the order of letters (S12). */
function plain(name: string): string {
  return name.replaceAll(/\s+/g, " ").replaceAll(/[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu, "");
}

async function whyNone(host: Bringer, name: string, signal: AbortSignal): Promise<string> {
  const { mcp } = await host.ready();
  const state = mcp?.states.find((each) => name.startsWith(oneWord(`${each.name}:`)));
  if (state?.status === "connecting")
    return `There is no prompt /${name} yet: the MCP server ${state.name} is still starting. Try again when it is ready.`;
  if (state && state.status !== "ready")
    return `There is no prompt /${name}: the MCP server ${state.name} is ${state.status === "disabled" ? "switched off" : "not there"}.`;
  const { prompts } = await listPrompts(host, 0, signal);
  const all = prompts.map((each) => `/${each.name}`);
  return `There is no prompt /${name}. ${adviceOn(`/${name}`, all)}`;
}

/** Throws `PromptError` when something is missing, or has a name that is none of its own. */
function valuesFor({ name, arguments: wanted }: Prompt, { argument = "", values }: AskedPrompt) {
  const given = values ?? byPlace(wanted, argument);
  const unknown = Object.keys(given).find((key) => !wanted.some((each) => each.name === key));
  if (unknown !== undefined) {
    const names = wanted.map((each) => each.name);
    throw new PromptError(`/${name} has no argument ${unknown}. ${adviceOn(unknown, names)}`);
  }
  // An argument may be called as something that every object has.
  const isGiven = (name: string) => Object.hasOwn(given, name) && given[name] !== "";
  const missing = wanted.find((each) => each.required && !isGiven(each.name));
  if (missing) {
    const what = missing.description === "" ? "" : `: ${missing.description}`;
    throw new PromptError(`/${name} needs ${plain(missing.name)}${what}`.replace(/\.?$/, "."));
  }
  return given;
}

/** Words in their order, of which one in quotes is one; the last argument takes all that is left. */
function byPlace(wanted: readonly PromptArgument[], argument: string): Readonly<Record<string, string>> {
  const words = wordsIn(argument);
  const values = wanted.flatMap(({ name }, index) => {
    const isLast = index === wanted.length - 1;
    const rest = words.slice(index);
    const value = isLast && rest.length > 1 ? argument.slice(rest[0]?.at).trim() : (rest[0]?.word ?? "");
    return value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values);
}

async function filled(
  { redact }: Bringer,
  servers: McpServers,
  { prompt, values }: { readonly prompt: ServerPrompt; readonly values: Readonly<Record<string, string>> },
  { signal, filling = FILLING }: PromptPatience,
): Promise<readonly UserPart[]> {
  const late = AbortSignal.timeout(filling);
  try {
    return await servers.prompt(prompt, values, AbortSignal.any([signal, late]));
  } catch (cause) {
    signal.throwIfAborted();
    const { server, name } = prompt;
    const why = late.aborted
      ? `The MCP server ${server} did not send its prompt ${name} within ${filling / 1_000} s. Try again.`
      : cause instanceof Error
        ? cause.message
        : String(cause);
    throw new PromptError(redact(why), { cause });
  }
}
