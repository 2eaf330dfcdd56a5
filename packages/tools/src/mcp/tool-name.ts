import { createHash } from "node:crypto";
import { type OfferedTool, providerName } from "@banyan/core/conversation";

/** The longest tool name that model providers accept. */
const LONGEST = 64;

/**
 * Returns the names `mcp_{server}_{tool}` of tools, in their order. Invalid characters become `_`. A name that is too
 * long or that two tools of a server share ends with a digest of server and tool. So a tool keeps its name regardless
 * of the order in which servers connect.
 *
 * If a name begins with the name of another configured server (`servers`), the digest follows its own server's name. A
 * server chooses the names of its tools and must not get the rules of another server (S7). The tool `b_c` of `a` does
 * not get or change the name of the tool `c` of `a_b`, and the rule `mcp_a_b_*` does not match.
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
    owners.set(shared(at), (owners.get(shared(at)) ?? new Set()).add(toolNameDigest(tools[at])));
  }
  return plain.map((short, at) => {
    const { server = "", tool = "" } = tools[at] ?? {};
    const digest = toolNameDigest(tools[at]);
    const own = providerName(`mcp_${server}_`);
    const single = short.length <= LONGEST && owners.get(shared(at))?.size === 1;
    const name = single ? short : `${short.slice(0, LONGEST - digest.length - 1)}_${digest}`;
    // Check the whole name: `mcp_a_b` with its digest begins like the tools of a server `a_b`.
    const others = beginnings.filter((beginning) => name.startsWith(beginning) && beginning.length >= own.length);
    if (others.length === 0 || (others.length === 1 && others[0] === own)) return name;
    return providerName(`mcp_${server.slice(0, LONGEST - digest.length - 6)}_${digest}_${tool}`).slice(0, LONGEST);
  });
}

/** Returns eight hexadecimal digits: enough to distinguish the few tools that share a name. */
function toolNameDigest({ server, tool }: OfferedTool = { server: "", tool: "" }): string {
  return createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
}
