import type { ConnectionState } from "@banyan/client";
import { plainLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { TerminalUser } from "./terminal-user.ts";

/** Tracks the connection, and tells the user about its loss. */
export class DeskReach {
  readonly #terminal: Terminal;
  readonly #person: TerminalUser;
  /** `warned`: the connection is lost, and the user knows what another Ctrl-C does. */
  #is: "up" | "lost" | "warned" = "up";

  constructor(terminal: Terminal, person: TerminalUser) {
    this.#terminal = terminal;
    this.#person = person;
  }

  get isUp(): boolean {
    return this.#is === "up";
  }

  changed({ phase }: ConnectionState): void {
    if (phase === "lost" && this.isUp) this.#become("lost", "Connection lost. Reconnecting.");
    if (phase === "open" && !this.isUp) this.#become("up", "Connected again.");
  }

  /** Handles Ctrl-C without a connection. Returns true for the first Ctrl-C, which explains the second. */
  warn(): boolean {
    if (this.#is === "warned") return false;
    this.#is = "warned";
    const kept = "Your message is not sent yet. Press Ctrl-C again to leave. Banyan keeps the message.";
    this.#person.view.note(`Not connected. ${kept}`);
    return true;
  }

  /** Without a connection, tells the user that their message waits. */
  sends(line: string): void {
    if (!this.isUp && !/^[/!]/.test(line))
      this.#person.view.note(`Not sent yet: “${plainLine(line)}”. The message is sent once you are connected.`);
  }

  #become(is: "up" | "lost", sentence: string): void {
    this.#is = is;
    this.#terminal.live?.view.connected(this.isUp, this.#person.state);
    this.#person.view.note(sentence);
  }
}
