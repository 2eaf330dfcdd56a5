import { formatDuration, visibleLine } from "@banyan/core/shown";
import { oneLine } from "../show/plain-text.ts";
import { runningProcesses } from "../show/sub-agents.ts";
import { cut } from "../terminal/full/screen/cells.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

/** What runs in the background, a line each. */
function list({ state, columns, style, write }: ConversationContext): void {
  const running = runningProcesses(state);
  if (running.length === 0) write("Nothing runs in the background.");
  for (const { id, title, startedAt } of running) {
    const head = `${visibleLine(id).padEnd(4)} ${formatDuration(Math.max(0, Date.now() - startedAt)).padEnd(10)} `;
    write(`${style.dim(head)}${cut(oneLine(title), Math.max(20, columns - head.length))}`);
  }
}

/** For who may only watch. */
export const processesShown: Command<ConversationContext> = {
  name: "processes",
  also: ["bashes", "ps", "tasks"],
  help: "list the commands that go on in the background",
  anytime: true,
  run(context) {
    list(context);
    return ASK;
  },
};

export const processes: Command<ConversationContext> = {
  ...processesShown,
  takes: "[stop p1]",
  help: "list the commands that go on in the background, or stop one",
  async run(context, argument) {
    const { session, state, write } = context;
    const [, action = "", name] = /^(\S*)(?:\s+(\S+))?\s*$/.exec(argument) ?? [];
    if (argument === "") list(context);
    else if (action !== "stop")
      write(`/processes cannot ${oneLine(argument)}: it knows stop, as in /processes stop p1.`);
    else if (name === undefined) write("Name one of them, as in /processes stop p1. /processes lists them.");
    else if (!runningProcesses(state).some(({ id }) => id === name))
      write(`No ${oneLine(name)} runs in the background. /processes lists what does.`);
    else {
      // That it has ended is told to everybody who is here.
      await session?.perform("process.stop", { process: name });
    }
    return ASK;
  },
};
