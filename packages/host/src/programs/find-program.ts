/** For programs that the user runs outside of any sandbox: excludes programs in a workspace from the search path (S16). */
export { pathWithout } from "@banyan/tools/sandbox/find-program";
