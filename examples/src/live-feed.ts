// Watching a conversation that somebody else has: a watcher leaves in the middle, and goes on later from its cursor.
import { Agent, type Cursor, cursorOf, reduce, Session, textOf } from "@banyan/core";
import { scriptedModel, text } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";

const session = await Session.open(memoryStore());
const agent = new Agent({ model: scriptedModel([[text("An oak, ", "a fig, ", "and a banyan.")]]) });

// What there is until now, and a feed that goes on from there; `reduce` keeps the copy up to date.
const { state, cursor } = session.snapshot();
let seen: Cursor = cursor;
const answering = agent.send("Name three trees.", { session });

for await (const item of session.feed({ from: seen })) {
  reduce(state, item);
  seen = cursorOf(item) ?? seen;
  if (item.type === "text.delta") {
    console.log(`live: ${item.text}`);
    break; // The turn does not notice.
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
