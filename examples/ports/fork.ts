// LangGraph: three models answer the third message of one conversation, at the same time, on three branches.
import { HumanMessage } from "@langchain/core/messages";
import { Annotation, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

const State = Annotation.Root({ ...MessagesAnnotation.spec, model: Annotation<string>() });
const graph = new StateGraph(State)
  .addNode("answer", async ({ messages, model }) => ({ messages: [await new ChatOpenAI({ model }).invoke(messages)] }))
  .addEdge(START, "answer")
  .compile({ checkpointer: new MemorySaver() });

const config = { configurable: { thread_id: "trees" } };
for (const text of ["Name a tree.", "Why that one?"])
  await graph.invoke({ messages: [new HumanMessage(text)], model: "gpt-5-mini" }, config);

const states = await Array.fromAsync(graph.getStateHistory(config));
const third = states.find(({ values, next }) => values.messages.length === 3 && next.includes("answer"));
if (!third) throw new Error("The third message is missing.");
const ask = async (model: string) => {
  const fork = await graph.updateState(third.config, { model }, START);
  const { messages } = await graph.invoke(null, fork);
  return `${model}: ${messages.at(-1)?.text}`;
};
for (const answer of await Promise.all(["gpt-5", "gpt-5-nano", "gpt-4.1"].map(ask))) console.log(answer);
