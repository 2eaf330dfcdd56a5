import { createHash } from "node:crypto";
import { type OfferedTool, providerName } from "@banyan/core/conversation";

const LONGEST = 64;

/**
 * Returns the names `mcp_{server}_{tool}` of tools, in the order of the tools. Invalid characters become `_`. If a name
 * is too long, or two tools of a server would get the same name, a digest of server and tool is appended. So a tool's
 * name does not depend on the order in which servers connect. If a name begins like the tools of another configured
 * server (`servers`), the digest comes right after the name of its own server. A server chooses its tool names and must
 * not get the rules of another server (S7): the tool `b_c` of `a` does not get or change the name of the tool `c` of
 * `a_b`, and the rule `mcp_a_b_*` does not match it.
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

function toolNameDigest({ server, tool }: OfferedTool = { server: "", tool: "" }): string {
  return createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
}
