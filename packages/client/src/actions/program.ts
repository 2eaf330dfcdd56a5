import { pathTo, type StayingProcess } from "@banyan/core/conversation";
import { type Say, visibleLine } from "@banyan/core/shown";
import { approvalModes } from "@banyan/protocol/values";
import { subAgentsOf } from "../words/sub-agents.ts";
import {
  type Action,
  type ActionContext,
  ActionRefusal,
  type ActionStep,
  type ChangesSince,
  conversationCommand,
  type ExportFormat,
  message,
  textView,
  type ViewStep,
  view,
} from "./action.ts";
import { quoteForUser } from "./named-targets.ts";
import { readRewind } from "./rewind.ts";
import { readSandbox } from "./sandbox.ts";

const isRunning = ({ outcome }: StayingProcess) => outcome === undefined;

export const programActions: readonly Action[] = [
  {
    name: "help",
    help: "List the commands",
    needs: { clients: ["terminal", "attach", "page"] },
    read: () => view("help"),
  },
  {
    name: "exit",
    aliases: ["quit"],
    help: "Leave, and keep the conversation",
    onPage: "To leave, close the tab. The conversation is kept, and running work continues.",
    needs: { clients: ["terminal", "attach"], idle: "prompt" },
    read: () => view("leave"),
  },
  {
    name: "stop",
    help: "Stop the agent on this branch",
    // A terminal has a key for this, and an editor a button.
    needs: { clients: ["page"], right: "run.interrupt" },
    read: () => view("stop"),
  },
  {
    name: "clear",
    aliases: ["new"],
    help: "Begin a new conversation, and keep the current conversation",
    needs: { clients: ["terminal", "page"], right: "conversation.create", idle: "prompt" },
    read: () => view("new"),
  },
  {
    name: "status",
    help: "Show the model, the conversation and its file, context and cost",
    onPage:
      "The page shows the model below the message box, tokens and cost in the header, and everything else in the settings.",
    needs: { clients: ["terminal", "attach", "editor"] },
    read: () => view("status"),
  },
  {
    name: "config",
    aliases: ["settings"],
    arguments: "[key]",
    help: "Show each setting and the file that sets it",
    needs: { clients: ["terminal", "attach", "page"] },
    read: (key) => textView("config", key),
  },
  {
    name: "mode",
    arguments: "[chat | task]",
    help: "Chat, or let the agent work on a task until the task is finished",
    needs: { clients: ["terminal", "attach", "page"], right: "turn.say", idle: "prompt" },
    read: (mode, { say }) => ({ type: "view", view: "mode", mode: readMode(mode, say) }),
  },
  {
    name: "model",
    aliases: ["models"],
    arguments: "[name[:effort]]",
    help: "Choose the model",
    needs: { right: "model.use" },
    read(name, { say }) {
      if (/\s/.test(name)) throw new ActionRefusal(say("The name of a model has no spaces. /model lists the models."));
      return { type: "view", view: "model", name };
    },
  },
  {
    name: "approval",
    aliases: ["permissions", "approvals"],
    arguments: "[plan | ask | edits | sandbox | all | drop n]",
    help: "Choose which calls run without asking, or revoke a rule of this conversation",
    needs: { clients: ["terminal", "attach", "page"], right: "approval.use" },
    read: readApproval,
  },
  {
    name: "sandbox",
    arguments: "[drop address]",
    help: "Show the sandbox and the addresses that commands may reach, or revoke one",
    needs: { right: "sandbox.read" },
    read: readSandbox,
  },
  {
    name: "plan",
    aliases: ["todos"],
    help: "Show the agent's plan on this branch",
    read: () => view("plan"),
  },
  {
    name: "processes",
    aliases: ["bashes", "ps", "tasks"],
    arguments: "[stop p1]",
    help: "List the commands that run in the background",
    needs: { rightForArguments: "process.stop" },
    read: readProcesses,
  },
  {
    name: "transcript",
    help: "Show the whole branch from its beginning",
    read: (_, { leaf, say }) => (leaf === null ? message(say("There are no messages yet.")) : view("transcript")),
  },
  {
    name: "copy",
    arguments: "[n | language]",
    help: "Copy the last answer, or one of its code blocks",
    onPage: "Point at a message, or move to it with Tab, and choose “Copy the text”. A code block has its own button.",
    needs: { clients: ["terminal", "attach"] },
    read: (block) => textView("copy", block),
  },
  {
    name: "export",
    arguments: "[file.md | file.json | file.html]",
    help: "Export this conversation to a new file: Markdown, JSON or HTML",
    read: readExport,
  },
  {
    name: "share",
    arguments: "[here] [time] | list | revoke id",
    help: "Make a link that shows this conversation, or this branch as it is now",
    onPage: "Choose “Share” in the menu of the conversation, at the top.",
    needs: { clients: ["terminal", "attach", "editor"], right: "share.create" },
    read: readShare,
  },
  {
    name: "changes",
    aliases: ["diff"],
    arguments: "[turn | conversation | git] [path]",
    help: "List the changed files and who changed them, or show one file's changes",
    read(argument) {
      const [, since = "conversation", text = ""] = /^(?:(turn|conversation|git)(?:\s+|$))?(.*)$/s.exec(argument) ?? [];
      return { type: "view", view: "changes", since: since as ChangesSince, text };
    },
  },
  {
    name: "undo",
    arguments: "[last | call id | to #n [now | all] | rewind]",
    help: "Undo file changes of the last turn, one change, or all since a message",
    needs: { right: "file.undo", idle: "prompt" },
    read: (what, context) => readRewind(what, context) ?? textView("undo", what === "last" ? "" : what),
  },
  {
    name: "usage",
    aliases: ["cost", "stats", "tokens"],
    help: "Show tokens and cost, by branch and for the whole tree",
    read: () => view("usage"),
  },
  {
    name: "context",
    help: "Show the parts of the model's prompt on this branch, with tokens",
    needs: { right: "context.read" },
    read: () => view("context"),
  },
  {
    name: "memory",
    arguments: { terminal: "[agree | on | off | drop n | use n]", elsewhere: "[drop n | use n]" },
    help: "List the memory entries that were recalled in this conversation",
    needs: { rightForArguments: "memory.dismiss" },
    read: readMemoryAction,
  },
  {
    name: "agents",
    arguments: "[stop n | tell n text]",
    help: "List the sub-agents of this conversation",
    needs: { rightForArguments: "run.interrupt" },
    read: readAgentsAction,
  },
  {
    name: "mcp",
    help: "Show the state of the MCP servers",
    needs: { clients: ["terminal", "page"] },
    read: () => view("mcp"),
  },
  {
    name: "hooks",
    help: "List the hooks and their files",
    needs: { clients: ["terminal", "page"] },
    read: () => view("hooks"),
  },
  {
    name: "keys",
    help: "Show what each key does",
    needs: { clients: ["terminal", "attach", "page"] },
    read: () => view("keys"),
  },
  {
    name: "title",
    aliases: ["rename"],
    arguments: "[text]",
    help: "Give this conversation a title",
    needs: { right: "conversation.rename" },
    read(text, { state, say }) {
      const title = visibleLine(text).trim();
      if (state.messages.size === 0) throw new ActionRefusal(say("There are no messages yet."));
      if (title === "") return view("title");
      return conversationCommand("conversation.rename", { title }, () =>
        // The server may have removed a secret from the title.
        message(say("The title is now “{title}”.", { title: visibleLine(state.title ?? title) })),
      );
    },
  },
];

