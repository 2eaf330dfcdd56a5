export type { ProgramLaunch } from "./find-program.ts";
export type { SharedLoopback } from "./loopback.ts";
export { SandboxError, type SandboxErrorCode, type SandboxException } from "./messages.ts";
export {
  type AllowedAddress,
  type ConnectionAsker,
  NetworkAccess,
  type NetworkAccessOptions,
  type NetworkAddress,
  type WrapOptions,
} from "./network-access.ts";
export type { SandboxedProgram } from "./running-sandbox.ts";
export { openSandbox, type Sandbox, type SandboxOpening, type SandboxOptions } from "./sandbox.ts";
