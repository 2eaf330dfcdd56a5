// The program of the expedition that is killed: `node expedition-program.ts begin|go-on DIRECTORY LAST EVERY`, like `program.ts`.
import { type FeedItem, Session, say } from "@banyan/core";
import { collect } from "@banyan/core/testing";
import { sqliteStore } from "../../sqlite/index.ts";
import { GREETINGS, leader, NORTH, START } from "./expedition.ts";
import { goOn } from "./go-on.ts";
import { World } from "./journey.ts";
import { show, Witness } from "./witness.ts";

const [what = "", directory = "", last = "", every = ""] = process.argv.slice(2);
const witness = new Witness(Number(last), every === "every");
const world = new World(directory, () => witness.tell({ type: "effect" }));
const store = sqliteStore({ directory });
const [conversation] = await store.list();
const session = await Session.open(store, conversation?.id);
void watch();
if (what === "begin") {
  const agent = leader(world, 10);
  for (const greeting of GREETINGS) await agent.send(greeting, { session });
  await collect(agent.chat(say(START), { session }));
} else await goOn(session, leader(world), "resume");
await session.close();
await store.close();

async function watch(): Promise<void> {
  for await (const item of session.feed()) {
    show(witness, item);
    if (what === "begin") void answer(item);
  }
}

async function answer(item: FeedItem): Promise<void> {
  if (item.type !== "question.asked") return;
  await session.answer(item.question, { decision: "answer", text: NORTH });
  witness.tell({ type: "answered", question: item.question });
}
