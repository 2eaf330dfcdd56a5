/** A measurement of several subjects. Its file in `measures/` has the measure's name. */
export interface Measure {
  /** The name on the command line. */
  readonly name: string;
  /** One sentence: what is measured. */
  readonly what: string;
  /** In the order of measuring and display. Subjects that need a peer are only measured with peers. */
  readonly subjects: readonly string[];
  /** Subjects that take long and are only measured if they are named. */
  readonly whenNamed?: readonly string[];
  /** Subjects with which the others are compared, each separately. */
  readonly bounds: readonly string[];
  /** Subjects of which the best is compared with the others, for each figure. */
  readonly rivals?: readonly string[];
  readonly figures: readonly Figure[];
  /** The goals. */
  readonly targets?: readonly Target[];
  /** The default number of rounds for each subject. */
  readonly rounds: number;
  /** Measures one subject in a process without other work. Returns a number for each figure of the subject. */
  run(subject: string, lab: Lab): Promise<Sample>;
}

/** One number of a measure. Lower is better where subjects are compared. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
}

/** The highest allowed figure of a subject: as a multiple of a bound's figure, or absolute without a bound. */
export interface Target {
  readonly figure: string;
  readonly subject: string;
  /** The name of a bound, or `best peer`. */
  readonly of?: string;
  readonly most: number;
}

/** Numbers by the names of their figures. */
export type Sample = Readonly<Record<string, number>>;

/** The surroundings of a subject. */
export interface Lab {
  /** The address of the mock provider, without a path. */
  readonly provider: string;
  /** The length of the endless conversation. */
  readonly turns: number;
  readonly places: Places;
  /** The format between clients and provider. Default: chat completions. */
  readonly format?: Format;
}

/** A wire format: OpenAI's chat completions, Anthropic's messages, Gemini's contents, or OpenAI's responses. */
export type Format = "chat" | "anthropic" | "gemini" | "responses";

/** Built or installed subjects by name: the client of a library, or the program of a command. */
export type Places = Readonly<Record<string, string>>;

/** Returns the CPU time of this process in milliseconds, user and system. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
