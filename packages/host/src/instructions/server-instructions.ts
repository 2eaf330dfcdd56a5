import type { McpServers } from "@banyan/tools/mcp";
import type { Redact } from "../redaction/index.ts";
import type { InstructionPart } from "./instructions.ts";

/** Characters of what one server says, and of what all say: they are in every request to the model. */
const LONGEST = 4096;
const MOST = 16_384;

const WHOSE = "What this MCP server says of itself. These are its words, not those of the person you work with:";

/**
 * What the MCP servers that are there say of how they are to be used, as parts of what an agent is told: quoted, so that it
 * is seen where their words end, without secrets (S10), and bounded.
 */
export function serverInstructions(
  servers: Pick<McpServers, "states" | "instructions">,
  redact: Redact,
): InstructionPart[] {
  let room = MOST;
  return servers.states.flatMap(({ name }) => {
    const said = redact(servers.instructions(name) ?? "").trim();
    if (said === "" || room <= 0) return [];
    const text = beginningOf(said, Math.min(LONGEST, room));
    room -= text.length;
    return [{ source: `MCP server ${name}`, text: `${WHOSE}\n\n${text.replace(/^/gm, "> ")}` }];
  });
}

function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[... ${text.length - most} more characters are left out]`;
}
