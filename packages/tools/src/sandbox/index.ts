export { SandboxError, type SandboxErrorCode } from "./error.ts";
export type { Program } from "./program.ts";
export {
  openSandbox,
  type Sandbox,
  type SandboxedProgram,
  type SandboxOpening,
  type SandboxOptions,
} from "./sandbox.ts";
