import type { ToldScenario } from "./scenarios.ts";
import { calling, look } from "./tools.ts";

/** Answers that do not complete. */
export const breaks: readonly ToldScenario[] = [
  {
    name: "a stream that is cut before anything was acted on is asked for anew, and the second answer is kept",
    says: ["Hello"],
    agent: { retry: { attempts: 2, delay: 1 } },
    replies: [
      { response: { content: "Good evening" }, fragment: 5, stops: { how: "cut", in: "text", after: 1 } },
      { response: { content: "Good morning" } },
    ],
    shape: {
      messages: [
        { by: "user", text: "Hello" },
        { by: "assistant", text: "Good morning", finish: "stop", counted: true },
      ],
      ended: "answered",
    },
  },
  {
    name: "a stream that is cut each time: what came last is kept, and the conversation goes on",
    says: ["Hello", "Still there?"],
    agent: { retry: { attempts: 2, delay: 1 } },
    replies: [
      { response: { content: "Good evening" }, fragment: 5, stops: { how: "cut", in: "text", after: 1 } },
      { response: { content: "Good morning" }, fragment: 5, stops: { how: "cut", in: "text", after: 2 } },
      { response: { content: "Yes." } },
    ],
    shape: {
      messages: [
        { by: "user", text: "Hello" },
        { by: "assistant", text: "Good morni", finish: "error", broke: true, counted: false },
        { by: "user", text: "Still there?" },
        { by: "assistant", text: "Yes.", finish: "stop", counted: true },
      ],
      ended: "answered",
    },
  },
  {
    name: "a stream that is cut in the arguments of a call: it is not executed, and the conversation goes on",
    breaksCalls: true,
    says: ["Look", "Well?"],
    agent: { tools: [look], retry: { attempts: 1 } },
    replies: [
      {
        response: { toolCalls: [calling("call_1", "look", { at: "a long way off" })] },
        fragment: 8,
        stops: { how: "cut", in: "call", after: 1 },
      },
      { response: { content: "Nothing." } },
    ],
    shape: {
      messages: [
        { by: "user", text: "Look" },
        {
          by: "assistant",
          calls: [
            {
              tool: "look",
              input: '{"at":"a',
              status: "cancelled",
              output: "Not executed: the answer broke off: <what went wrong>",
            },
          ],
          finish: "error",
          broke: true,
          counted: false,
        },
        { by: "user", text: "Well?" },
        { by: "assistant", text: "Nothing.", finish: "stop", counted: true },
      ],
      ended: "answered",
    },
  },
  {
    name: "a stream that is cut while the model thinks: its thoughts are kept, and the conversation goes on",
    says: ["Think", "Well?"],
    agent: { settings: { effort: "low" }, retry: { attempts: 1 } },
    replies: [
      {
        response: { content: "42", reasoning: "Six times seven." },
        fragment: 4,
        stops: { how: "cut", in: "reasoning", after: 2 },
      },
      { response: { content: "42." } },
    ],
    shape: {
      messages: [
        { by: "user", text: "Think" },
        { by: "assistant", reasoning: "Six time", finish: "error", broke: true, counted: false },
        { by: "user", text: "Well?" },
        { by: "assistant", text: "42.", finish: "stop", counted: true },
      ],
      ended: "answered",
    },
  },
  {
    name: "an interruption in the middle of a text: what came is kept, and the conversation goes on",
    says: [{ text: "Tell me", interruptAt: "Once upon" }, "Shorter"],
    replies: [
      {
        response: { content: "Once upon a time" },
        fragment: 3,
        stops: { how: "silent", in: "text", after: 3 },
      },
      { response: { content: "The end." } },
    ],
    shape: {
      messages: [
        { by: "user", text: "Tell me" },
        { by: "assistant", text: "Once upon", finish: "interrupted", counted: false },
        { by: "user", text: "Shorter" },
        { by: "assistant", text: "The end.", finish: "stop", counted: true },
      ],
      ended: "answered",
    },
  },
  {
    name: "an interruption after the model has thought: the conversation goes on",
    says: [{ text: "Tell me", interruptAt: "Once upon" }, "Shorter"],
    agent: { settings: { effort: "low" } },
    replies: [
      {
        response: { content: "Once upon a time", reasoning: "A tale.", reasoningSignature: "c2lnbmVk" },
        fragment: 9,
        stops: { how: "silent", in: "textAfterReasoning", after: 1 },
      },
      { response: { content: "The end." } },
    ],
    shape: {
      messages: [
        { by: "user", text: "Tell me" },
        { by: "assistant", reasoning: "A tale.", text: "Once upon", finish: "interrupted", counted: false },
        { by: "user", text: "Shorter" },
        { by: "assistant", text: "The end.", finish: "stop", counted: true },
      ],
      ended: "answered",
    },
  },
];
