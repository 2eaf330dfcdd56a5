import type { Client, CommandValues } from "@banyan/client";
import type { ActionUser, BranchTarget, CommandInput, CommandStep } from "@banyan/client/actions";
import type { AfterCommand, ConversationContext, OwnContext } from "../../commands/command.ts";
import { runCommandLine } from "../../commands/index.ts";
import { AT_OWN_DESK } from "../../commands/offered-commands.ts";
import { promptsAt } from "../../commands/prompt-commands.ts";
import { sharesAt } from "../../commands/share.ts";
import type { TalkSession } from "../session/talk-session.ts";
import type { ApprovalChoice } from "../user/approval-choice.ts";
import type { TerminalUser } from "../user/terminal-user.ts";
import { modelSelection, ownContextOverview, serverContextOverview, serverModelSelection } from "./models-here.ts";
import type { OwnDesk } from "./own-desk.ts";
import type { Turns } from "./turns.ts";
import { undoAfterQuestion } from "./undo-after-question.ts";

export interface TalkCommandsOptions {
  readonly client: Client;
  readonly own: OwnDesk | undefined;
  /** Address of the server; absent for an agent in this process. */
  readonly address: string | undefined;
  readonly person: TerminalUser;
  readonly turns: Turns;
  readonly approval: ApprovalChoice;
  session(): TalkSession | undefined;
  /** Id of the live run that the user sees. */
  working(): string | undefined;
  isAway(): boolean;
  open(): Promise<TalkSession>;
  enter(conversation: string): Promise<unknown>;
  /** Leaves the conversation for a new one. Resolves with the old id, if there was one. */
  begin(): Promise<string | undefined>;
}

type CommandRequest = Pick<CommandStep, "command" | "input" | "isHere">;

/** Runs the user's slash commands. A server offers fewer commands than an agent in this process. */
export class TalkCommands {
  readonly #options: TalkCommandsOptions;
  readonly #prompts: ConversationContext["prompts"];

  constructor(options: TalkCommandsOptions) {
    this.#options = options;
    this.#prompts = promptsAt(options.client, options.isAway);
  }

  get user(): ActionUser {
    const { own, client } = this.#options;
    const { rights, without } = client.welcome;
    return own ? AT_OWN_DESK : { client: "attach", rights, without };
  }

  /** Rejects with errors that `reportedProblem` describes. */
  run(line: string): Promise<AfterCommand> {
    const { own } = this.#options;
    return runCommandLine(line, own ? this.#here(own) : this.#anywhere());
  }

  #anywhere(): ConversationContext {
    const { client, address = "", person, turns, approval, working, isAway, open } = this.#options;
    const { context, terminal, standpoint } = person;
    const { model } = turns;
    const { workspace } = client.welcome;
    return {
      ...context,
      user: this.user,
      ask: (step) => this.#ask(step),
      goOn: (target) => this.#goOn(target),
      run: working(),
      isAway: isAway(),
      models: serverModelSelection(client, model, open),
      prompts: this.#prompts,
      exported: async (format) => (await open()).exported(format, context.leaf),
      sentHere: async () =>
        serverContextOverview(client, { conversation: (await open()).id, leaf: context.leaf, model }),
      shares: sharesAt(client, address, open),
      turns: {
        mode: turns.mode,
        useMode: (mode) => turns.useMode(mode),
        approval: approval.mode,
        offeredModes: approval.offered,
        useApproval: async (mode) => {
          await approval.use(mode);
        },
      },
      undo: (call) => undoAfterQuestion(call, { terminal, standpoint, workspace, open }),
    };
  }

  async #ask({ command, input, isHere }: CommandRequest): Promise<unknown> {
    const { client, person, turns, open } = this.#options;
    if (!isHere) return client.ask(command, input as CommandValues<typeof command>);
    const session = await open();
    switch (command) {
      case "branch.compact": {
        const { style } = person.terminal;
        person.context.write(style.dim("Compacting. Ctrl-C stops it."));
        return session.perform(command, {
          ...(input as CommandInput<typeof command>),
          ...(turns.otherModel !== undefined && { model: turns.otherModel }),
        });
      }
      case "conversation.rename": {
        // Redact here, because the server keeps titles unchanged.
        const { title } = input as CommandInput<typeof command>;
        return session.perform(command, { title: person.context.redact(title) });
      }
      default:
        return session.perform(command as "message.star", input as CommandInput<"message.star">);
    }
  }

  #goOn(target: BranchTarget): void {
    const { standpoint, context } = this.#options.person;
    if (target === "latest") context.goBack();
    else if ("below" in target) standpoint.standAt(target.below);
    else standpoint.wrote(target.end);
  }

  #here(own: OwnDesk): ConversationContext {
    const { person, session, open, enter, begin } = this.#options;
    const context = this.#anywhere();
    const { host } = own;
    const ownContext: OwnContext = {
      host,
      session: session(),
      open,
      begin,
      async enter(named) {
        const id = await own.openAnother(named, person);
        if (id !== undefined) await enter(id);
      },
    };
    return {
      ...context,
      own: ownContext,
      models: modelSelection(own, session()),
      sentHere: () => ownContextOverview(host, context.state, context.leaf),
    };
  }
}
