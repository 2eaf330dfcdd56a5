import type { ConversationState, JsonSchema, Tool } from "@banyan/core";
import { jsonSchemaOf } from "@banyan/core/hosts";

/** A tool as a model was told it. */
interface Told {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

/** What a model was told when a conversation began with a tool that forwards: instructions, and schemas as JSON. */
export interface FirstTold {
  readonly instructions: string;
  readonly tools: string;
}

/**
 * What the first turn that had one of these tools which forwards was told, by its log; nothing where none had it. Turns
 * whose instructions are `passed` over do not count.
 */
export function firstTold(
  tools: readonly Tool[],
  { contents }: Pick<ConversationState, "contents">,
  passed: (instructions: string) => boolean = () => false,
): FirstTold | undefined {
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
 * The tools as the model of a conversation is told them. Those of servers (`offeredBy`) are listed when all of their
 * schemas take at most `room` tokens, and the model's provider takes as many; otherwise, and when they come later, they are `unlisted`, and `find_tools` finds them.
 * What a conversation has begun with it keeps, whatever has become of its servers since, so that its requests begin
 * with the same bytes and the provider's cache holds: a tool that is gone stays in the list, and says that it is gone when
 * it is called. Tools without one that forwards are returned as they are; the same array for the same.
 *
 * @param told What the conversation began with.
 * @param room Tokens.
 * @param most Tools that one request may offer.
 */
export function toldTools(
  tools: readonly Tool[],
  told: FirstTold | undefined,
  room: number,
  most = Number.POSITIVE_INFINITY,
): readonly Tool[] {
  if (!tools.some(({ forwards }) => forwards)) return tools;
  const first = told?.tools;
  if (first === undefined && tools.length <= most && tokensOf(tools.filter(isOffered)) <= room) return tools;
  const known = made.get(tools) ?? new Map<string, readonly Tool[]>();
  made.set(tools, known);
  const listed = known.get(first ?? "") ?? toldAs(tools, first === undefined ? [] : (JSON.parse(first) as Told[]));
  known.set(first ?? "", listed);
  return listed;
}

/** By what was there, and what was told first. */
const made = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

function toldAs(tools: readonly Tool[], told: readonly Told[]): readonly Tool[] {
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

/** Their server is not there, or offers it no more. It does nothing, so nobody is asked. */
function gone(told: Told): Tool {
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

/** About: four characters a token, as everywhere where no tokenizer is asked. */
function tokensOf(tools: readonly Tool[]): number {
  return tools.reduce((sum, { name, description, input }) => {
    return sum + JSON.stringify({ name, description, input: jsonSchemaOf(`tool "${name}"`, input) }).length / 4;
  }, 0);
}
