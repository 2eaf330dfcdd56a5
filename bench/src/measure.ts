/** Something that the lab measures of several subjects. Its file in `measures/` is named as it is. */
export interface Measure {
  /** How it is asked for on the command line. */
  readonly name: string;
  /** One sentence: what is measured. */
  readonly what: string;
  /** In the order in which they are measured and shown. Those that need a peer are measured where peers are. */
  readonly subjects: readonly string[];
  /** Those of the subjects that take so long that they are measured only when they are named. */
  readonly whenNamed?: readonly string[];
  /** Those of the subjects that the others are compared with, each by itself. */
  readonly bounds: readonly string[];
  /** Those of the subjects of which the best, figure by figure, is what the others are compared with. */
  readonly rivals?: readonly string[];
  readonly figures: readonly Figure[];
  /** Where we want to be. */
  readonly targets?: readonly Target[];
  /** How often each subject is measured, unless the command line says otherwise. */
  readonly rounds: number;
  /** Measures one subject, in a process that does nothing else. Answers a number for each figure that the subject has. */
  run(subject: string, lab: Lab): Promise<Sample>;
}

/** One number of a measure; less is better where subjects are compared. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
}

/** What a subject's figure is to be at most: as a multiple of a bound's, or, without one, by itself. */
export interface Target {
  readonly figure: string;
  readonly subject: string;
  /** A bound, or `best peer`. */
  readonly of?: string;
  readonly most: number;
}

/** Numbers by the names of their figures. */
export type Sample = Readonly<Record<string, number>>;

/** What a subject finds around it. */
export interface Lab {
  /** The address of the mock provider, without a path. */
  readonly provider: string;
  /** The length of the conversation without end. */
  readonly turns: number;
  readonly places: Places;
  /** Which format clients speak to the provider; that of chat completions without it. */
  readonly format?: Format;
}

/** A wire format: OpenAI's of chat completions, or Anthropic's of messages. */
export type Format = "chat" | "anthropic";

/** What was built or installed, by the names of the subjects: the client of a library, or the program of a command. */
export type Places = Readonly<Record<string, string>>;

/** CPU time of this process, in milliseconds: its own and what the system spent for it. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
