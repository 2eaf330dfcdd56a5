import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "@banyan/core/conversation";
import type { Command, CommandName, Result } from "@banyan/protocol";
import { type Served, served, TOKEN } from "@banyan/server/testing";
import { builtPage } from "./built-page.fixture.ts";
import { type Link, openLink } from "./link.fixture.ts";
import { storyAgent } from "./story.fixture.ts";
import { pictureHere } from "./web-of-pictures.fixture.ts";

/** The token of guests, who may only watch. */
export const WATCHING = "a-guest-of-a-stage-0123456789-0123456789";

/**
 * A server for views of the page in its states, with real conversations. Each conversation is played when it is first requested.
 */
export class Stage implements AsyncDisposable {
  readonly served: Served;
  /** The proxy between browser and server. */
  readonly link: Link;
  readonly #directory: string;
  readonly #told = new Map<unknown, Promise<string>>();

  private constructor(served: Served, link: Link, directory: string) {
    this.served = served;
    this.link = link;
    this.#directory = directory;
  }

  static async open(): Promise<Stage> {
    const directory = mkdtempSync(join(tmpdir(), "banyan-stage-"));
    const [page, link] = [await builtPage(), await openLink()];
    const stage = await served(storyAgent(), {
      directory,
      page,
      workspace: "/home/ada/tides",
      guestToken: WATCHING,
      allowedHosts: [link.host],
      // The server's own files stand in for web images.
      picture: pictureHere,
    });
    link.to(stage.server.address);
    return new Stage(stage, link, directory);
  }

  /** A full URL of the page. */
  at(path: string): string {
    return `http://${this.link.host}${path}`;
  }

  /** The conversation that `tell` plays, played once. */
  conversation(tell: (stage: Stage) => Promise<string>): Promise<string> {
    const told = this.#told.get(tell) ?? tell(this);
    this.#told.set(tell, told);
    return told;
  }

  async ask<Name extends CommandName>(type: Name, input: Omit<Command<Name>, "type" | "id">): Promise<Result<Name>> {
    const response = await fetch(`${this.served.server.address}/api/v1/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ type, id: createId(), ...input }),
    });
    if (!response.ok) throw new Error(`${type}: ${await response.text()}`);
    return (await response.json()) as Result<Name>;
  }

  /** Starts a conversation with a message, without waiting for the answer. */
  async begun(words: string, title?: string): Promise<string> {
    const { conversation } = await this.ask("conversation.create", {});
    await this.say(conversation, words);
    if (title !== undefined) await this.ask("conversation.rename", { conversation, title });
    return conversation;
  }

  /** Sends a message, below message `at` if present. */
  async say(conversation: string, words: string, at?: string): Promise<string> {
    const where = at === undefined ? {} : { at };
    return (await this.ask("turn.say", { conversation, parts: [{ type: "text", text: words }], ...where })).message;
  }

  /** Waits until a conversation has no run. */
  async idle(conversation: string): Promise<void> {
    await until(async () => {
      const { conversations } = await this.ask("conversation.list", {});
      return conversations.find(({ id, running }) => id === conversation && running === 0);
    });
  }

  /** Waits until a conversation asks a question, about a call of `tool` if present. */
  async waiting(conversation: string, tool?: string): Promise<string> {
    return until(async () => {
      const { waiting } = await this.ask("question.list", {});
      const found = waiting.find(
        (asked) => asked.conversation === conversation && (tool === undefined || asked.call?.tool === tool),
      );
      return found?.question.id;
    });
  }

  async allow(conversation: string, tool: string): Promise<void> {
    const question = await this.waiting(conversation, tool);
    await this.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
  }

  /** The end of the branch that was last written. */
  async leafOf(conversation: string): Promise<string> {
    const { text } = await this.ask("conversation.export", { conversation, format: "json" });
    const { events } = JSON.parse(text) as { events: { type: string; message?: string }[] };
    return events.findLast(({ type }) => type === "message.completed")?.message ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.served[Symbol.asyncDispose]();
    await this.link[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Polls until a value is there. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error(`It never came: ${look}`);
}
