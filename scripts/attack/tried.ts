import type { Attack } from "./attack.ts";

/** How an attempt ended. */
export type Outcome =
  | { readonly type: "held" }
  | { readonly type: "broken"; readonly why: string }
  | { readonly type: "not-tried"; readonly why: string };

/** An attack that was tried. */
export interface Tried extends Pick<Attack, "rule" | "name"> {
  readonly outcome: Outcome;
}

/** What the process that makes the attempts of a file tells. */
export type Report =
  | {
      readonly type: "found";
      readonly attacks: readonly (Pick<Attack, "rule" | "name"> & { readonly seconds: number })[];
    }
  | { readonly type: "begins"; readonly index: number }
  | { readonly type: "ended"; readonly index: number; readonly outcome: Outcome };
