import type { ApprovalMode } from "@banyan/host";
import type { Terminal } from "../../terminal/terminal.ts";

const ORDER: readonly ApprovalMode[] = ["ask", "edits", "all"];

/** The mode that comes after another; after the last one, and after `plan`, the first (T12). */
export function nextApproval(mode: ApprovalMode): ApprovalMode {
  return ORDER[(ORDER.indexOf(mode) + 1) % ORDER.length] ?? "ask";
}

/** What runs without asking, in a few words. */
export function approvalWords(mode: ApprovalMode): string {
  return WORDS[mode];
}

/** The same as a sentence. */
export function approvalSentence(mode: ApprovalMode): string {
  return SENTENCES[mode];
}

/**
 * Asks a person whether nothing is to be asked in a conversation (S27). Only the word counts: no key, no Enter, no other
 * word is a yes. `signal`: takes the question back, which is no yes either.
 */
export async function agreesToAll(
  terminal: Terminal,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  say(
    "Everything in this conversation will run without asking: commands, edits, and anything that a text talks the agent into. Deny rules still hold. This ends when you leave the program.",
  );
  const line = await terminal.ask({
    prompt: "Type yes to run everything without asking: ",
    // It may be wanted while something else is asked; who does not want it after all goes back there.
    isOver: true,
    signal,
    onBack() {},
  });
  return line?.trim().toLowerCase() === "yes";
}

/** What a person is told who did not say yes. */
export const STILL_ASKED = "Approval is unchanged.";

const WORDS: Readonly<Record<ApprovalMode, string>> = {
  plan: "only plans",
  ask: "asks first",
  edits: "edits freely",
  all: "never asks",
};

const SENTENCES: Readonly<Record<ApprovalMode, string>> = {
  plan: "Plan mode: read-only until you approve a plan.",
  ask: "Approval: reads freely, asks before edits and commands.",
  edits: "Approval: edits files here without asking, asks before commands.",
  all: "Approval: runs everything in this conversation without asking.",
};
