/** For programs that a person asks for, outside of any sandbox: nothing of a workspace stands in their place (S16). */
export { pathWithout } from "@banyan/tools/sandbox/find-program";
