import { Suspense } from "react";
import { lazily } from "../shell/lazily.ts";
import type { Formula } from "./math.ts";

const Typeset = lazily(async () => ({ default: (await import("./typeset-formula.tsx")).TypesetFormula }));

/** A formula; until what sets it has come, and where it cannot be set, its source (W58). */
export function MathFormula(formula: Formula) {
  const source = <FormulaSource {...formula} />;
  return (
    <Suspense fallback={source}>
      <Typeset {...formula} source={source} />
    </Suspense>
  );
}

/** A formula as it was written. */
function FormulaSource({ tex, isDisplay }: Formula) {
  const look = "rounded bg-sunken px-1 font-mono text-[0.9em]";
  return isDisplay ? <code className={`block w-fit ${look}`}>{tex}</code> : <code className={look}>{tex}</code>;
}
