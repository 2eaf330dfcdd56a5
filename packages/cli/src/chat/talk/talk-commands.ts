import type { Client } from "@banyan/client";
import type { CommandContext, ConversationContext, Next } from "../../commands/command.ts";
import { commands, conversationCommands, runCommand, watchingCommands } from "../../commands/index.ts";
import { promptsAt } from "../../commands/prompt-commands.ts";
import { sharesAt } from "../../commands/share.ts";
import type { ApprovalChoice } from "../user/approval-choice.ts";
import type { Person } from "../user/person.ts";
import { branchChanges } from "./branch-changes.ts";
import { modelsHere, modelsThere, sentHere, sentThere } from "./models-here.ts";
import type { OwnDesk } from "./own-desk.ts";
import type { TalkSession } from "./talk-session.ts";
import type { Turns } from "./turns.ts";

/** What commands see of a talk, and can do with it. */
export interface TalkCommandsOptions {
  readonly client: Client;
  readonly own: OwnDesk | undefined;
  /** Of the server; absent at a desk of this program. */
  readonly address: string | undefined;
  readonly person: Person;
  readonly turns: Turns;
  readonly approval: ApprovalChoice;
  /** The conversation; none before the first message. */
  session(): TalkSession | undefined;
  /** The run that the person sees, while it is live. */
  working(): string | undefined;
  /** There is no connection. */
  isAway(): boolean;
  /** The conversation, begun if there is none yet. */
  open(): Promise<TalkSession>;
  /** Goes into another conversation. */
  enter(conversation: string): Promise<unknown>;
  /** Leaves the conversation for a new one. Resolves with its id, if there was one. */
  begin(): Promise<string | undefined>;
}

/** Carries out the commands of a person that begin with a slash: all at a desk of this program, fewer at a server. */
export class TalkCommands {
  readonly #options: TalkCommandsOptions;
  readonly #prompts: ConversationContext["prompts"];

  constructor(options: TalkCommandsOptions) {
    this.#options = options;
    this.#prompts = promptsAt(options.client, options.isAway);
  }

  /** Rejects with what `problemOf` can tell. */
  run(line: string): Promise<Next> {
    const { own, client } = this.#options;
    if (own) return runCommand(commands, line, this.#here(own));
    const mayAct = client.welcome.rights.includes("act");
    return runCommand(mayAct ? conversationCommands : watchingCommands, line, this.#anywhere());
  }

  #anywhere(): ConversationContext {
    const { client, address = "", person, turns, approval, session, working, isAway, open } = this.#options;
    const { context, terminal, standpoint } = person;
    const { model, otherModel } = turns;
    const { workspace } = client.welcome;
    return {
      ...context,
      session: session(),
      run: working(),
      isAway: isAway(),
      models: modelsThere(client, model, open),
      prompts: this.#prompts,
      exported: async (format) => (await open()).exported(format, context.leaf),
      sentHere: async () => sentThere(client, { conversation: (await open()).id, leaf: context.leaf, model }),
      shares: sharesAt(client, address, open),
      mode: turns.mode,
      useMode: (mode) => turns.useMode(mode),
      approval: approval.mode,
      useApproval: async (mode) => {
        await approval.use(mode);
      },
      standAt: (message) => standpoint.standAt(message),
      beside: open,
      ...branchChanges({ terminal, standpoint, workspace, model: otherModel, write: context.write, open }),
    };
  }

  #here(own: OwnDesk): CommandContext {
    const { person, session, open, enter, begin } = this.#options;
    const context = this.#anywhere();
    const { host } = own;
    return {
      ...context,
      host,
      session: session(),
      open,
      models: modelsHere(own, session()),
      sentHere: () => sentHere(host, context.state, context.leaf),
      begin,
      async enter(named) {
        const id = await own.openAnother(named, person);
        if (id !== undefined) await enter(id);
      },
    };
  }
}
