// OpenAI Agents: a clerk hands over to a writer. Ctrl-C ends an answer, and the next start continues the conversation.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Agent, type AgentInputItem, handoff, run } from "@openai/agents";

const writer = new Agent({ name: "writer", model: "gpt-5-mini", instructions: "You write verse." });
const clerk = new Agent({
  name: "clerk",
  model: "gpt-5-mini",
  handoffs: [handoff(writer, { toolNameOverride: "hand_off_to_writer" })],
});
const agents = [clerk, writer];
const file = "desk.json";
const saved = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { agent: "clerk", history: [] };
let agent = agents.find(({ name }) => name === saved.agent) ?? clerk;
let history: AgentInputItem[] = saved.history;
const save = () => writeFileSync(file, JSON.stringify({ agent: agent.name, history }));

let answering: AbortController | undefined;
process.on("SIGINT", () => (answering ? answering.abort() : process.exit()));
for await (const line of createInterface({ input: process.stdin })) {
  answering = new AbortController();
  history.push({ role: "user", content: line });
  save();
  let text = "";
  try {
    const result = await run(agent, history, { stream: true, signal: answering.signal });
    for await (const delta of result.toTextStream({ compatibleWithNodeStreams: true })) {
      text += delta;
      process.stdout.write(delta);
    }
    await result.completed;
    agent = agents.find(({ name }) => name === result.lastAgent?.name) ?? agent;
    history = result.history;
  } catch (error) {
    if (!answering.signal.aborted) throw error;
    // The partial answer is kept by hand.
    history.push({ role: "assistant", status: "incomplete", content: [{ type: "output_text", text }] });
  }
  answering = undefined;
  save();
}
