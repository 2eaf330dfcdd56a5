import { type ApprovalMode, approvalModes } from "@banyan/protocol/values";
import type { Terminal } from "../../terminal/contract/terminal.ts";

/**
 * Returns the offered approval mode that follows `mode` (T12). After the last mode, and after `plan`, returns `ask`.
 */
export function nextApproval(mode: ApprovalMode, offered: readonly ApprovalMode[]): ApprovalMode {
  if (mode === "plan") return "ask";
  return offered.find((each) => approvalModes.indexOf(each) > approvalModes.indexOf(mode)) ?? "ask";
}

/** Describes an approval mode in a few words. */
export function approvalWords(mode: ApprovalMode): string {
  return WORDS[mode];
}

/** Describes an approval mode in a sentence. */
export function approvalSentence(mode: ApprovalMode): string {
  return SENTENCES[mode];
}

/**
 * Asks the user whether all calls of a conversation may run without approval (S27). Only the typed word "yes" agrees.
 * `signal` cancels the question, and the answer is then no.
 */
export async function agreesToAll(
  terminal: Terminal,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  say(
    "Everything in this conversation will run without asking: commands, edits, and anything that a file or a web page talks the agent into. Deny rules still apply. This mode ends when you leave the program.",
  );
  const line = await terminal.ask({
    prompt: "Type yes to run everything without asking: ",
    // The question may appear above another one. Going back returns there.
    isOver: true,
    signal,
    onBack() {},
  });
  return line?.trim().toLowerCase() === "yes";
}

/** Notice for a user who has refused to let all calls run without approval. */
export const STILL_ASKED = "Approval is unchanged.";

const WORDS: Readonly<Record<ApprovalMode, string>> = {
  plan: "only plans",
  ask: "asks first",
  edits: "edits freely",
  sandbox: "runs in the sandbox",
  all: "never asks",
};

const SENTENCES: Readonly<Record<ApprovalMode, string>> = {
  plan: "Plan mode: read-only until you approve a plan.",
  ask: "Approval: the agent reads freely, and asks before edits and commands.",
  edits: "Approval: the agent edits files here without asking, and asks before commands.",
  sandbox:
    "Approval: the agent edits files here and runs commands in the sandbox without asking. Caches such as node_modules are rebuilt, not undone.",
  all: "Approval: the agent runs everything in this conversation without asking.",
};
