import { importsOf, type Modules, outsideOf } from "./module-graph.ts";

/** Entries of core that pages load without an agent. */
const WITHOUT_AGENT = ["drivers", "conversation", "shown", "ai-sdk", "hosts"];

/**
 * Returns a function that sorts the modules of core by the time at which a page loads them; nothing for other packages. A
 * page's bundler does not split a published module, so each time has modules of its own. `entries`: the source of each
 * entry. The times:
 *
 * - `first`: a page needs the module at once, even without an agent.
 * - `agent`: a page with an agent needs the module at once.
 * - `later`: a page with an agent loads the module on demand, although another entry may need the module at once.
 */
export function pageTimes(entries: Readonly<Record<string, string>>) {
  const { index: agent, drivers } = entries;
  if (agent === undefined || drivers === undefined) return undefined;
  const withoutAgent = WITHOUT_AGENT.flatMap((name) => entries[name] ?? []);
  let times: { readonly first: ReadonlySet<string>; readonly later: ReadonlySet<string> } | undefined;
  return (id: string, modules: Modules): "first" | "agent" | "later" => {
    if (!times) {
      const atOnce = importsOf(modules, [agent, drivers]);
      const later = importsOf(modules, [agent, drivers], { onDemand: true }).difference(atOnce);
      const first = importsOf(modules, withoutAgent).difference(later);
      // A client needs no other package.
      times = { first: new Set([...first].filter((each) => outsideOf(modules, each).size === 0)), later };
    }
    if (times.later.has(id)) return "later";
    return times.first.has(id) ? "first" : "agent";
  };
}
