// Reads the feed of a conversation, leaves in the middle of an answer, and continues later from its cursor.
import { Agent, type Cursor, cursorOf, reduce, Session, textOf } from "@banyan/core";
import { scriptedModel, text } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";

const session = await Session.open(memoryStore());
const agent = new Agent({ model: scriptedModel([[text("An oak, ", "a fig, ", "and a banyan.")]]) });

// The state until now, and the cursor from which the feed continues. `reduce` keeps the copy of the state up to date.
const { state, cursor } = session.snapshot();
let seen: Cursor = cursor;
const answering = agent.send("Name three trees.", { session });

for await (const item of session.feed({ from: seen })) {
  reduce(state, item);
  seen = cursorOf(item) ?? seen;
  if (item.type === "text.delta") {
    console.log(`live: ${item.text}`);
    break; // The turn continues.
  }
}
await answering;

for await (const item of session.feed({ from: seen })) {
  reduce(state, item);
  console.log(`later: ${item.type}`);
  if (item.type === "run.ended") break;
}
const answer = state.leaf === null ? undefined : state.messages.get(state.leaf);
console.log(answer && textOf(answer));
