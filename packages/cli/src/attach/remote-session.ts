import type { Answer, ConversationState, FeedListener, InputChange } from "@banyan/core";
import type { RemoteConversation, RemoteServer } from "@banyan/server/client";
import type { AskingSession } from "../chat/approvals.ts";
import type { ConversationWriter } from "../commands/command.ts";

/** A conversation on a server, for whatever asks no more of it than it asks of a session of this process. */
export class RemoteSession implements AskingSession, ConversationWriter {
  readonly watched: RemoteConversation;
  readonly #server: RemoteServer;

  constructor(server: RemoteServer, watched: RemoteConversation) {
    this.#server = server;
    this.watched = watched;
  }

  get id(): string {
    return this.watched.id;
  }

  get state(): ConversationState {
    return this.watched.state;
  }

  async answer(question: string, answer: Answer): Promise<void> {
    await this.#server.ask("question.answer", { ...this.#here, question, answer });
  }

  async editInput(input: string, change: InputChange): Promise<void> {
    await this.#server.ask("input.edit", { ...this.#here, input, ...change });
  }

  async withdrawInput(input: string): Promise<void> {
    await this.#server.ask("input.withdraw", { ...this.#here, input });
  }

  async label(message: string, label: string | null): Promise<void> {
    await this.#server.ask("message.label", { ...this.#here, message, label });
  }

  async star(message: string, starred: boolean): Promise<void> {
    await this.#server.ask("message.star", { ...this.#here, message, starred });
  }

  async remove(message: string): Promise<void> {
    await this.#server.ask("message.remove", { ...this.#here, message });
  }

  async restore(message: string): Promise<void> {
    await this.#server.ask("message.restore", { ...this.#here, message });
  }

  listen(listener: FeedListener): () => void {
    return this.watched.follow({
      item: (item) => listener.items([item]),
      renewed: () => listener.items([]),
      ended: () => listener.ended(),
    });
  }

  get #here(): { readonly conversation: string } {
    return { conversation: this.watched.id };
  }
}
