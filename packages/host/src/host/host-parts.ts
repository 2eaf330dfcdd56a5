import type { AgentOptions, ModelDriver, Store } from "@banyan/core";
import type { LoopDriver } from "@banyan/core/drivers";
import type { EnvironmentVariables, ModelChoice } from "@banyan/models";
import type { Otlp } from "@banyan/telemetry/otlp";
import type { Drivers } from "../drivers/drivers.ts";
import type { Instructions } from "../instructions/instructions.ts";
import type { Rules } from "../permissions/rule.ts";
import type { Directories } from "../places/directories.ts";
import type { ProjectPaths } from "../places/project.ts";
import type { ProgramLog } from "../programs/program-log.ts";
import type { Redact } from "../redaction/redactor.ts";
import type { Configuration } from "../settings/index.ts";
import type { Worktrees } from "../worktrees/worktrees.ts";

/** The parts from which a host is made. */
export interface HostParts {
  readonly places: Directories;
  /** The path without links. */
  readonly workspace: string;
  /** The paths of the project, if the project is trusted. */
  readonly project: ProjectPaths | undefined;
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly canAsk: boolean;
  readonly configuration: Configuration;
  readonly rules: Rules;
  readonly redact: Redact;
  readonly log: ProgramLog;
  /** Telemetry, if enabled. Notices are always present. */
  readonly telemetry: Pick<Otlp, "notices"> & Partial<Otlp>;
  readonly instructions: Instructions;
  readonly choice: ModelChoice;
  readonly worktrees: Worktrees;
  readonly drivers: Drivers;
  /** The model or agent of conversations that have no model of their own. */
  readonly driver: ModelDriver | LoopDriver;
  /** The required shape of a task's result. */
  readonly output: AgentOptions["output"];
  /** The store of conversations. Default: SQLite files in the data folder. */
  readonly store: Store | undefined;
  /** The machine of new conversations, for a store that several machines share. */
  readonly machine: string | undefined;
  /** Addresses that commands in the sandbox may reach, from a command-line flag. */
  readonly network: readonly string[];
  /** Called with warnings for the user about an opened conversation. */
  notice(sentence: string): void;
}
