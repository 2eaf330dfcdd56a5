import { createHash } from "node:crypto";

/** A tool of a server, by the names that they have for themselves. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/** What a model provider takes as the name of a tool. */
const LONGEST = 64;

/**
 * The names `mcp_{server}_{tool}` of tools, in their order. What no name may hold becomes `_`. A name that is too long,
 * or that two tools would share, ends in a digest of what it stands for: so the same tools have the same names,
 * whatever the order in which their servers came up.
 */
export function toolNames(tools: readonly ServerTool[]): string[] {
  const plain = tools.map(({ server, tool }) => `mcp_${server}_${tool}`.replace(/[^A-Za-z0-9_-]/g, "_"));
  const owners = new Map<string, Set<string>>();
  for (const [at, name] of plain.entries()) {
    const digest = digestOf(tools[at]);
    owners.set(name, (owners.get(name) ?? new Set()).add(digest));
  }
  return plain.map((name, at) => {
    if (name.length <= LONGEST && owners.get(name)?.size === 1) return name;
    const digest = digestOf(tools[at]);
    return `${name.slice(0, LONGEST - digest.length - 1)}_${digest}`;
  });
}

/** Eight hexadecimal digits: enough to tell the few tools apart that share a name. */
function digestOf({ server, tool }: ServerTool = { server: "", tool: "" }): string {
  return createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
}
