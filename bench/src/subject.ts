import type { Lab } from "./measure.ts";
import { measures } from "./measures/index.ts";

/** What the process of one subject is to do: its one argument, as JSON. */
export interface Assignment {
  readonly measure: string;
  readonly subject: string;
  readonly lab: Lab;
}

const { measure: name, subject, lab } = JSON.parse(process.argv[2] ?? "") as Assignment;
const measure = measures.find((known) => known.name === name);
if (!measure) throw new Error(`There is no measure "${name}".`);
const sample = await measure.run(subject, lab);
// Connections that are kept alive would hold the process.
process.send?.(sample, () => process.exit());
