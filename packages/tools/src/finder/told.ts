import type { ConversationState, JsonSchema, Tool } from "@banyan/core";
import { jsonSchemaOf } from "@banyan/core/hosts";

/** A tool as a request described it to the model. */
interface KnownTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

/** The first request of a conversation with a forwarding tool: its instructions, and its tool schemas as JSON. */
export interface InitialTools {
  readonly instructions: string;
  readonly tools: string;
}

/**
 * Returns the instructions and tools of the first turn with one of these forwarding tools, by the log. Undefined if no
 * turn had such a tool. Skips turns whose instructions are `passed`.
 */
export function initialTools(
  tools: readonly Tool[],
  { contents }: Pick<ConversationState, "contents">,
  passed: (instructions: string) => boolean = () => false,
): InitialTools | undefined {
  const forwards = tools.find((tool) => tool.forwards)?.name;
  if (forwards === undefined) return undefined;
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
 * Returns the tools as the model gets them. Server tools (`offeredBy`) are listed if their schemas take at most `room`
 * tokens and the provider accepts as many tools. Server tools that are too many or come later are `unlisted`:
 * `find_tools` finds them. A conversation keeps its first list even if servers change. Its requests then begin with the
 * same bytes, so that the provider's cache hits. A tool that is gone stays listed, and a call of that tool gets an
 * error. Without a forwarding tool, returns `tools` itself. Equal arguments give the same array.
 *
 * @param told The first list of the conversation.
 * @param room Tokens.
 * @param most Maximum number of tools that one request may offer.
 */
export function toolsForModel(
  tools: readonly Tool[],
  told: InitialTools | undefined,
  room: number,
  most = Number.POSITIVE_INFINITY,
): readonly Tool[] {
  if (!tools.some(({ forwards }) => forwards)) return tools;
  const first = told?.tools;
  if (first === undefined && tools.length <= most && roughToolTokens(tools.filter(isOffered)) <= room) return tools;
  const known = made.get(tools) ?? new Map<string, readonly Tool[]>();
  made.set(tools, known);
  const listed = known.get(first ?? "") ?? toldAs(tools, first === undefined ? [] : (JSON.parse(first) as KnownTool[]));
  known.set(first ?? "", listed);
  return listed;
}

/** Results, by the tools and the first list. */
const made = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

function toldAs(tools: readonly Tool[], told: readonly KnownTool[]): readonly Tool[] {
  const there = new Map(tools.filter(isOffered).map((tool) => [tool.name, tool]));
  const listed = told.flatMap(({ name, description, input }): Tool[] => {
    const tool = there.get(name);
    if (tool) return [{ ...tool, description, input }];
    return name.startsWith("mcp_") ? [gone({ name, description, input })] : [];
  });
  for (const { name } of listed) there.delete(name);
  const unlisted = [...there.values()].map((tool) => ({ ...tool, unlisted: true }));
  const at = tools.findIndex(({ forwards }) => forwards) + 1;
  const others = (some: readonly Tool[]) => some.filter((tool) => !isOffered(tool));
  return [...others(tools.slice(0, at)), ...listed, ...unlisted, ...others(tools.slice(at))];
}

function isOffered({ offeredBy }: Tool): boolean {
  return offeredBy !== undefined;
}

/** A listed tool whose server is gone or no longer offers the tool. Its calls do nothing and need no approval. */
function gone(told: KnownTool): Tool {
  return {
    ...told,
    effects: "none",
    execute() {
      throw new Error(
        "it is not there any more: its server is not connected, or has no such tool now. find_tools finds what there is.",
      );
    },
  };
}

/** Estimates four characters per token, as everywhere without a tokenizer. */
function roughToolTokens(tools: readonly Tool[]): number {
  return tools.reduce((sum, { name, description, input }) => {
    return sum + JSON.stringify({ name, description, input: jsonSchemaOf(`tool "${name}"`, input) }).length / 4;
  }, 0);
}
