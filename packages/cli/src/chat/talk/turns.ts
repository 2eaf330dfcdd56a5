import type { Client } from "@banyan/client";
import type { ConversationState, Event } from "@banyan/core";
import { toolIn } from "@banyan/core/conversation";
import { verdictOf } from "../../output/verdict.ts";
import { type ExitCode, exitCodes } from "../../program/exit.ts";
import type { TurnEnd } from "../../show/turn-end.ts";
import type { OwnDesk } from "./own-desk.ts";

export interface TurnsOptions {
  readonly client: Client;
  readonly own: OwnDesk | undefined;
  readonly task: "once" | "first" | undefined;
  state(): ConversationState;
  changed(): void;
}

/** The mode and model of the next turns, and the results of past turns. */
export class Turns {
  readonly #options: TurnsOptions;
  #mode: "chat" | "task";
  /** The mode is `task` until the first task is finished or the user chooses a mode. */
  #isForTask: boolean;
  #end: TurnEnd | undefined;
  readonly #denied: { readonly tool: string; readonly reason: string }[] = [];

  constructor(options: TurnsOptions) {
    const { task } = options;
    this.#options = options;
    this.#mode = task === undefined ? "chat" : "task";
    this.#isForTask = task === "first";
  }

  get mode(): "chat" | "task" {
    return this.#mode;
  }

  useMode(mode: "chat" | "task"): void {
    this.#mode = mode;
    this.#isForTask = false;
    this.#options.changed();
  }

  get isDone(): boolean {
    const { task } = this.#options;
    return task === "once" && this.#mode === "task" && this.#end !== undefined && this.#end.reason !== "interrupted";
  }

  /** Exit code of the program: the task's result if `task` is `once` (T35). */
  get exit(): ExitCode {
    if (this.#options.task !== "once") return exitCodes.done;
    return verdictOf(this.#end, this.#denied).exitCode;
  }

  denied(event: Extract<Event, { type: "call.denied" }>, state: ConversationState): void {
    this.#denied.push({ tool: toolIn(state, event), reason: event.output });
  }

  ended(end: TurnEnd): void {
    this.#end = end;
    if (this.#isForTask && end.reason === "finished") this.useMode("chat");
  }

  get model(): string {
    const { client, own, state } = this.#options;
    return own?.host.model.name ?? state().model ?? client.welcome.settings.model;
  }

  /** The next turn's model, if it differs from the conversation's named model. */
  get otherModel(): string | undefined {
    const named = this.#options.state().model;
    return named === undefined || named === this.model ? undefined : this.model;
  }
}
