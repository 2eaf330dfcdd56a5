import { launchAgent } from "@banyan/core";
import type { Reply, Scenario } from "./play.ts";
import { calling, listen, look } from "./tools.ts";

const launching = (id: string, task: string) => calling(id, "launch_agent", { task, expected_output: "a word" });
const finishing = (id: string, result: unknown) => calling(id, "finish_task", { result });
const to = (task: string, round: number, response: Reply["response"]): Reply => ({ response, to: { task, round } });

/** The text of the summary. */
export const SUMMARY = "They looked at a, and it is there.";

/** Longer than the part that stays unchanged next to a summary. */
// One word: a server whose count is smaller than the words of a request has cut the request (F69).
export const LONG = `It is ${"very".repeat(330)} there. `;

/** The model is asked for a summary before its last answer. */
export const summedUp: Scenario & { readonly name: string } = {
  name: "a conversation that was summed up",
  says: ["Look at a", "Good", "Very good", "Look at b"],
  agent: { instructions: "Be brief.", tools: [look], compaction: { contextSize: 1_000 } },
  replies: [
    { response: { toolCalls: [calling("call_1", "look", { at: "a" })] } },
    { response: { content: LONG } },
    { response: { content: "Yes." } },
    { response: { content: "Indeed." } },
    { response: { toolCalls: [calling("call_2", "look", { at: "b" })] }, input: 900 },
    { response: { content: SUMMARY } },
    { response: { content: "Both seen." } },
  ],
};

/** A call waits for the next message, and its tool reports the outcome to the model. */
export const listenedTo: Scenario & { readonly name: string } = {
  name: "an answer that a call listened to, and what its tool says of it",
  says: ["Listen"],
  agent: { tools: [listen, look] },
  replies: [
    { response: { toolCalls: [calling("call_1", "listen", {})] } },
    { response: { content: "Hear, hear.", toolCalls: [calling("call_2", "look", { at: "a" })] } },
    { response: { content: "That was it." } },
  ],
};

/** One sub-agent, whose messages are in the same log. */
export const handedOn: Scenario & { readonly name: string } = {
  name: "a sub-agent in the log",
  says: ["Go"],
  agent: { tools: [look, launchAgent()] },
  replies: [
    { response: { toolCalls: [launching("call_1", "Dig")] } },
    { response: { content: "Digging.", toolCalls: [calling("call_2", "look", { at: "a" })] } },
    { response: { toolCalls: [finishing("call_3", "gold")] } },
    { response: { content: "There is gold." } },
  ],
};

/** Four parallel sub-agents: one succeeds, one fails for lack of money, one is retried, one needs a reminder to finish. */
export const fourAtOnce: Scenario = {
  says: ["Go"],
  agent: { tools: [look, launchAgent()], retry: { attempts: 2, delay: 1 } },
  replies: [
    to("Go", 0, {
      toolCalls: ["able", "poor", "patient", "talkative"].map((task, index) => launching(`call_${index + 1}`, task)),
    }),
    to("able", 0, { toolCalls: [calling("call_5", "look", { at: "a" })] }),
    to("able", 1, { toolCalls: [finishing("call_6", "done ably")] }),
    to("poor", 0, { content: "I see.", toolCalls: [calling("call_7", "look", { at: "b" })] }),
    to("poor", 1, { error: { message: "Pay first" }, status: 402 }),
    to("patient", 0, { error: { message: "Overloaded" }, status: 529, retryAfter: 0.01 }),
    to("patient", 0, { toolCalls: [finishing("call_8", "done patiently")] }),
    to("talkative", 0, { content: "I am done." }),
    to("talkative", 1, { toolCalls: [finishing("call_9", "done at last")] }),
    to("Go", 1, { content: "All told." }),
  ],
};

/** A task whose result must be a number: the model first writes text, then gives a text as result, then a number. */
export const demanded: Scenario = {
  says: ["How many?"],
  agent: { mode: "task", output: { type: "object", properties: { count: { type: "number" } }, required: ["count"] } },
  replies: [
    { response: { content: "Three, I think." } },
    { response: { toolCalls: [finishing("call_1", { count: "three" })] } },
    { response: { toolCalls: [finishing("call_2", { count: 3 })] } },
  ],
};

/** The same task, but the model never gives a valid result. */
export const neverFits: Scenario = {
  ...demanded,
  replies: [
    { response: { toolCalls: [finishing("call_1", "three")] } },
    { response: { toolCalls: [finishing("call_2", { number: 3 })] } },
  ],
};
