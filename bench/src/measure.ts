/** Something that the lab measures of several subjects. */
export interface Measure {
  /** How it is asked for on the command line. */
  readonly name: string;
  /** One sentence: what is measured. */
  readonly what: string;
  /** In the order in which they are measured and shown. */
  readonly subjects: readonly string[];
  /** Those of the subjects that the others are compared with. */
  readonly bounds: readonly string[];
  readonly figures: readonly Figure[];
  /** How often each subject is measured, unless the command line says otherwise. */
  readonly rounds: number;
  /** Measures one subject, in a process that does nothing else. Answers a number for each figure. */
  run(subject: string, lab: Lab): Promise<Sample>;
}

/** One number of a measure. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
}

/** Numbers by the names of their figures. */
export type Sample = Readonly<Record<string, number>>;

/** What a subject finds around it. */
export interface Lab {
  /** The address of the mock provider, without a path. */
  readonly provider: string;
  /** The length of the conversation without end. */
  readonly turns: number;
}

/** CPU time of this process, in milliseconds: its own and what the system spent for it. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
