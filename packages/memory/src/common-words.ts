/**
 * The words of English that tell least about what a sentence is about. In a memory of some size, how many entries hold a
 * word tells the same, in every language (find.ts).
 */
export const COMMON: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be because been before being but by can could d did do does doing
  don down each even few for from get give go had has have having he her here hers him his how i if in into is it its just
  let like ll m make me more most my no nor not now of off on once only or other our out over own please re s same she
  should show so some such t tell than that the their them then there these they this those through to too under until up
  us ve very was we were what when where which while who whom why will with would yes you your`.split(/\s+/),
);
