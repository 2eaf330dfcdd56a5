import {
  type Action,
  ActionRefusal,
  type ActionStep,
  type MessageStep,
  mayBePrompt,
  type ReadLine,
  readAction,
  readLine,
} from "@banyan/client/actions";
import { slashIn } from "@banyan/client/words";
import { say } from "@banyan/core";
import { inEnglish } from "@banyan/core/shown";
import { wrapSentence } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { undoneLines } from "./changes.ts";
import { type AfterCommand, ASK, type ConversationContext } from "./command.ts";
import { nextTurn } from "./turn-step.ts";
import { showView } from "./views.ts";

/** Milliseconds to wait for a starting MCP server before a prompt counts as unknown. */
const STARTING = 10_000;

/** Carries out a line that begins with a slash: a command, a prompt, or a message to the agent. */
export async function runCommandLine(line: string, context: ConversationContext): Promise<AfterCommand> {
  try {
    const read = await readCommandLine(line, context);
    if (read.type === "words") return { type: "turn", directive: say(line) };
    if (read.type === "prompt") return { type: "turn", directive: read };
    return await runAction(read.action, read.argument, context);
  } catch (error) {
    if (!(error instanceof ActionRefusal)) throw error;
    context.write(error.message);
    return ASK;
  }
}

/** Throws `ActionRefusal` for an unknown name. */
async function readCommandLine(
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

/** Rejects with `ActionRefusal` for invalid arguments. */
function runAction(action: Action, argument: string, context: ConversationContext): Promise<AfterCommand> {
  return performStep(
    readAction(action, argument, { ...context, ...context.turns, ...context.user, say: inEnglish }),
    context,
  );
}

/** Prints text, sends a protocol command, shows a view, or returns a turn (H13). Rejects for `reportedProblem`. */
async function performStep(step: ActionStep | undefined, context: ConversationContext): Promise<AfterCommand> {
  switch (step?.type) {
    case undefined:
      return ASK;
    case "message":
      writeMessage(step, context);
      return ASK;
    case "command":
      // The result has the type of the step's own command.
      return performStep(step.result((await context.ask(step)) as never), context);
    case "turn":
      return nextTurn(step);
    case "view":
      return showView(step, context);
  }
}

function writeMessage(step: MessageStep, context: ConversationContext): void {
  const { lines, undone = [], problems = [], advice, goOn } = step;
  const {
    write,
    screen: { style, columns },
  } = context;
  if (goOn !== undefined) context.goOn(goOn);
  for (const problem of problems) write(`${style.warning("Note:")} ${plainLine(problem)}`);
  write(...undoneLines(undone, style), ...lines);
  if (advice !== undefined) write(style.dim(wrapSentence(advice, columns)));
}
