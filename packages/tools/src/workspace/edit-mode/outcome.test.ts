import { isAppliedReport } from "@banyan/core/shown";
import { expect, test } from "vitest";
import type { FileOutcome } from "./apply.ts";
import { appliedOutcome } from "./outcome.ts";

const written = (before?: number): FileOutcome =>
  ({ type: "written", path: "a.ts", blocks: 2, before, after: 3 }) as never;

test("clients recognise a report that names only file changes, and no other report", () => {
  for (const outcomes of [[written()], [written(1)], [written(1), written()]])
    expect(isAppliedReport(appliedOutcome(outcomes).say ?? "")).toBe(true);
  const others = [
    { type: "unchanged", path: "b.ts" },
    { type: "untouched", path: "b.ts" },
    { type: "refused", path: "b.ts", why: "the file has changed" },
  ] as FileOutcome[];
  for (const other of others) expect(isAppliedReport(appliedOutcome([written(1), other]).say ?? "")).toBe(false);
});
