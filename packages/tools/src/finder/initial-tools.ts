import type { ConversationState, JsonSchema, Tool } from "@banyan/core";
import { jsonSchemaOf } from "@banyan/core/hosts";

interface KnownTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

/** The tools that find and call other tools. */
const FINDER: readonly string[] = ["find_tools", "call_tool"];

/**
 * The instructions and the tool schemas (as JSON) of a conversation's first request that had `call_tool`.
 * See {@link toolsForModel}.
 */
export interface InitialTools {
  readonly instructions: string;
  readonly tools: string;
}

/**
 * Returns the instructions and tools of the first turn in the conversation that had a forwarding tool (`call_tool`).
 * Reads them from the log. Undefined if there was no such turn. Skips turns whose instructions are in `passed`.
 * @example const first = initialTools(tools, session.state);
 */
export function initialTools(
  tools: readonly Tool[],
  { contents }: Pick<ConversationState, "contents">,
  passed: (instructions: string) => boolean = () => false,
): InitialTools | undefined {
  const forwards = tools.find((tool) => tool.forwards)?.name ?? "call_tool";
  const mark = `{"name":${JSON.stringify(forwards)},`;
  let instructions = "";
  for (const text of contents.values()) {
    if (text.startsWith('[{"name":') && text.includes(mark) && !passed(instructions))
      return { instructions, tools: text };
    if (!text.startsWith('[{"name":')) instructions = text;
  }
  return undefined;
}

/**
 * Returns the tools to list in requests to the model. Tools of servers (`offeredBy`) are listed only if their schemas
 * fit into `room` tokens and the request then has at most `most` tools. All other tools of servers, including tools
 * that appear later, are `unlisted`, and `find_tools` finds them. A conversation keeps its first list, so that its
 * requests begin with the same bytes and hit the provider's cache. A listed tool that disappears stays listed; its
 * calls fail. Without a forwarding tool (`call_tool`) now or at the beginning, returns `tools` itself. Equal arguments
 * return the same array.
 * @param initial The first list of the conversation.
 * @param room Tokens.
 * @param most Maximum number of tools in one request.
 * @example const listed = toolsForModel(tools, initialTools(tools, session.state), 8_000);
 */
export function toolsForModel(
  tools: readonly Tool[],
  initial: InitialTools | undefined,
  room: number,
  most = Number.POSITIVE_INFINITY,
): readonly Tool[] {
  const first = initial?.tools;
  if (first === undefined && !tools.some(({ forwards }) => forwards)) return tools;
  if (first === undefined && tools.length <= most && roughToolTokens(tools.filter(isOffered)) <= room) return tools;
  const known = made.get(tools) ?? new Map<string, readonly Tool[]>();
  made.set(tools, known);
  const listed = known.get(first ?? "") ?? toldAs(tools, first === undefined ? [] : (JSON.parse(first) as KnownTool[]));
  known.set(first ?? "", listed);
  return listed;
}

const made = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

function toldAs(tools: readonly Tool[], known: readonly KnownTool[]): readonly Tool[] {
  const hasFinder = tools.some(({ forwards }) => forwards);
  const there = new Map(tools.filter(isOffered).map((tool) => [tool.name, tool]));
  const listed = known.flatMap(({ name, description, input }): Tool[] => {
    const tool = there.get(name);
    if (tool) return [{ ...tool, description, input }];
    const isGone = name.startsWith("mcp_") || (!hasFinder && FINDER.includes(name));
    return isGone ? [gone({ name, description, input })] : [];
  });
  for (const { name } of listed) there.delete(name);
  const unlisted = [...there.values()].map((tool) => ({ ...tool, unlisted: true }));
  const names = known.map(({ name }) => name);
  const before = new Set(names.slice(0, Math.max(0, names.indexOf("find_tools"))));
  const at = 1 + tools.findLastIndex(({ name, forwards }) => (hasFinder ? forwards : before.has(name)));
  const others = (some: readonly Tool[]) => some.filter((tool) => !isOffered(tool));
  return [...others(tools.slice(0, at)), ...listed, ...unlisted, ...others(tools.slice(at))];
}

function isOffered({ offeredBy }: Tool): boolean {
  return offeredBy !== undefined;
}

/**
 * A listed tool whose server is gone or no longer has the tool, or a finder without servers. A call only fails, so it
 * needs no approval.
 */
function gone(tool: KnownTool): Tool {
  return {
    ...tool,
    effects: "none",
    execute() {
      throw new Error(
        "it is not there any more: its server is not connected, or has no such tool now. find_tools finds what there is.",
      );
    },
  };
}

function roughToolTokens(tools: readonly Tool[]): number {
  return tools.reduce((sum, { name, description, input }) => {
    return sum + JSON.stringify({ name, description, input: jsonSchemaOf(`tool "${name}"`, input) }).length / 4;
  }, 0);
}
