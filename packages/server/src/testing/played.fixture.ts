import { isDeepStrictEqual } from "node:util";
import type { Mirror } from "@banyan/client";
import { type ConversationState, type Event, emptyConversation, isEvent, reduce } from "@banyan/core";
import { COMMANDS, type Moments, SCENES, type SceneName } from "@banyan/core/testing/moments";
import fc from "fast-check";
import { seen } from "./seen.fixture.ts";
import type { TestClient } from "./test-client.fixture.ts";

/** The scenes of a model, and commands of clients, each after at most `items` feed items. */
export const plays = (items: number) =>
  fc.record({
    names: fc.array(fc.constantFrom(...(Object.keys(SCENES) as SceneName[])), {
      minLength: 3,
      maxLength: 12,
      size: "max",
    }),
    plan: fc.array(fc.record({ name: fc.constantFrom(...COMMANDS), at: fc.nat(items), what: fc.nat(1000) }), {
      minLength: 4,
      maxLength: 24,
      size: "max",
    }),
  });

/**
 * Checks a conversation that was played to its end, and returns a sentence for each fault. Checks the log, which a separate
 * client reads, and the state of the watching clients. Then `forget`s the conversation.
 */
export async function problemsOf(
  moments: Moments,
  conversation: string,
  reader: TestClient,
  held: readonly { readonly mirror: Mirror }[],
): Promise<string[]> {
  const { epoch, seq } = held[0]?.mirror.cursor ?? { epoch: 1, seq: 0 };
  await reader.ask("feed.subscribe", { conversation, from: { epoch, seq: 0, offset: 0 } });
  const log: Event[] = await reader.until(() => {
    const events = reader.items.filter(isEvent);
    return (events.at(-1)?.seq ?? 0) >= seq && events;
  });
  await reader.forget(conversation);
  const state = emptyConversation(conversation);
  for (const event of log) reduce(state, event);
  // Maps are equal regardless of the order of their entries.
  const seenIn = (shown: ConversationState) => ({ ...seen(shown), children: shown.children });
  const truth = seenIn(state);
  const problems = moments.check(state, log);
  for (const [client, { mirror }] of held.entries()) {
    const shown = seenIn(mirror.state);
    if (isDeepStrictEqual(shown, truth)) continue;
    const different = (Object.keys(truth) as (keyof typeof truth)[]).filter(
      (part) => !isDeepStrictEqual(shown[part], truth[part]),
    );
    const both = different.map((part) => `${part}: ${JSON.stringify(shown[part])} and ${JSON.stringify(truth[part])}`);
    problems.push(`Client ${client} holds another conversation than the log tells: ${both}`);
  }
  return problems;
}
