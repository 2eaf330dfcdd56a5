// An agent whose loop is somebody else's: it runs tools on its side, calls one of ours, and reports what happens.
import { Agent, defineTool, say } from "@banyan/core";
import { noUsage } from "@banyan/core/conversation";
import type { LoopDriver, TurnSink } from "@banyan/core/drivers";

/** One answer of the remote agent: a text, and a call if it makes one. Answers the call's id. */
async function answer(sink: TurnSink, text: string, tool?: string): Promise<string> {
  const model = await sink.begin();
  model.push([{ type: "text", text }]);
  if (tool)
    model.push([
      { type: "call", index: 0, id: "", tool },
      { type: "call-end", index: 0 },
    ]);
  model.push([{ type: "finish", reason: tool ? "calls" : "stop", usage: noUsage }]);
  const [call] = await sink.complete();
  return call?.id ?? "";
}

const remote: LoopDriver = {
  id: "remote/gardener",
  family: "remote",
  async run(_turn, sink, signal) {
    const dig = await answer(sink, "First I dig.", "dig");
    await sink.started(dig);
    sink.progress(dig, "half way down");
    await sink.ended(dig, { output: "a hole", failed: false });
    const weather = await answer(sink, "Will it rain?", "weather");
    const { output } = await sink.execute(weather);
    if (!signal.aborted) await answer(sink, `The hole is dug, and the forecast says ${output}.`);
  },
};

const weather = defineTool({
  name: "weather",
  description: "Tells the weather.",
  input: { type: "object" },
  effects: "none",
  execute: () => "rain",
});

for await (const item of new Agent({ model: remote, tools: [weather] }).chat(say("Plant the tree, please."))) {
  if (item.type === "text.delta") console.log(item.text);
  if (item.type === "call.output.delta") console.log(`  (${item.text})`);
  if (item.type === "call.completed") console.log(`  => ${item.output}`);
}
