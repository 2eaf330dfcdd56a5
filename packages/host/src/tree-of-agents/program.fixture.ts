// A program with the tree of agents, for a test that kills it: `node program.fixture.ts begin|resume HOME FOLDER`. Prints
// its feed, one line per item. Stops a sub-agent as the user would, as soon as it has output.
import { type FeedItem, resume, say } from "@banyan/core";
import { collect } from "@banyan/core/testing";
import { openHost } from "../host/open-host.ts";
import { launchOf, ROOT, STOPPED } from "./family.fixture.ts";

const [what, home = "", cwd = ""] = process.argv.slice(2);
const host = await openHost({ cwd, home, env: process.env, canAsk: false });
// Longer than everything else in the tree takes.
const agent = host.agent.with({ retry: { idle: 6_000, delay: 1 } });
const { last } = await host.lastConversation();
const session = last ? await host.openById(last.id) : await host.newSession();
session.listen({ items: (items) => items.forEach(show), ended() {} });
await collect(agent.chat(what === "begin" ? say(ROOT) : resume(), { session }));
await session.close();
await host.close();

function show(item: FeedItem): void {
  process.stdout.write(`${JSON.stringify(item)}\n`);
  const { runs, messages } = session.state;
  if (item.type !== "text.delta" || messages.get(item.message)?.call !== launchOf(STOPPED)) return;
  session.interrupt(runs.values().find(({ call }) => call === launchOf(STOPPED))?.id);
}
