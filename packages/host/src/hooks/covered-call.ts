import { homedir } from "node:os";
import type { PermitRequest } from "@banyan/core";
import { writers } from "../permissions/foreign-rule.ts";
import { pathScope } from "../permissions/place.ts";
import { type Rule, restrained } from "../permissions/rule.ts";
import { subjectOf } from "../permissions/subject.ts";

/** A call that a hook may be for. */
export type HookedCall = Pick<PermitRequest, "tool" | "input">;

/** Whether the rule `if` of a hook covers a call, or may cover it: as a deny rule does. */
export function isCovered(rule: Rule, { tool, input }: HookedCall, directory: string): boolean {
  const isWriter = (name: string) => writers.some((writer) => writer === name);
  const subject = subjectOf(tool, input, { scope: pathScope(directory, homedir()), writes: false, isWriter });
  return restrained([rule]).some((one) => one.tool === "*" || subject.matches(one) !== "no");
}
