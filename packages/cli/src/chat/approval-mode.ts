import type { ApprovalMode } from "@banyan/host";

const ORDER: readonly ApprovalMode[] = ["ask", "edits", "all"];

/** The mode that comes after another; after the last one the first (T12). */
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

const WORDS: Readonly<Record<ApprovalMode, string>> = {
  ask: "asks first",
  edits: "edits freely",
  all: "never asks",
};

const SENTENCES: Readonly<Record<ApprovalMode, string>> = {
  ask: "Approval: only looking runs without asking.",
  edits: "Approval: files of this directory are changed without asking.",
  all: "Approval: every call runs without asking. Use this in a sandbox only.",
};
