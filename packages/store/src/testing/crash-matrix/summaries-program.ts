// The program with summaries that is killed: `node summaries-program.ts begin|go-on DIRECTORY LAST EVERY`, like `program.ts`.
import { Session } from "@banyan/core";
import { sqliteStore } from "../../sqlite/index.ts";
import { goOn } from "./go-on.ts";
import { World } from "./journey.ts";
import { digger, START } from "./summaries.ts";
import { show, Witness } from "./witness.ts";

const [what = "", directory = "", last = "", every = ""] = process.argv.slice(2);
const witness = new Witness(Number(last), every === "every");
const world = new World(directory, () => witness.tell({ type: "effect" }));
const agent = digger(world, what === "begin" ? 5 : 0, () => witness.tell({ type: "hook" }));
const store = sqliteStore({ directory });
const [conversation] = await store.list();
const session = await Session.open(store, conversation?.id);
void watch();
if (what === "begin") await agent.send(START, { session });
else await goOn(session, agent, "resume");
await session.close();
await store.close();

async function watch(): Promise<void> {
  for await (const item of session.feed()) show(witness, item);
}
