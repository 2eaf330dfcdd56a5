export type { ProgramLaunch } from "./find-program.ts";
export { SandboxError, type SandboxErrorCode } from "./messages.ts";
export {
  openSandbox,
  type Sandbox,
  type SandboxedProgram,
  type SandboxOpening,
  type SandboxOptions,
} from "./sandbox.ts";
