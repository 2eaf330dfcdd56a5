import type { ActionStep, MessageStep } from "@banyan/client/actions";
import { wrap } from "../show/fit-text.ts";
import { oneLine } from "../show/plain-text.ts";
import { type AfterCommand, ASK, type ConversationContext } from "./command.ts";
import { turnOf } from "./turn-step.ts";
import { showView } from "./views.ts";

/** Carries out a step of an action (H13): prints, sends a command, shows a view, or returns a turn. Rejects with errors for `problemOf`. */
export async function follow(step: ActionStep | undefined, context: ConversationContext): Promise<AfterCommand> {
  switch (step?.type) {
    case undefined:
      return ASK;
    case "message":
      tell(step, context);
      return ASK;
    case "command":
      // The result has the type of the step's own command.
      return follow(step.result((await context.ask(step)) as never), context);
    case "turn":
      return turnOf(step);
    case "view":
      return showView(step, context);
  }
}

function tell({ lines, problems = [], advice, goOn }: MessageStep, context: ConversationContext): void {
  const { write, style, columns } = context;
  if (goOn !== undefined) context.goOn(goOn);
  for (const problem of problems) write(`${style.warning("Note:")} ${oneLine(problem)}`);
  write(...lines);
  if (advice !== undefined) write(style.dim(wrap(advice, columns)));
}
