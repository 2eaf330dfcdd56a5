import { EARLIER, earlierTextsToSearch, readEarlier } from "../../context/earlier.ts";
import { cutTo } from "../../conversation/shown/visible-text.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";

const LONGEST_LINE = 2_000;
/** Less than the engine's bound for a result, so that the note at the end is never cut. */
const MOST_CHARACTERS = 15_000;

interface EarlierInput {
  readonly address?: string;
  readonly start?: number;
  readonly find?: string;
}

/**
 * Makes the tool `earlier {address?, start?, find?}`, which reads and searches messages that a summary covers. Agents
 * with the workspace tools `read` and `search` do not need it, because these tools accept the same addresses.
 * @example new Agent({ model, tools: [earlier()] });
 */
export function earlier(): Tool {
  return defineTool({
    name: "earlier",
    description: `Reads the messages that a summary of this conversation replaced: ${EARLIER} lists the messages, ${EARLIER}#12 is message 12, and ${EARLIER} with the id of a call is the result of the call.`,
    input: {
      type: "object",
      properties: {
        address: { type: "string", pattern: `^${EARLIER}`, description: `Default: ${EARLIER}` },
        start: { type: "integer", minimum: 1, description: "First line to return. Default: 1." },
        find: {
          type: "string",
          minLength: 1,
          description: "Returns only lines that contain this text, in upper or lower case.",
        },
      },
      additionalProperties: false,
    },
    effects: "none",
    readsEarlier: true,
    about: (input) => ({
      title: (input as EarlierInput).address ?? EARLIER,
      looksAt: { one: "earlier message", several: "earlier messages" },
    }),
    async execute(input: unknown, { wholePath }) {
      const { address = EARLIER, start = 1, find } = input as EarlierInput;
      const path = await wholePath();
      if (find === undefined) return earlierPage(readEarlier(path, address).split("\n"), start);
      const wanted = find.toLowerCase();
      const found = earlierTextsToSearch(path, address).flatMap(({ address, text }) =>
        text
          .split("\n")
          .flatMap((line, index) => (line.toLowerCase().includes(wanted) ? `${address}:${index + 1}:${line}` : [])),
      );
      return found.length === 0 ? "[no matches]" : earlierPage(found, start);
    },
  });
}

/** Returns the lines from `start` on that fit into one result, with a note if more follow. */
function earlierPage(lines: readonly string[], start: number): string {
  if (start > lines.length) throw new RangeError(`The text has only ${lines.length} lines. Use a smaller start.`);
  const page: string[] = [];
  let length = 0;
  for (const line of lines.slice(start - 1)) {
    const cut = cutTo(line, LONGEST_LINE, " [...]");
    length += cut.length + 1;
    if (length > MOST_CHARACTERS)
      return [...page, `[More follows; read on with start=${start + page.length}]`].join("\n");
    page.push(cut);
  }
  return page.join("\n");
}
