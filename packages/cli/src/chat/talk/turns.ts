import type { Client } from "@banyan/client";
import type { ConversationState, Event } from "@banyan/core";
import { toolIn } from "@banyan/core/conversation";
import { type ExitCode, exitCodes } from "../../exit.ts";
import { verdictOf } from "../../print/verdict.ts";
import type { TurnEnd } from "../../show/turn-end.ts";
import type { OwnDesk } from "./own-desk.ts";

/** Whose turns, and what was asked for at the start. */
export interface TurnsOptions {
  readonly client: Client;
  readonly own: OwnDesk | undefined;
  readonly task: "once" | "first" | undefined;
  /** The conversation. */
  state(): ConversationState;
  /** The mode is another one. */
  changed(): void;
}

/** How the turns to come are taken, in which mode and with which model; and what became of those before. */
export class Turns {
  readonly #options: TurnsOptions;
  #mode: "chat" | "task";
  /** The mode is that of a task that was begun with, until it is finished or a person chooses one. */
  #isForTask: boolean;
  /** How the last one ended. */
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

  /** Whether all that the program was started for is done. */
  get isDone(): boolean {
    const { task } = this.#options;
    return task === "once" && this.#mode === "task" && this.#end !== undefined && this.#end.reason !== "interrupted";
  }

  /** How the program is to exit: with how the task came out, when that was all that it was started for (T35). */
  get exit(): ExitCode {
    if (this.#options.task !== "once") return exitCodes.done;
    return verdictOf(this.#end, this.#denied).exitCode;
  }

  /** A call was denied. */
  denied(event: Extract<Event, { type: "call.denied" }>, state: ConversationState): void {
    this.#denied.push({ tool: toolIn(state, event), reason: event.output });
  }

  /** A turn has ended. */
  ended(end: TurnEnd): void {
    this.#end = end;
    if (this.#isForTask && end.reason === "finished") this.useMode("chat");
  }

  /** The model that the next turn is taken with. */
  get model(): string {
    const { client, own, state } = this.#options;
    return own?.host.model.name ?? state().model ?? client.welcome.settings.model;
  }

  /** The same, where it is another one than the conversation names. */
  get otherModel(): string | undefined {
    const named = this.#options.state().model;
    return named === undefined || named === this.model ? undefined : this.model;
  }
}