/** Reads a mode, or returns nothing for an empty text. Throws `ActionRefusal` for any other word. */
export function readMode(mode: string, say: Say): ActionContext["mode"] | undefined {
  if (mode === "" || mode === "chat" || mode === "task") return mode === "" ? undefined : mode;
  throw new ActionRefusal(say("There are two modes: /mode chat and /mode task."));
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  md: "markdown",
  markdown: "markdown",
  json: "json",
  html: "html",
  htm: "html",
};

function readExport(file: string, { state, say }: ActionContext): ViewStep {
  if (state.messages.size === 0) throw new ActionRefusal(say("There are no messages yet."));
  const ending = file === "" ? "md" : (/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? "");
  const format = Object.hasOwn(FORMATS, ending) ? FORMATS[ending] : undefined;
  if (!format)
    throw new ActionRefusal(
      say("The ending of the file name decides the format: .md, .html, or .json (which can be imported)."),
    );
  return { type: "view", view: "export", format, file };
}

const UNITS = { m: 60, h: 60 * 60, d: 24 * 60 * 60 } as const;

function readShare(argument: string, { state, say }: ActionContext): ViewStep {
  const [word = "", ...rest] = argument.split(/\s+/);
  const [id] = rest;
  if (argument === "list") return { type: "view", view: "share", share: { type: "list" } };
  if (word === "revoke" && id !== undefined && rest.length === 1)
    return { type: "view", view: "share", share: { type: "revoke", id } };
  const isBranch = word === "here";
  const time = isBranch ? rest.join(" ") : argument;
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(time) ?? [];
  if (time !== "" && count === undefined)
    throw new ActionRefusal(
      say(
        "Write /share or /share here, and a time such as 30m, 12h or 2d if you like. /share list and /share revoke ID manage the links.",
      ),
    );
  if (state.messages.size === 0) throw new ActionRefusal(say("There are no messages yet."));
  const seconds = count === undefined ? undefined : Number(count) * UNITS[unit as keyof typeof UNITS];
  return { type: "view", view: "share", share: { type: "make", isBranch, seconds } };
}

