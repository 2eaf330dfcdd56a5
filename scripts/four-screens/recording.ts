import type { DeltaBody, EventBody, Notice } from "../../packages/core/src/conversation/index.ts";

/** An item of a feed without its position. */
export type Item = EventBody | Notice | DeltaBody;

/** The run of the recording. */
export const RUN = "run-1";
const [ASKED, ANSWER] = ["asked-1", "answer-1"];

const usage = { input: 10, output: 5, cached: 0, cacheWrite: 0, reasoning: 0 };
const text = (said: string) => [{ type: "text", text: said }] as const;
const shell = (call: string, command: string) =>
  ({ message: ANSWER, call, tool: "shell", input: { command }, about: { command } }) as const;
const pending = (call: string, command: string): EventBody => ({
  ...shell(call, command),
  type: "call.pending",
  inputText: JSON.stringify({ command }),
});
const executing = (call: string, command: string): EventBody => ({
  ...shell(call, command),
  type: "call.executing",
  attempt: 1,
  key: call,
});

/**
 * Returns a conversation with everything that a feed can contain: each event, delta and notice, in a possible order. Of
 * repeated items, the last one matters. `leaf` is the message from which the conversation continues.
 */
export function recording(leaf: string | null): readonly Item[] {
  return [
    { type: "content.stored", digest: "d".repeat(64), text: "Be kind." },
    { type: "input.queued", input: "waiting-1", parts: text("Waited for long."), delivery: "queue", run: null },
    { type: "input.edited", input: "waiting-1", parts: text("Waits still.") },
    { type: "input.withdrawn", input: "waiting-1" },
    {
      type: "message.added",
      message: ASKED,
      parentId: leaf,
      role: "user",
      author: "user",
      parts: text("Name a tree."),
    },
    { type: "memory.recalled", message: ASKED, items: [{ text: "Oaks are tall.", source: "the oak talk" }] },
    { type: "memory.dismissed", message: ASKED, item: 0, dismissed: true },
    { type: "turn.waiting", command: ASKED, waits: true, reason: "Waiting for the MCP server late, for at most 30 s." },
    { type: "turn.waiting", command: ASKED, waits: false, reason: "The MCP server late is not there." },
    {
      type: "run.started",
      run: RUN,
      agent: "banyan",
      model: "scripted/model",
      settings: {},
      limits: {},
      mode: "chat",
      instructions: "d".repeat(64),
      tools: "d".repeat(64),
      leaf: ASKED,
    },
    { type: "message.left-out", message: ASKED, reason: "parts must be an array, not null" },
    { type: "request.changed", run: RUN, reason: "The provider refused a.png, so it is left out from now on." },
    { type: "memory.skipped", run: RUN, reason: "its file is locked" },
    { type: "context.shortening", run: RUN, leaf: ASKED, reason: "it is full" },
    { type: "context.not-shortened", run: RUN, leaf: ASKED, reason: "the summary failed" },
    { type: "message.started", message: ANSWER, parentId: ASKED, run: RUN, model: "scripted/model" },
    { type: "model.waiting", run: RUN, message: ANSWER, time: 180_000, alive: true },
    { type: "reasoning.delta", message: ANSWER, part: 0, text: "Which tree is tall?\n" },
    { type: "text.delta", message: ANSWER, part: 1, text: "The oak is tall.\n\n" },
    {
      type: "message.checkpoint",
      message: ANSWER,
      parts: [
        { index: 0, type: "reasoning", offset: 0, text: "Which tree is tall?\n" },
        { index: 1, type: "text", offset: 0, text: "The oak is tall.\n\n" },
      ],
    },
    {
      type: "call.input.delta",
      message: ANSWER,
      part: 2,
      call: "call-1",
      tool: "shell",
      text: '{"command":"count leaves"}',
    },
    {
      type: "message.completed",
      message: ANSWER,
      parts: [
        { type: "reasoning", text: "Which tree is tall?\n" },
        ...text("The oak is tall.\n\n"),
        ...["call-1", "call-2", "call-3", "call-4"].map((id) => ({ type: "call", call: id }) as const),
      ],
      finish: "calls",
      usage,
      cost: 0.5,
    },
    pending("call-1", "count leaves"),
    {
      ...shell("call-1", "count leaves"),
      type: "call.approval-requested",
      question: "question-1",
      pattern: "shell(count *)",
    },
    {
      type: "call.approval-resolved",
      message: ANSWER,
      call: "call-1",
      question: "question-1",
      allowed: true,
      remember: { pattern: "shell(count *)", scope: "conversation" },
    },
    executing("call-1", "count leaves"),
    { type: "call.output.delta", message: ANSWER, call: "call-1", text: "leaf after leaf\n" },
    {
      type: "question.asked",
      message: ANSWER,
      call: "call-1",
      question: "question-2",
      text: "Which of the oaks is meant?",
    },
    { type: "question.answered", question: "question-2", text: "the tall one" },
    { type: "call.following", message: ANSWER, call: "call-1", run: RUN },
    { type: "call.draft.delta", message: ANSWER, call: "call-1", draft: 0, path: "draft.txt", text: "drafted line\n" },
    { type: "call.followed", message: ANSWER, call: "call-1", outcome: "completed" },
    {
      type: "file.changed",
      message: ANSWER,
      call: "call-1",
      path: "leaves.txt",
      kind: "created",
      before: null,
      after: "a".repeat(64),
      added: 1,
      removed: 0,
      diff: "--- /dev/null\n+++ b/leaves.txt\n@@ -0,0 +1 @@\n+many leaves\n",
    },
    { ...shell("call-1", "count leaves"), type: "call.completed", output: "counted" },
    pending("call-2", "fell the oak"),
    { ...shell("call-2", "fell the oak"), type: "call.denied", output: "nobody may fell it" },
    pending("call-3", "climb"),
    executing("call-3", "climb"),
    { ...shell("call-3", "climb"), type: "call.failed", output: "too high for that" },
    pending("call-4", "shake"),
    executing("call-4", "shake"),
    { ...shell("call-4", "shake"), type: "call.cancelled", output: "stopped" },
    { type: "callback.failed", callback: "onCall", reason: "a defect of its own" },
    { type: "run.paused", run: RUN, question: "question-3", reason: "The turn reached 2 steps." },
    { type: "run.continued", run: RUN, question: "question-3", allowed: true },
    { type: "input.queued", input: "steer-1", parts: text("Name a shrub too."), delivery: "steer", run: RUN },
    {
      type: "message.added",
      message: "steer-1",
      parentId: ANSWER,
      role: "user",
      author: "user",
      parts: text("Name a shrub too."),
      run: RUN,
    },
    { type: "input.delivered", input: "steer-1" },
    {
      type: "message.added",
      message: "told-1",
      parentId: "steer-1",
      role: "user",
      author: "tool",
      parts: text("Nothing was applied."),
      run: RUN,
    },
    { type: "message.started", message: "given-up-1", parentId: "told-1", run: RUN, model: "scripted/model" },
    {
      type: "model.retrying",
      run: RUN,
      attempt: 2,
      delay: 90_000,
      nextAt: Date.now() + 90_000,
      code: "overloaded",
      status: 529,
      reason: "It has too much to do.",
    },
    { type: "text.delta", message: "given-up-1", part: 0, text: "Half a tr" },
    { type: "message.abandoned", message: "given-up-1", reason: "it broke off" },
    {
      type: "model.replaced",
      run: RUN,
      from: "scripted/model",
      to: "spare/model",
      code: "overloaded",
      reason: "It has too much to do.",
    },
    { type: "message.started", message: "answer-2", parentId: "told-1", run: RUN, model: "scripted/model" },
    { type: "text.delta", message: "answer-2", part: 0, text: "The broom is a shr\n" },
    {
      type: "message.completed",
      message: "answer-2",
      parts: text("The broom is a shr\n"),
      finish: "length",
      usage,
      cost: 0.25,
    },
    {
      type: "run.ended",
      run: RUN,
      reason: "failed",
      leaf: "answer-2",
      error: { code: "unavailable", message: "The provider went away." },
    },
    { type: "usage.counted", purpose: "title", model: "scripted/model", usage, cost: 0.125 },
    { type: "title.changed", title: "Of oaks" },
    { type: "process.started", message: ANSWER, call: "call-1", process: "p1", title: "leaf watch" },
    { type: "process.ended", process: "p1", outcome: "exit code 7" },
    { type: "model.changed", model: "scripted/second" },
    { type: "rule.revoked", pattern: "shell(count *)" },
    { type: "message.labelled", message: "answer-2", label: "here" },
    { type: "message.starred", message: "answer-2", starred: true },
    { type: "message.removed", message: "answer-2" },
    { type: "message.restored", message: "answer-2" },
  ];
}
