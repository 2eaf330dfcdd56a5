import { type ConversationState, createId, type UserPart } from "@banyan/core";
import type { Client } from "@banyan/core/testing/moments";
import type { Command, CommandName, Result } from "@banyan/protocol";

/** A client that sends commands to a server. */
interface Asker {
  ask<Name extends CommandName>(type: Name, input: Omit<Command<Name>, "type" | "id">): Promise<Result<Name>>;
}

/** Expected refusals: the target is gone, nothing is left to do, or the work was interrupted. */
const REFUSALS = ["not-found", "invalid"];

const said = (text: string): readonly UserPart[] => [{ type: "text", text }];

/** A client that watches and uses one conversation of a server. */
export function clientOf(server: Asker, conversation: string, watched: { readonly state: ConversationState }): Client {
  const here = { conversation };
  const ask = <Name extends CommandName>(type: Name, input: object) =>
    server.ask(type, { ...here, ...input } as unknown as Omit<Command<Name>, "type" | "id">);
  return {
    get state() {
      return watched.state;
    },
    isRefusal: (error) => error instanceof Error && "code" in error && REFUSALS.includes(String(error.code)),
    newId: createId,
    async begin(directive, { at, id }) {
      if (directive.type === "stop") return false;
      const parts = "parts" in directive && directive.parts ? { parts: directive.parts } : {};
      await ask(`turn.${directive.type}`, { at, ...parts, id });
      return "parts" in parts;
    },
    send: (words) => ask("turn.say", { parts: said(words) }),
    input: (words, options) => ask("turn.say", { parts: said(words), ...options }),
    rewrite: (input, words) => ask("input.edit", { input, parts: said(words) }),
    withdraw: (input) => ask("input.withdraw", { input }),
    interrupt: (run) => ask("run.interrupt", { run }),
    compact: (at) => ask("branch.compact", { at }),
    remove: (message) => ask("message.remove", { message }),
    restore: (message) => ask("message.restore", { message }),
    answer: (question, answer) => ask("question.answer", { question, answer }),
  };
}
