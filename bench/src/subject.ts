import type { Lab, Measure, Sample } from "./measure.ts";

/** What the process of one subject is to do: its one argument, as JSON. */
export interface Assignment {
  readonly measure: string;
  readonly subject: string;
  readonly lab: Lab;
}

/** What it answers. */
export type Outcome = { readonly sample: Sample } | { readonly problem: string };

const { measure: name, subject, lab } = JSON.parse(process.argv[2] ?? "") as Assignment;
// Of the measures, only this one is loaded: what the others need is not to be in the memory of this process.
const [measure] = Object.values(await import(`./measures/${name}.ts`)) as [Measure];
const outcome: Outcome = await measure.run(subject, lab).then(
  (sample) => ({ sample }),
  (error: unknown) => ({ problem: String(error) }),
);
// Connections that are kept alive would hold the process.
process.send?.(outcome, () => process.exit());
