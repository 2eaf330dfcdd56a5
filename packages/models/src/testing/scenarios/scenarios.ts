import type { Scenario } from "./play.ts";
import type { MessageShape, Shape } from "./shape.ts";
import { calling, look, open } from "./tools.ts";

/** A scenario and its resulting tree for every format. */
export interface ToldScenario extends Scenario {
  readonly name: string;
  readonly shape: Shape;
}

const tools = [look, open];
const user = (text: string): MessageShape => ({ by: "user", text });
const answer = (text: string): MessageShape => ({ by: "assistant", text, finish: "stop", counted: true });
const calls = (...made: NonNullable<MessageShape["calls"]>): MessageShape => ({
  by: "assistant",
  calls: made,
  finish: "calls",
  counted: true,
});
const seen = (at: string) => ({ tool: "look", input: { at }, status: "completed", output: `seen: ${at}` }) as const;

/** A pair of surrogates, joined emoji, line separators, right-to-left text, a letter of two code points, and escapes. */
export const UNICODE = 'Zażółć 🌳👩‍👩‍👧 \u2028\u2029 שלום e\u0301 \u0001 "\\n" \r\n\t end';

export const scenarios: readonly ToldScenario[] = [
  {
    name: "plain text",
    says: ["Hello"],
    replies: [{ response: { content: "Good morning, and welcome." } }],
    shape: { messages: [user("Hello"), answer("Good morning, and welcome.")], ended: "answered" },
  },
  {
    name: "reasoning, and a second turn after it",
    says: ["Think", "And again"],
    agent: { settings: { effort: "low" } },
    replies: [
      { response: { content: "42", reasoning: "Six times seven.", reasoningSignature: "c2lnbmVk" } },
      { response: { content: "Still 42" } },
    ],
    shape: {
      messages: [
        user("Think"),
        { ...answer("42"), reasoning: "Six times seven." },
        user("And again"),
        answer("Still 42"),
      ],
      ended: "answered",
    },
  },
  {
    name: "reasoning before a call",
    says: ["Think"],
    agent: { tools, settings: { effort: "low" } },
    replies: [
      {
        response: {
          toolCalls: [calling("call_1", "look", { at: "a" })],
          reasoning: "I should look.",
          reasoningSignature: "c2lnbmVk",
        },
      },
      { response: { content: "It is there." } },
    ],
    shape: {
      messages: [user("Think"), { ...calls(seen("a")), reasoning: "I should look." }, answer("It is there.")],
      ended: "answered",
    },
  },
  {
    name: "one call, then another call, then text",
    says: ["Look twice"],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "look", { at: "a" })] } },
      { response: { toolCalls: [calling("call_2", "look", { at: "b" })] } },
      { response: { content: "Both seen." } },
    ],
    shape: {
      messages: [user("Look twice"), calls(seen("a")), calls(seen("b")), answer("Both seen.")],
      ended: "answered",
    },
  },
  {
    name: "three rounds of calls, with text before one of them, and a turn after it",
    says: ["Look thrice", "Thanks"],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "look", { at: "a" })] } },
      { response: { content: "On to b.", toolCalls: [calling("call_2", "look", { at: "b" })] } },
      { response: { toolCalls: [calling("call_3", "look", { at: "c" })] } },
      { response: { content: "All seen." } },
      { response: { content: "Any time." } },
    ],
    shape: {
      messages: [
        user("Look thrice"),
        calls(seen("a")),
        { ...calls(seen("b")), text: "On to b." },
        calls(seen("c")),
        answer("All seen."),
        user("Thanks"),
        answer("Any time."),
      ],
      ended: "answered",
    },
  },
  {
    name: "two parallel calls of the same tool",
    says: ["Look at both"],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "look", { at: "a" }), calling("call_2", "look", { at: "b" })] } },
      { response: { content: "Both seen." } },
    ],
    shape: {
      messages: [user("Look at both"), calls(seen("a"), seen("b")), answer("Both seen.")],
      ended: "answered",
    },
  },
  {
    name: "a failing tool",
    says: ["Open it"],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "open", { at: "a" }), calling("call_2", "look", { at: "a" })] } },
      { response: { content: "It does not open." } },
    ],
    shape: {
      messages: [
        user("Open it"),
        calls(
          { tool: "open", input: { at: "a" }, status: "failed", output: "The tool failed: the lid is stuck" },
          seen("a"),
        ),
        answer("It does not open."),
      ],
      ended: "answered",
    },
  },
  {
    name: "malformed arguments",
    breaksCalls: true,
    says: ["Look"],
    agent: { tools },
    replies: [
      // The Anthropic side of the mock repairs invalid JSON, so break it on the wire for all formats alike.
      { response: { toolCalls: [calling("call_1", "look", { at: "unended" })] }, fragment: 100 },
      { response: { toolCalls: [calling("call_2", "look", { at: "a" })] } },
      { response: { content: "Seen now." } },
    ],
    edit: (piece) => piece.replaceAll('unended\\"}', "unended"),
    shape: {
      messages: [
        user("Look"),
        calls({
          tool: "look",
          input: '{"at":"unended',
          status: "failed",
          output:
            'The arguments of "look" are not JSON: Unterminated string in JSON at position 14 (line 1 column 15). Send one JSON object.',
        }),
        calls(seen("a")),
        answer("Seen now."),
      ],
      ended: "answered",
    },
  },
  {
    name: "arguments that do not fit",
    says: ["Look"],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "look", { at: 7 })] } },
      { response: { content: "Never mind." } },
    ],
    shape: {
      messages: [
        user("Look"),
        calls({
          tool: "look",
          input: { at: 7 },
          status: "failed",
          output:
            'The arguments of "look" do not match its schema: at at: Instance type "number" is invalid. Expected "string".',
        }),
        answer("Never mind."),
      ],
      ended: "answered",
    },
  },
  {
    name: "an unknown tool",
    says: ["Smell"],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "smell", { at: "a" })] } },
      { response: { content: "I cannot smell." } },
    ],
    shape: {
      messages: [
        user("Smell"),
        calls({
          tool: "smell",
          input: { at: "a" },
          status: "failed",
          output: 'There is no tool "smell". There are: look, open.',
        }),
        answer("I cannot smell."),
      ],
      ended: "answered",
    },
  },
  {
    name: "the step limit, at which the turn still ends with an answer",
    says: ["Look for ever"],
    agent: { tools, limits: { steps: 2 } },
    replies: [
      { response: { toolCalls: [calling("call_1", "look", { at: "a" })] } },
      { response: { toolCalls: [calling("call_2", "look", { at: "b" })] } },
      { response: { content: "Seen so far: a and b." } },
    ],
    shape: {
      messages: [
        user("Look for ever"),
        calls(seen("a")),
        calls(seen("b")),
        {
          by: "user (system)",
          text: "This turn has reached the limit of 2 steps. You cannot use tools any more. Answer now with your results, and name the work that is left.",
        },
        answer("Seen so far: a and b."),
      ],
      ended: "limit",
    },
  },
  {
    name: "any Unicode, in fragments that cut characters in two",
    says: [UNICODE],
    agent: { tools },
    replies: [
      { response: { toolCalls: [calling("call_1", "look", { at: UNICODE })] }, fragment: 1 },
      { response: { content: UNICODE, reasoning: UNICODE }, fragment: 1 },
    ],
    shape: {
      messages: [user(UNICODE), calls(seen(UNICODE)), { ...answer(UNICODE), reasoning: UNICODE }],
      ended: "answered",
    },
  },
];
