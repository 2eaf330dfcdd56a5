/** Removes a workspace's programs from the search path, for programs that run outside of any sandbox (S16). */
export { findProgram, pathWithout } from "@banyan/tools/sandbox/find-program";
