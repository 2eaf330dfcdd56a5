import { createHash } from "node:crypto";
import { type OfferedTool, providerName } from "@banyan/core/conversation";

/** What a model provider takes as the name of a tool. */
const LONGEST = 64;

/**
 * The names `mcp_{server}_{tool}` of tools, in their order. What no name may hold becomes `_`. A name that is too long,
 * or that two tools of a server would share, ends in a digest of what it stands for: so the same tools have the same names,
 * whatever the order in which their servers came up.
 *
 * What begins with the name of another one of `servers`, all that are configured, belongs to that one: there the digest
 * stands behind the server's name. A server chooses the names of its tools, and must reach no rule on another's (S7): the
 * tool `b_c` of `a` is not called as `c` of `a_b` is, does not change that one's name, and `mcp_a_b_*` does not mean it.
 */
export function toolNames(
  tools: readonly OfferedTool[],
  servers: Iterable<string> = tools.map(({ server }) => server),
): string[] {
  const beginnings = [...new Set(servers)].map((server) => providerName(`mcp_${server}_`));
  const plain = tools.map(({ server, tool }) => providerName(`mcp_${server}_${tool}`));
  const owners = new Map<string, Set<string>>();
  const shared = (at: number) => `${tools[at]?.server}\0${plain[at]}`;
  for (const at of plain.keys()) {
    owners.set(shared(at), (owners.get(shared(at)) ?? new Set()).add(digestOf(tools[at])));
  }
  return plain.map((short, at) => {
    const { server = "", tool = "" } = tools[at] ?? {};
    const digest = digestOf(tools[at]);
    const own = providerName(`mcp_${server}_`);
    const single = short.length <= LONGEST && owners.get(shared(at))?.size === 1;
    const name = single ? short : `${short.slice(0, LONGEST - digest.length - 1)}_${digest}`;
    // Asked of the whole name: with its digest, `mcp_a_b` begins as the tools of a server `a_b` do.
    const others = beginnings.filter((beginning) => name.startsWith(beginning) && beginning.length >= own.length);
    if (others.length === 0 || (others.length === 1 && others[0] === own)) return name;
    return providerName(`mcp_${server.slice(0, LONGEST - digest.length - 6)}_${digest}_${tool}`).slice(0, LONGEST);
  });
}

/** Eight hexadecimal digits: enough to tell the few tools apart that share a name. */
function digestOf({ server, tool }: OfferedTool = { server: "", tool: "" }): string {
  return createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
}
