import { createHash } from "node:crypto";
import { type ConversationState, type Cost, textOf, type Usage } from "@banyan/core";
import { Document, isCollection, parse } from "yaml";
import { z } from "zod";

/** One thing that was to hold of an attempt, and whether it did. */
export interface Checked {
  readonly holds: boolean;
  /** What was to hold, in words. */
  readonly what: string;
  /** Why it does not, or what the judge said. */
  readonly why?: string;
  /** True if this holds before the agent does anything, for an empty answer and the files of the case. Absent where it does not. */
  readonly holdsUntouched?: true;
  /** Files that the agent changed, added or removed, and that were as in the case while the command ran. */
  readonly restored?: readonly string[];
  /** Files of the case that the agent changed and that the command names; the command ran with those of the agent. */
  readonly changed?: readonly string[];
}

/** What something took. */
export interface Spending {
  readonly usage: Usage;
  /** US dollars; `undefined` when a price is not known. */
  readonly cost: Cost;
}

/** What is written of an attempt when all of it is known. */
export interface AttemptResult {
  readonly passed: boolean;
  readonly checks: readonly Checked[];
  /** Calls that were denied, with the reason, in sentences. Absent when there are none. */
  readonly denied?: readonly string[];
  /** Of its turns, without the checks. */
  readonly seconds: number;
  readonly steps: number;
  /** Of its turns, with their sub-agents. */
  readonly spent: Spending;
  /** Of those who judged it. */
  readonly judging: Spending;
  /** The folder that it worked in. */
  readonly directory: string;
}

const count = z.int().min(0);
const usage = z.object({ input: count, cached: count, cacheWrite: count, output: count, reasoning: count });
const spending = z
  .object({ usage, cost: z.number().min(0).nullable() })
  .transform(({ usage, cost }) => ({ usage, cost: cost ?? undefined }));
const result = z.object({
  result: z.enum(["passed", "failed"]),
  checks: z.array(
    z.object({
      holds: z.boolean(),
      what: z.string(),
      why: z.string().optional(),
      holdsUntouched: z.literal(true).optional(),
      restored: z.array(z.string()).optional(),
      changed: z.array(z.string()).optional(),
    }),
  ),
  denied: z.array(z.string()).optional(),
  seconds: z.number().min(0),
  steps: count,
  spent: spending,
  judging: spending,
  directory: z.string(),
});

const OPENING = "The result of this attempt, as the evaluation has it:\n\n```yaml\n";
const CLOSING = "```";

/** The text of the message that ends the branch of an attempt: for people and models to read, and to be read back. */
export function resultText({ passed, spent, judging, ...rest }: AttemptResult): string {
  const money = ({ usage, cost }: Spending) => ({ usage, cost: cost ?? null });
  const all = { result: passed ? "passed" : "failed", ...rest, spent: money(spent), judging: money(judging) };
  const document = new Document(all);
  for (const name of ["spent", "judging"]) {
    const node = document.get(name);
    // One line is enough for what a person seldom reads.
    if (isCollection(node)) node.flow = true;
  }
  return `${OPENING}${document.toString({ lineWidth: 0 })}${CLOSING}`;
}

/** The result that stands in a conversation; nothing when there is none, or what stands there is none. */
export function resultIn({ messages }: ConversationState, id: string): AttemptResult | undefined {
  const message = messages.get(id);
  const text = message ? textOf(message) : "";
  if (!text.startsWith(OPENING) || !text.endsWith(CLOSING)) return undefined;
  try {
    const found = result.safeParse(parse(text.slice(OPENING.length, -CLOSING.length)));
    if (!found.success) return undefined;
    const { result: how, ...rest } = found.data;
    // Absent fields are absent in YAML too, so no field is there with `undefined`.
    return { passed: how === "passed", ...rest } as AttemptResult;
  } catch {
    // Somebody else wrote it.
    return undefined;
  }
}

/** Where an attempt stands in its conversation: the ids of its messages are made of all that it depends on. */
export interface AttemptIds {
  /** The message that it begins with. */
  readonly root: string;
  readonly result: string;
  /** The question to the judge of a check. */
  judge(check: number): string;
}

/** The same of the try of this number: an attempt that was cut off begins anew beside the one before. */
export function idsOf(key: string, tries: number): AttemptIds {
  const root = `attempt-${key}-${tries}`;
  return { root, result: `${root}-result`, judge: (check) => `${root}-judge-${check}` };
}

/** A short name of whatever JSON can hold: the same for the same. */
export function keyOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 20);
}
