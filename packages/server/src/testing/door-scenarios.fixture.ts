import { join } from "node:path";
import { type AgentOptions, defineTool, launchAgent } from "@banyan/core";
import { call, cut, reasoning, type Scene, stall, text } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";

/** A user's action: a message, */
export type DoorMove =
  | string
  /** a retry of the last answer, */
  | { readonly again: true }
  /** a message whose answer is interrupted at its first text, */
  | { readonly interrupted: string }
  /** or a message below an earlier answer, counted from the first: a branch. */
  | { readonly after: number; readonly say: string };

/** A course of a conversation, which each door must play. */
export interface DoorScenario {
  readonly name: string;
  readonly says: readonly DoorMove[];
  /** The model's output, from the first turn to the last; turns run one after another. */
  readonly script: readonly Scene[];
  /** The options of the agent in its workspace. */
  readonly agent?: (root: string) => Partial<AgentOptions>;
  /** The files in the workspace before each play. */
  readonly files?: Readonly<Record<string, string>>;
  /** The user's answer to a call's question. */
  readonly answers?: "allow" | "deny";
  /** Texts that the tree must contain, so that doors cannot agree on an empty result. */
  readonly holds: readonly string[];
}

const look = defineTool({
  name: "look",
  description: "",
  effects: "none",
  input: { type: "object", properties: { at: { type: "string" } } },
  execute: (input: unknown) => {
    const { at } = input as { readonly at: string };
    if (at === "none") throw new Error("nothing is there");
    return `seen: ${at}`;
  },
});
const write = defineTool({
  name: "write",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: () => "written",
});
const asksToWrite: AgentOptions["permission"] = ({ tool }) => ({ decision: tool.name === "write" ? "ask" : "allow" });
const tools = [look, write];

export const doorScenarios: readonly DoorScenario[] = [
  { name: "text", says: ["Hello"], script: ["Good morning."], holds: ["Good morning."] },
  {
    name: "reasoning, rounds of calls, two at once and one that fails, and a turn after it",
    says: ["Look", "Thanks"],
    script: [
      [reasoning("Where?"), text("I look."), call("look", { at: "a" }), call("look", { at: "none" })],
      [call("look", { at: "b" })],
      "All seen.",
      "Any time.",
    ],
    agent: () => ({ tools }),
    holds: ["seen: a", "The tool failed: nothing is there", "Any time."],
  },
  {
    name: "a limit, at which the turn ends with an answer",
    says: ["Look for ever"],
    script: [[call("look", { at: "a" })], "So far."],
    agent: () => ({ tools, limits: { steps: 1 } }),
    holds: ["limit of 1 step", "So far."],
  },
  {
    name: "an answer that breaks off and is asked for again",
    says: ["Speak"],
    script: [[text("Half a"), cut()], "Whole."],
    agent: () => ({ retry: { delay: 1 } }),
    holds: ["Whole."],
  },
  {
    name: "a call that asks and is denied",
    says: ["Write"],
    script: [[call("write")], "As you like."],
    agent: () => ({ tools, permission: asksToWrite }),
    answers: "deny",
    holds: ["As you like."],
  },
  {
    name: "a call that asks and is allowed",
    says: ["Write"],
    script: [[call("write")], "Done."],
    agent: () => ({ tools, permission: asksToWrite }),
    answers: "allow",
    holds: ["written", "Done."],
  },
  {
    name: "a sub-agent",
    says: ["Count"],
    script: [
      [call("launch_agent", { task: "Count.", expected_output: "a number" })],
      [text("One, two."), call("finish_task", { result: "two" })],
      "It is two.",
    ],
    agent: () => ({ tools: [launchAgent()] }),
    holds: ["One, two.", "It is two."],
  },
  {
    name: "another answer to the same",
    says: ["Guess", { again: true }],
    script: ["One.", "Two."],
    holds: ["One.", "Two."],
  },
  {
    name: "a file that is opened and changed by what is said next",
    says: ["No salt", "Thanks"],
    script: [
      [call("edit_mode", { file_path: "list.txt" })],
      [text("No salt:\n\n```txt:1", ":2\noat mi", "lk\n``", "`\n```txt:3:4\n```\n")],
      "Done.",
      "Any time.",
    ],
    agent: (root) => ({
      tools: workspaceTools({ root, backups: join(root, ".backups") }),
      permission: () => ({ decision: "allow" }),
    }),
    files: { "list.txt": "milk\nbread\nsalt\n" },
    holds: ["+oat milk", "list.txt: 2 blocks applied", "Any time."],
  },
  {
    name: "an answer that is interrupted, and what is said after it",
    says: [{ interrupted: "Talk" }, "Shorter"],
    script: [[text("It began in"), stall()], "Yes."],
    holds: ["It began in", "interrupted", "Yes."],
  },
  {
    name: "a branch behind the first of two answers",
    says: ["One", "Two", { after: 0, say: "Two, in other words" }],
    script: ["First.", "Second.", "Second, in other words."],
    holds: ["First.", "Second.", "Second, in other words."],
  },
];
