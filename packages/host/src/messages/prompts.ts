import { isRootFolder, slashIn } from "@banyan/client/words";
import type { UserPart } from "@banyan/core";
import { nearestNameAdvice } from "@banyan/core/shown";
import { commandPromptText, type PromptCommand, splitWords } from "../definitions/commands.ts";
import type { Host } from "../host/host.ts";
import { type McpServers, waitForServers } from "../mcp/index.ts";

/** A slash command that sends a prompt to the agent, from a user, a project or an MCP server. */
export interface SlashPrompt {
  /** The lower-case name after the slash: `review`, or `server:review` for a prompt of an MCP server. */
  readonly name: string;
  readonly description: string;
  /** A hint for users about the arguments. */
  readonly hint?: string;
  /** The arguments, in the order in which users type them. Prompts of files have no named arguments. */
  readonly arguments: readonly PromptArgument[];
  /** The MCP server with the prompt; absent for a prompt of a file. */
  readonly server?: string;
}

/** A named argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** The current prompts, and the servers that can still add prompts. */
export interface Prompts {
  readonly prompts: readonly SlashPrompt[];
  /** MCP servers that are still starting. */
  readonly starting: readonly string[];
}

/** A request for a prompt's text. */
export interface PromptInvocation {
  /** The name without the slash, in upper or lower case. */
  readonly name: string;
  /** The text after the name. */
  readonly argument?: string | undefined;
  /** Arguments by name, for prompts with named arguments. They take precedence over `argument`. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/** The message that a prompt produces. */
export interface PromptText {
  readonly parts: readonly UserPart[];
  /** True if the text comes from an MCP server. Files that it names with `@` are then not attached. */
  readonly asIs: boolean;
  /** The model for the turn. */
  readonly model?: string;
}

/** The error of a prompt that cannot be produced. */
export class PromptError extends Error {
  override readonly name = "PromptError";
}

type Bringer = Pick<Host, "ready" | "redact">;

/** The longest wait for a prompt. */
export interface PromptPatience {
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the server to start. Default 10,000. */
  readonly starting?: number;
  /** Milliseconds to wait for the server's text. Default 30,000. */
  readonly filling?: number;
}

const STARTING = 10_000;
const FILLING = 30_000;

/** Lists the prompts of files and of MCP servers. Waits at most `wait` milliseconds for servers that are starting. */
export async function listPrompts(host: Pick<Host, "ready">, wait: number, signal: AbortSignal): Promise<Prompts> {
  const { commands = [], mcp } = await host.ready();
  if (mcp && wait > 0) await waitForServers(mcp, AbortSignal.any([signal, AbortSignal.timeout(wait)]));
  const all = [...commands.map(ofFile), ...(mcp?.prompts.map(ofServer) ?? [])];
  // The first of several prompts with one name counts.
  const prompts = [...new Map(all.toReversed().map((prompt) => [prompt.name, prompt])).values()].toReversed();
  const starting = mcp?.states.flatMap(({ name, status }) => (status === "connecting" ? [name] : [])) ?? [];
  return { prompts, starting };
}

/** Returns a prompt's text with its arguments. Does not remove secrets. Rejects with `PromptError`. */
export async function expandPrompt(
  host: Bringer,
  invocation: PromptInvocation,
  patience: PromptPatience,
): Promise<PromptText> {
  const { signal, starting = STARTING } = patience;
  const { commands = [], mcp } = await host.ready();
  const name = invocation.name.toLowerCase();
  const file = commands.find((command) => ofFile(command).name === name);
  if (file) {
    const [named] = Object.keys(invocation.values ?? {});
    if (named !== undefined)
      throw new PromptError(`/${name} has no argument ${named}: put the whole text in \`argument\`.`);
    const text = commandPromptText(file, invocation.argument ?? "");
    return { parts: [{ type: "text", text }], asIs: false, ...(file.model === undefined ? {} : { model: file.model }) };
  }
  const find = () => mcp?.prompts.find((prompt) => ofServer(prompt).name === name);
  if (!find() && mcp && name.includes(":"))
    await waitForServers(mcp, AbortSignal.any([signal, AbortSignal.timeout(starting)]));
  signal.throwIfAborted();
  const prompt = find();
  if (!mcp || !prompt) throw new PromptError(host.redact(await whyNone(host, name, signal)));
  const values = valuesFor(ofServer(prompt), invocation);
  const parts = await filledServerPrompt(host, mcp, { prompt, values }, patience);
  if (parts.length === 0) throw new PromptError(`/${name} is empty: the MCP server ${prompt.server} sent no text.`);
  return { parts, asIs: true };
}

/** Returns the prompt for a message `/name ...` (C18); undefined for plain text. Rejects as `expandPrompt` does. */
export async function expandSlashPrompt(
  host: Bringer,
  text: string,
  patience: PromptPatience,
): Promise<PromptText | undefined> {
  const slash = slashIn(text);
  if (!slash) return undefined;
  const { signal, starting = STARTING } = patience;
  const isThere = async (wait: number) => {
    const { prompts } = await listPrompts(host, wait, signal);
    return prompts.some(({ name }) => name === slash.name.toLowerCase());
  };
  // A name with a colon may belong to a server that is starting.
  if ((await isThere(0)) || (slash.name.includes(":") && (await isThere(starting))))
    return expandPrompt(host, slash, patience);
  if (isRootFolder(slash.name)) return undefined;
  const why = host.redact(await whyNone(host, slash.name, signal));
  throw new PromptError(`${why} To send this as text, start with a space.`);
}

function ofFile({ name, description, hint }: PromptCommand): SlashPrompt {
  return { name: name.toLowerCase(), description, ...(hint === undefined ? {} : { hint }), arguments: [] };
}

type McpServerPrompt = McpServers["prompts"][number];

function ofServer({ server, name, description, arguments: wanted }: McpServerPrompt): SlashPrompt {
  const hint = wanted
    .map(({ name, required }) => (required ? plainPromptName(name) : `[${plainPromptName(name)}]`))
    .join(" ");
  return {
    name: oneWord(`${server}:${name}`),
    description: description || `a prompt of ${server}`,
    ...(hint === "" ? {} : { hint }),
    arguments: wanted,
    server,
  };
}

/** Makes a server's name typeable after a slash. */
function oneWord(name: string): string {
  return plainPromptName(name).toLowerCase().replaceAll(/\s+/g, "_");
}

/** Removes characters that control a terminal or reorder text (S12). */
function plainPromptName(name: string): string {
  return name.replaceAll(/\s+/g, " ").replaceAll(/[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu, "");
}

async function whyNone(host: Bringer, name: string, signal: AbortSignal): Promise<string> {
  const { mcp } = await host.ready();
  const state = mcp?.states.find((each) => name.startsWith(oneWord(`${each.name}:`)));
  if (state?.status === "connecting")
    return `There is no prompt /${name} yet: the MCP server ${state.name} is still starting. Try again when it is ready.`;
  if (state && state.status !== "ready")
    return `There is no prompt /${name}: the MCP server ${state.name} is ${state.status === "disabled" ? "switched off" : "not available"}.`;
  const { prompts } = await listPrompts(host, 0, signal);
  const all = prompts.map((each) => `/${each.name}`);
  return `There is no prompt /${name}. ${nearestNameAdvice(`/${name}`, all)}`;
}

/** Throws `PromptError` for a missing or an unknown argument. */
function valuesFor({ name, arguments: wanted }: SlashPrompt, { argument = "", values }: PromptInvocation) {
  const filled = values ?? byPlace(wanted, argument);
  const unknown = Object.keys(filled).find((key) => !wanted.some((each) => each.name === key));
  if (unknown !== undefined) {
    const names = wanted.map((each) => each.name);
    throw new PromptError(`/${name} has no argument ${unknown}. ${nearestNameAdvice(unknown, names)}`);
  }
  // The name may be a property of every object, such as `constructor`.
  const isGiven = (name: string) => Object.hasOwn(filled, name) && filled[name] !== "";
  const missing = wanted.find((each) => each.required && !isGiven(each.name));
  if (missing) {
    const what = missing.description === "" ? "" : `: ${missing.description}`;
    throw new PromptError(`/${name} needs ${plainPromptName(missing.name)}${what}`.replace(/\.?$/, "."));
  }
  return filled;
}

/** Quoted words are one word; the last argument gets the rest. */
function byPlace(wanted: readonly PromptArgument[], argument: string): Readonly<Record<string, string>> {
  const words = splitWords(argument);
  const values = wanted.flatMap(({ name }, index) => {
    const isLast = index === wanted.length - 1;
    const rest = words.slice(index);
    const value = isLast && rest.length > 1 ? argument.slice(rest[0]?.at).trim() : (rest[0]?.word ?? "");
    return value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values);
}

async function filledServerPrompt(
  { redact }: Bringer,
  servers: McpServers,
  { prompt, values }: { readonly prompt: McpServerPrompt; readonly values: Readonly<Record<string, string>> },
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
