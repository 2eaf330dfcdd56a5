// The model of the desk hands the conversation over to the writer, who also takes the next turn.
import { Agent, handOff, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";

const writer = new Agent({
  name: "writer",
  description: "Writes poems.",
  model: scriptedModel(["A fig fell down.", "A root found ground."]),
});
const desk = new Agent({
  name: "desk",
  model: scriptedModel([[call("hand_off_to_writer", { note: "A poem about figs." })]]),
  tools: [handOff(writer)],
});

const session = Session.inMemory();
for (const words of ["A poem about figs, please.", "And one about roots."])
  console.log((await desk.send(words, { session })).text);
