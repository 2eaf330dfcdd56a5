import type { Lab, Measure, Sample } from "./measure.ts";

/** The work of one subject's process: its only argument, as JSON. */
export interface Assignment {
  readonly measure: string;
  readonly subject: string;
  readonly lab: Lab;
}

/** The reply of the process. */
export type Outcome = { readonly sample: Sample } | { readonly problem: string };

const { measure: name, subject, lab } = JSON.parse(process.argv[2] ?? "") as Assignment;
// Load only this measure: the dependencies of others must not be in this process's memory.
const [measure] = Object.values(await import(`./measures/${name}.ts`)) as [Measure];
const outcome: Outcome = await measure.run(subject, lab).then(
  (sample) => ({ sample }),
  (error: unknown) => ({ problem: String(error) }),
);
// Keep-alive connections would keep the process running.
process.send?.(outcome, () => process.exit());
