import { type Action, ActionRefusal, mayBePrompt, type ReadLine, readLine, stepOf } from "@banyan/client/actions";
import { say } from "@banyan/core";
import { inEnglish, slashIn } from "@banyan/core/shown";
import { type AfterCommand, ASK, type ConversationContext } from "./command.ts";
import { follow } from "./follow.ts";

/** Milliseconds to wait for a starting MCP server before a prompt counts as unknown. */
const STARTING = 10_000;

/** Carries out a line that begins with a slash: a command, a prompt, or a message to the agent. */
export async function runCommand(line: string, context: ConversationContext): Promise<AfterCommand> {
  try {
    const read = await readCommand(line, context);
    if (read.type === "words") return { type: "turn", directive: say(line) };
    if (read.type === "prompt") return { type: "turn", directive: read };
    return await runAction(read.action, read.argument, context);
  } catch (error) {
    if (!(error instanceof ActionRefusal)) throw error;
    context.write(error.message);
    return ASK;
  }
}

/** Parses a line. Throws `ActionRefusal` for an unknown name. */
async function readCommand(
  line: string,
  { prompts, user }: Pick<ConversationContext, "prompts" | "user">,
): Promise<ReadLine> {
  const namesIn = async (wait: number) => (await prompts(wait)).map(({ name }) => name);
  const name = slashIn(line)?.name.toLowerCase() ?? "";
  const known = mayBePrompt(line) ? await namesIn(0) : [];
  // A name with a colon may belong to a server that is starting.
  const all = name.includes(":") && !known.includes(name) ? await namesIn(STARTING) : known;
  return readLine(line, { ...user, prompts: all, say: inEnglish });
}

/** Carries out a command of the program. Rejects with `ActionRefusal` for invalid arguments. */
function runAction(action: Action, argument: string, context: ConversationContext): Promise<AfterCommand> {
  return follow(stepOf(action, argument, { ...context, ...context.user, say: inEnglish }), context);
}
