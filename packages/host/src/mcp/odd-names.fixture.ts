import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import type { Host } from "../host/host.ts";
import { openHost } from "../host/open-host.ts";

// Servers and tools with `_`, `-`, `.`, blanks and long names, called by their listed names and through call_tool (S44).

const SERVER = join(import.meta.dirname, "../equipment/mcp-server.fixture.ts");
/** The output of each tool of these servers. */
const RAN = "three notes";

/** A random number from 0 to 1, from a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Tools of several servers, by server name. The names of a server's tools differ. */
export function oddServers(random: () => number): Readonly<Record<string, readonly string[]>> {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const word = () => pick(["a", "b", "g", "read", "only", "x1"]);
  const name = (joints: readonly string[]) => {
    const words = Array.from({ length: 1 + Math.floor(random() * 3) }, word);
    return words.reduce((text, next) => `${text}${pick(joints)}${next}`);
  };
  // Names of servers have no blanks. A name that is too long for a provider gets a digest at its end.
  const tool = () => name(["_", "__", "-", ".", " "]) + (random() < 0.1 ? "long".repeat(15) : "");
  const named = Array.from({ length: 3 }, () => name(["_", "__", "-", "."]));
  const [first = ""] = named;
  const [inner, last] = [word(), word()];
  // Two servers whose tools have the same combined name, and two servers with the same name for a provider.
  const servers = new Set([...named, `${first}__${inner}`, first.replaceAll(".", "_")]);
  const tools = (server: string) => {
    const own = Array.from({ length: 3 }, tool);
    return [...new Set([...own, ...(server === first ? [`${inner}__${last}`] : [last])])];
  };
  return Object.fromEntries([...servers].map((server) => [server, tools(server)]));
}

export interface OddNamesOptions {
  readonly home: string;
  readonly cwd: string;
  /** Settings in addition to the servers. */
  readonly settings?: object;
}

/** A host with these servers, all connected. */
export async function hostWith(
  servers: Readonly<Record<string, readonly string[]>>,
  { home, cwd, settings }: OddNamesOptions,
): Promise<AsyncDisposable & { readonly host: Host }> {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([server, tools]) => [
      server,
      { command: process.execPath, args: [SERVER, tools.join(",")] },
    ]),
  );
  mkdirSync(join(home, "own/config"), { recursive: true });
  const all = { sandbox: { enabled: "off" }, mcpServers, ...settings };
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify(all));
  const env = { PATH: process.env.PATH, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, flags: { model: "demo/offline" }, canAsk: true, env });
  await (await host.ready()).mcp?.settled();
  return { host, [Symbol.asyncDispose]: () => host.close() };
}

/** The tool of a server, by both names. */
export function toolAt(host: Host, server: string, tool: string): Tool {
  const found = host.agent.options.tools?.find(
    ({ offeredBy, offeredAs }) => offeredBy === server && offeredAs === tool,
  );
  if (!found) throw new Error(`There is no ${tool} of ${server}: ${host.notices.join(" ")}`);
  return found;
}

/** Calls tools in order in one turn. Returns for each whether it ran without a question. */
export async function callAll(host: Host, tools: readonly Tool[], through: "listed" | "call_tool"): Promise<boolean[]> {
  const input = { id: 1 };
  const scenes = tools.map(({ name }) => [
    through === "listed" ? call(name, input) : call("call_tool", { tool: name, input }),
  ]);
  const model = scriptedModel([...scenes, "ok"]);
  const session = await host.newSession();
  session.listen({
    items(items) {
      for (const item of items)
        if (item.type === "call.approval-requested")
          session.answer(item.question, { decision: "deny" }).catch(unanswered);
    },
    ended() {},
  });
  await host.agent.with({ model, limits: { steps: tools.length + 2 } }).send("Go.", { session });
  const calls = [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls : [],
  );
  await session.close();
  return calls.map(({ output }) => output?.includes(RAN) ?? false);
}

function unanswered(error: unknown): never {
  throw error;
}