function readApproval(argument: string, { state, say }: ActionContext): ActionStep {
  const [, number] = /^drop(?:\s+(.*))?$/.exec(argument) ?? [];
  const mode = approvalModes.find((each) => each === argument);
  if (mode !== undefined) return { type: "view", view: "approval", mode };
  if (argument === "") return { type: "view", view: "approval", mode: undefined };
  if (!/^drop\b/.test(argument))
    throw new ActionRefusal(
      say(
        "Choose a mode. ask: calls that only read run without asking. plan: the same, until you approve a plan. edits: changes of workspace files run, too. sandbox: commands in the sandbox run, too. all: every call runs.",
      ),
    );
  const pattern = /^\d+$/.test(number ?? "") ? state.allowed[Number(number) - 1] : undefined;
  if (state.allowed.length === 0) throw new ActionRefusal(say("This conversation has no rules of its own."));
  if (pattern === undefined)
    throw new ActionRefusal(say("Give the number of a rule, as in /approval drop 1. /approval lists the rules."));
  return conversationCommand("rule.revoke", { pattern }, () =>
    message(say("The agent asks you again before calls that match {pattern}.", { pattern: visibleLine(pattern) })),
  );
}

function readProcesses(argument: string, { state, say }: ActionContext): ActionStep {
  const running = [...state.processes.values()].filter(isRunning);
  if (argument === "")
    return running.length === 0 ? message(say("Nothing runs in the background.")) : view("processes");
  const [action = "", process, ...rest] = argument.split(/\s+/);
  if (action !== "stop")
    throw new ActionRefusal(
      say("/processes does not know {action}. It knows stop, as in /processes stop p1.", {
        action: quoteForUser(action),
      }),
    );
  if (process === undefined || rest.length > 0)
    throw new ActionRefusal(
      say("Give the name of one command, as in /processes stop p1. /processes lists the commands."),
    );
  if (!running.some(({ id }) => id === process))
    throw new ActionRefusal(
      say("No command {name} runs in the background. /processes lists the commands.", { name: quoteForUser(process) }),
    );
  // All clients of the conversation are informed about the end of the process.
  return conversationCommand("process.stop", { process }, () => undefined);
}

function readMemoryAction(argument: string, { client, state, leaf, say }: ActionContext): ActionStep {
  if (argument === "") return textView("memory", "");
  if (client === "terminal" && /^(agree|on|off)$/.test(argument)) return textView("memory", argument);
  const [, what, number] = /^(drop|use) +(\d{1,6})$/.exec(argument) ?? [];
  if (what === undefined)
    throw new ActionRefusal(
      client === "terminal"
        ? say(
            "/memory drop 1 keeps entry 1 from the model, /memory use 1 gives it back; /memory on and /memory off switch memory.",
          )
        : say("/memory drop 1 keeps entry 1 from the model, /memory use 1 gives it back."),
    );
  const recalled = pathTo(state, leaf).flatMap((each) =>
    each.role === "user" ? (each.recalled ?? []).map((_, item) => ({ message: each.id, item })) : [],
  );
  const entry = recalled[Number(number) - 1];
  if (!entry)
    throw new ActionRefusal(
      say("There is no memory entry {number} on this branch. /memory lists the entries.", { number: number ?? "" }),
    );
  const dismissed = what === "drop";
  return conversationCommand("memory.dismiss", { ...entry, dismissed }, () =>
    message(
      dismissed
        ? say(
            "The model no longer gets entry {number} from its next answer on. The entry is not recalled again on this branch.",
            { number: number ?? "" },
          )
        : say("From its next answer on, the model gets entry {number} again.", { number: number ?? "" }),
    ),
  );
}

function readAgentsAction(argument: string, { state, mode, say }: ActionContext): ActionStep {
  if (argument === "") return textView("agents", "");
  const [, action = "", number = "", text = ""] = /^(\S*)\s*(\S*)\s*(.*)$/s.exec(argument) ?? [];
  if (action !== "stop" && action !== "tell")
    throw new ActionRefusal(
      say("/agents does not know {action}. It knows stop and tell.", { action: quoteForUser(action) }),
    );
  const run = subAgentsOf(state).find((each) => String(each.number) === number)?.run?.id;
  if (run === undefined)
    throw new ActionRefusal(
      say("No sub-agent {number} is working. /agents lists the sub-agents.", { number: quoteForUser(number) }),
    );
  if (action === "stop") {
    if (text !== "") throw new ActionRefusal(say("/agents stop takes one number."));
    return conversationCommand("run.interrupt", { run }, () =>
      message(say("Stopping sub-agent {number}. Its result so far goes to the agent that launched it.", { number })),
    );
  }
  if (text === "")
    throw new ActionRefusal(
      say("To send sub-agent {number} a message, write the message after the number.", { number }),
    );
  const parts = [{ type: "text", text }] as const;
  return conversationCommand("turn.say", { parts, run, delivery: "steer", mode }, () =>
    message(say("Sub-agent {number} gets your message before its next step.", { number })),
  );
}
