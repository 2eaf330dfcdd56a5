import { realpathSync } from "node:fs";
import { RemoteError, RemoteServer } from "@banyan/server/client";
import manifest from "../../package.json" with { type: "json" };
import { atTerminal, type Sitting } from "../chat/at-terminal.ts";
import { conversationCommands } from "../commands/index.ts";
import { type ExitCode, exitCodes } from "../exit.ts";
import { visible } from "../show/plain-text.ts";
import type { AttachArguments } from "./arguments.ts";
import { AttachedTalk } from "./attached-talk.ts";
import { whichServer } from "./which-server.ts";

/** `banyan attach`: a person at this terminal, and a conversation on a server. */
export async function attach(args: AttachArguments): Promise<ExitCode> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    process.stderr.write(
      "banyan: attach is for a person at a terminal; docs/protocol.md tells how programs talk to a server.\n",
    );
    return exitCodes.usage;
  }
  return atTerminal(args, (sitting) => sit(args, sitting));
}

async function sit(args: AttachArguments, { terminal, unsent, starting, met }: Sitting): Promise<void> {
  starting();
  let talk: AttachedTalk | undefined;
  const door = whichServer(args.address, realpathSync("."));
  const server = await RemoteServer.connect(
    { ...door, client: `banyan ${manifest.version}` },
    {
      connection: (state) =>
        talk?.note(state === "lost" ? "The connection was lost; trying again." : "Connected again."),
      settings: () => talk?.settingsChanged(),
      gone: (error) => {
        talk?.note(error.message);
        talk?.leave();
        terminal.close();
      },
    },
  );
  try {
    talk = new AttachedTalk(server, terminal, unsent);
    met(talk);
    const { workspace, settings, rights } = server.welcome;
    const { style, live } = terminal;
    live?.configure({ workspace, commands: conversationCommands });
    terminal.write(`${style.bold("banyan")} at ${door.address} in ${visible(workspace)}\n`);
    terminal.write(
      `${style.dim(`Using ${settings.model}. What runs goes on when you leave. /help lists the commands.`)}\n`,
    );
    if (!rights.includes("act")) terminal.write(`${style.warning("You may only watch here.")}\n`);
    const conversation = await named(args, server);
    if (conversation === undefined) talk.beginAt(door.address);
    else await talk.enter(conversation);
    await talk.run();
    terminal.freshLine();
    if (talk.session) terminal.write(style.dim(`attach: banyan attach --resume ${talk.session.id}\n`));
  } finally {
    server.close();
  }
}

/** The conversation that the command line names; nothing for a new one. */
async function named({ resume, new: isNew }: AttachArguments, server: RemoteServer): Promise<string | undefined> {
  if (isNew) return undefined;
  if (resume !== undefined) return (await server.ask("conversation.open", { named: resume })).conversation;
  try {
    return (await server.ask("conversation.open", { cwd: server.welcome.workspace })).conversation;
  } catch (error) {
    // There is none yet; one begins with the first message.
    if (error instanceof RemoteError && error.code === "not-found") return undefined;
    throw error;
  }
}
