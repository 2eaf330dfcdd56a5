import {
  askClient,
  emptyConversation,
  type Json,
  launchAgent,
  type Permission,
  type Permit,
  shortenConversation,
  type Tool,
} from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { updatePlan } from "@banyan/core/hosts";
import { namedActs } from "@banyan/tools/acts";
import { webTools } from "@banyan/tools/web";
import { workspaceTools } from "@banyan/tools/workspace";
import { type PermissionOptions, permissions } from "./permissions.ts";
import { parseRule, type Rules } from "./rule.ts";

/** Rules from their texts. */
export function rules(texts: { deny?: string[]; ask?: string[]; allow?: string[] }): Rules {
  return {
    deny: (texts.deny ?? []).map(parseRule),
    ask: (texts.ask ?? []).map(parseRule),
    allow: (texts.allow ?? []).map(parseRule),
  };
}

/** Banyan's own tools. `finish_task` only exists in its mode, so a similar tool takes its name. */
const OWN: readonly Tool[] = [
  ...workspaceTools({ root: process.cwd() }),
  ...webTools(),
  ...[launchAgent(), shortenConversation(), askClient(), updatePlan(), { ...askClient(), name: "finish_task" }],
];

/** A tool with the description of Banyan's tool of that name, or of an MCP server's tool. */
export function tool(name: string, effects: Tool["effects"] = "external"): Tool {
  const made = { name, description: "", input: { type: "object" }, effects, execute: () => "" } as const;
  if (name.startsWith("mcp_")) return { ...made, offeredBy: "a server", about: (input) => seemingly(input) };
  const { about, files, control } = OWN.find((own) => own.name === name) ?? {};
  return { ...made, files, control, ...(about && { about: (input) => about(input) }) };
}

/** Describes a call like an MCP server's tool, by its argument names. */
export function seemingly(input: unknown, isReader = false): About {
  const { command, paths, urls, writes } = namedActs(input);
  const access = isReader && !writes ? "read" : "write";
  const [url] = urls;
  return {
    ...(command !== undefined && { command }),
    ...(paths.length > 0 && { paths: paths.map((path) => ({ path, access }) as const) }),
    ...(url !== undefined && { url }),
  };
}

/** Judges one call; `allowed`: the conversation's "always" answers. */
export async function judge(
  permission: Permission,
  of: Tool,
  input: Json,
  allowed: readonly string[] = [],
): Promise<Permit> {
  const { signal } = new AbortController();
  const asked = { call: "call", run: "run", tool: of, input };
  return permission({ ...asked, conversation: emptyConversation(), allowed, signal });
}

/** A permission for tests. Default: a user can be asked, and there are no rules. */
export function permission(options: Partial<PermissionOptions> & { readonly workspace: string }): Permission {
  return permissions({ mode: "ask", rules: rules({}), tools: () => OWN, canAsk: true, home: "/home/user", ...options });
}
