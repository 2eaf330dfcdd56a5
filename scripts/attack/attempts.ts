import { type Attack, NotTried } from "./attack.ts";
import { newPlace } from "./place.ts";
import type { Outcome, Report } from "./tried.ts";

// This process runs the attempts of one file in order, from the given one on. It may be killed at any time.

const DEFAULT_SECONDS = 120;

const [file = "", first = "0"] = process.argv.slice(2);
const { attacks }: { readonly attacks: readonly Attack[] } = await import(file);
const named = attacks.map(({ rule, name, seconds = DEFAULT_SECONDS }) => ({ rule, name, seconds }));
await report({ type: "found", attacks: named });
for (const [index, attack] of attacks.entries()) {
  if (index < Number(first)) continue;
  await report({ type: "begins", index });
  await report({ type: "ended", index, outcome: await outcomeOf(attack) });
}
process.exit(0);

async function outcomeOf(attack: Attack): Promise<Outcome> {
  const ended = new AbortController();
  const own = { ...process.env };
  try {
    await using place = newPlace(ended.signal);
    Object.assign(process.env, place.env);
    const broken = await attack.attempt(place);
    return broken === undefined ? { type: "held" } : { type: "broken", why: broken };
  } catch (error) {
    if (error instanceof NotTried) return { type: "not-tried", why: error.message };
    return { type: "broken", why: `the attack itself failed: ${error instanceof Error ? error.stack : String(error)}` };
  } finally {
    ended.abort();
    for (const name of Object.keys(process.env)) if (!(name in own)) delete process.env[name];
    Object.assign(process.env, own);
  }
}

function report(told: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(told, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}
