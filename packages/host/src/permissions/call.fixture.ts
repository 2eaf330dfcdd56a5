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

/** Banyan's own tools; the one that ends a task, which only its mode has, as its neighbour. */
const OWN: readonly Tool[] = [
  ...workspaceTools({ root: process.cwd() }),
  ...webTools(),
  ...[launchAgent(), shortenConversation(), askClient(), updatePlan(), { ...askClient(), name: "finish_task" }],
];

/** Says of itself what Banyan's own of that name says, or what is said of one that a server offers. */
export function tool(name: string, effects: Tool["effects"] = "external"): Tool {
  const made = { name, description: "", input: { type: "object" }, effects, execute: () => "" } as const;
  if (name.startsWith("mcp_")) return { ...made, offeredBy: "a server", about: (input) => seemingly(input) };
  const { about, files, control } = OWN.find((own) => own.name === name) ?? {};
  return { ...made, files, control, ...(about && { about: (input) => about(input) }) };
}

/** As a tool of an MCP server says it, by the names of its arguments. */
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

/** What a permission says of one call; `allowed` are the answers "always" of the conversation. */
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

/** A permission with a person to ask and no rules, where nothing else is said. */
export function permission(options: Partial<PermissionOptions> & { readonly workspace: string }): Permission {
  return permissions({ mode: "ask", rules: rules({}), tools: () => OWN, canAsk: true, home: "/home/user", ...options });
}
