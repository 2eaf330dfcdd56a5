import { dirname } from "node:path";
import { writeToNamedPlaces } from "../../../packages/host/src/permissions/named-places.fixture.ts";
import type { Attack } from "../attack.ts";

// S35: for every spelling of a path, the written file is the file in the approval prompt and in the rule.

const PATHS = 500;

export const attacks: readonly Attack[] = [1, 2].map((part) => ({
  rule: "S35",
  name: `${PATHS / 2} paths, relative, with ~, $HOME, file:// and \\, to files inside and outside (${part})`,
  seconds: 300,
  async attempt(place) {
    const seed = Date.now() % 1_000_000;
    const { broken, asked, written, unasked } = await writeToNamedPlaces(dirname(place.home), PATHS / 2, seed);
    if (Math.min(asked, written, unasked) < PATHS / 16)
      throw new Error(`Too little was tried: ${asked} questions, ${written} files, ${unasked} of them unasked.`);
    return broken.length === 0 ? undefined : `seed ${seed}: ${broken.length}, as ${broken[0]}`;
  },
}));
