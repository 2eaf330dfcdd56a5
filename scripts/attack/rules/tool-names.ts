// S44: no MCP tool bypasses a rule or hook for its name, whatever the names of servers and tools.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { callAll, hostWith, oddServers, randomFrom, toolAt } from "../../../packages/host/src/mcp/odd-names.fixture.ts";
import type { Attack, Place } from "../attack.ts";

const ROUNDS = 10;

interface Named {
  readonly server: string;
  readonly tool: string;
}

/** Computed independently of the product. */
const writtenAs = ({ server, tool }: Named, random: () => number) => {
  const plain = (text: string) => [...text].map((character) => (/[\w-]/.test(character) ? character : "_")).join("");
  return random() < 0.7 ? `mcp__${server}__${tool}` : `mcp__${plain(server)}__${plain(tool)}`;
};

/** Returns whether the text is the tool's name, or may mean the server, by trying all ways to split the text. */
function cuts(text: string, { server, tool }: Named): { readonly isName: boolean; readonly leads: boolean } {
  const same = (one: string, other: string) => one === other || one === other.replace(/[^\w-]/g, "_");
  const rest = text.slice("mcp__".length);
  // A server's name alone means all of its tools.
  let isName = same(rest, server);
  let leads = isName;
  for (let at = 1; at < rest.length; at++) {
    if (!rest.startsWith("__", at) || !same(rest.slice(0, at), server)) continue;
    leads = true;
    if (same(rest.slice(at + 2), tool)) isName = true;
  }
  return { isName, leads };
}

/** Calls all tools of some servers with random rules and hooks. Returns what went wrong. */
export async function callOddNames(
  place: Pick<Place, "folder" | "home">,
  seed: number,
  through: "listed" | "call_tool",
): Promise<string | undefined> {
  const random = randomFrom(seed);
  const servers = oddServers(random);
  const all = Object.entries(servers).flatMap(([server, tools]) => tools.map((tool): Named => ({ server, tool })));
  const denied: string[] = [];
  const hooked: string[] = [];
  const allowed: string[] = [];
  for (const one of all) {
    const lists = [[denied], [denied, allowed], [hooked, allowed], [allowed], []][Math.floor(random() * 5)] ?? [];
    for (const list of lists) list.push(writtenAs(one, random));
  }
  const matcher = hooked.map((name) => `^${name.replaceAll(".", "\\.")}$`).join("|");
  const hooks = { PreToolUse: [{ matcher, hooks: [{ type: "command", command: "echo no >&2; exit 2" }] }] };
  const cwd = join(place.folder, String(seed));
  mkdirSync(cwd);
  const settings = {
    permissions: { deny: denied, allow: allowed },
    ...(hooked.length > 0 && { hooks }),
    toolShare: through === "listed" ? 0.9 : 0.0001,
  };
  await using opened = await hostWith(servers, { home: join(place.home, String(seed)), cwd, settings });
  const tools = all.map(({ server, tool }) => toolAt(opened.host, server, tool));
  const ran = await callAll(opened.host, tools, through);
  if (ran.length !== all.length) return `${ran.length} of ${all.length} calls were made`;
  for (const [index, one] of all.entries()) {
    const names = (list: readonly string[]) => list.some((text) => cuts(text, one).isName);
    const isAllowed = allowed.some((text) => {
      const several = new Set(all.filter((other) => cuts(text, other).leads).map(({ server }) => server));
      return cuts(text, one).isName && several.size === 1;
    });
    const may = isAllowed && !names(denied) && !names(hooked);
    if (ran[index] !== may)
      return `${JSON.stringify(one)} ${may ? "did not run" : "ran"} with ${JSON.stringify({ denied, hooked, allowed })}`;
  }
  return undefined;
}

export const attacks: readonly Attack[] = (["listed", "call_tool"] as const).map((through) => ({
  rule: "S44",
  name: `tools with odd names, ${through}`,
  seconds: 300,
  async attempt(place) {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const broken = await callOddNames(place, through === "listed" ? seed : seed + 1_000, through);
      if (broken !== undefined) return broken;
    }
    return undefined;
  },
}));
