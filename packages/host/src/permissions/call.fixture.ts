import { emptyConversation, type Json, type Permission, type Permit, type Tool } from "@banyan/core";
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

export function tool(name: string, effects: Tool["effects"] = "external"): Tool {
  return { name, description: "", input: { type: "object" }, effects, execute: () => "" };
}

/** What a permission says of one call; `allowed` are the answers "always" of the conversation. */
export async function judge(
  permission: Permission,
  of: Tool,
  input: Json,
  allowed: readonly string[] = [],
): Promise<Permit> {
  const { signal } = new AbortController();
  return permission({ call: "call", tool: of, input, conversation: emptyConversation(), allowed, signal });
}

/** A permission with a person to ask and no rules, where nothing else is said. */
export function permission(options: Partial<PermissionOptions> & { readonly workspace: string }): Permission {
  return permissions({ mode: "ask", rules: rules({}), canAsk: true, home: "/home/user", ...options });
}
