/** Makes the first places of a ranking less far apart, as its authors propose. */
const K = 60;

/**
 * One score for each of what several rankings hold, best first, by reciprocal rank fusion (Cormack, Clarke and Büttcher,
 * SIGIR 2009): it needs no common scale for what they rank by.
 */
export function fuse(rankings: readonly (readonly number[])[]): Map<number, number> {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [place, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + place + 1));
  }
  return scores;
}
