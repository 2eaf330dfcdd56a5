// The program that is killed: `node program.ts begin|go-on DIRECTORY LAST EVERY` runs the conversation in a store, or
// continues a conversation of another process, and announces events. The program stops after the instant LAST.
import { type FeedItem, retry, Session, say, type UserPart } from "@banyan/core";
import { collect } from "@banyan/core/testing";
import { sqliteStore } from "../../sqlite/index.ts";
import { goOn } from "./go-on.ts";
import { GREETING, LAST_OF_BATCH, ORDER, OTHER_BRANCH, QUEUED, STEER, traveller, World } from "./journey.ts";
import { show, Witness } from "./witness.ts";

const [what = "", directory = "", last = "", every = ""] = process.argv.slice(2);
const witness = new Witness(Number(last), every === "every");
const world = new World(directory, () => witness.tell({ type: "effect" }));
const store = sqliteStore({ directory });
if (what === "begin") await begin();
else await continued();
await store.close();

async function begin(): Promise<void> {
  const session = await Session.open(store);
  void watch(session);
  // Ten milliseconds per word: long enough for the text to be in the log before the answer ends.
  const agent = traveller(world, 10);
  await agent.send(GREETING, { session });
  const [greeting] = session.state.messages.keys();
  await Promise.all([
    collect(agent.chat(say(ORDER), { session })),
    collect(agent.chat(retry(OTHER_BRANCH), { session, at: String(greeting) })),
  ]);
  await session.close();
}

async function continued(): Promise<void> {
  const [conversation] = await store.list();
  const session = await Session.open(store, conversation?.id);
  void watch(session);
  await goOn(session, traveller(world), "resume");
  await session.close();
}

/** The feed of a user, and the user's reactions. */
async function watch(session: Session): Promise<void> {
  for await (const item of session.feed()) {
    show(witness, item);
    if (what === "begin") void react(session, item);
  }
}

async function react(session: Session, item: FeedItem): Promise<void> {
  if (item.type === "call.approval-requested") {
    await session.answer(item.question, { decision: "allow" });
    witness.tell({ type: "answered", question: item.question });
  }
  if (item.type !== "call.executing" || item.call !== LAST_OF_BATCH) return;
  const message = session.state.messages.get(item.message);
  if (message?.role !== "assistant") return;
  const { run } = message;
  const steer = await session.say(words(STEER), { run });
  witness.tell({ type: "said", input: steer, text: STEER });
  const queued = await session.say(words(QUEUED), { run, delivery: "queue" });
  witness.tell({ type: "said", input: queued, text: QUEUED });
}

function words(text: string): readonly UserPart[] {
  return [{ type: "text", text }];
}
