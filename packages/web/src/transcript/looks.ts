import type { Call } from "@banyan/core/conversation";

/** Whether a call only looked, and went well: a failure is never folded away (W30). */
export function isLook({ about, status }: Call): boolean {
  return about?.looksAt !== undefined && status === "completed";
}

/** As in `Read 7 files, 2 searches`: what there is most of stands first. */
export function looksInWords(calls: readonly Call[]): string {
  const looks = calls.flatMap(({ about }) => about?.looksAt ?? []);
  const counts = new Map<string, number>();
  for (const { one } of looks) counts.set(one, (counts.get(one) ?? 0) + 1);
  const several = new Map(looks.map((look) => [look.one, look.several]));
  const kinds = [...counts].toSorted(([, first], [, second]) => second - first);
  return `Read ${kinds.map(([one, count]) => `${count} ${count === 1 ? one : several.get(one)}`).join(", ")}`;
}
