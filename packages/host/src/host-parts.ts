import type { AgentOptions, ModelDriver, Store } from "@banyan/core";
import type { LoopDriver } from "@banyan/core/drivers";
import type { Environment, ModelChoice } from "@banyan/models";
import type { Otlp } from "@banyan/telemetry/otlp";
import type { Drivers } from "./drivers/drivers.ts";
import type { Instructions } from "./instructions/instructions.ts";
import type { Rules } from "./permissions/rule.ts";
import type { Directories } from "./places/directories.ts";
import type { ProjectPlaces } from "./places/project.ts";
import type { ProgramLog } from "./programs/program-log.ts";
import type { Redact } from "./redaction/redactor.ts";
import type { Configuration } from "./settings/index.ts";
import type { Worktrees } from "./worktrees/worktrees.ts";

/** What a host is put together from. */
export interface HostParts {
  readonly places: Directories;
  /** Without links. */
  readonly workspace: string;
  /** A project that is trusted. */
  readonly project: ProjectPlaces | undefined;
  readonly env: Environment;
  readonly home: string;
  readonly canAsk: boolean;
  readonly configuration: Configuration;
  readonly rules: Rules;
  readonly redact: Redact;
  readonly log: ProgramLog;
  /** Tells OpenTelemetry of conversations, where that is wanted; the notices are there in any case. */
  readonly telemetry: Pick<Otlp, "notices"> & Partial<Otlp>;
  readonly instructions: Instructions;
  readonly choice: ModelChoice;
  readonly worktrees: Worktrees;
  readonly drivers: Drivers;
  /** What takes the turns where a conversation has nothing of its own. */
  readonly driver: ModelDriver | LoopDriver;
  /** What the result of a task must be. */
  readonly output: AgentOptions["output"];
  /** Where conversations are; in the data folder when absent. */
  readonly store: Store | undefined;
  /** The machine to which new conversations belong, where others share the store. */
  readonly machine: string | undefined;
  /** Hears what a user should know about a conversation that is opened. */
  notice(sentence: string): void;
}
