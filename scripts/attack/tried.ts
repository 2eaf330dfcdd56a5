import type { Attack } from "./attack.ts";

export type Outcome =
  | { readonly type: "held" }
  | { readonly type: "broken"; readonly why: string }
  | { readonly type: "not-tried"; readonly why: string };

export interface Tried extends Pick<Attack, "rule" | "name"> {
  readonly outcome: Outcome;
}

/** Messages of the process that runs the attempts of a file. */
export type Report =
  | {
      readonly type: "found";
      readonly attacks: readonly (Pick<Attack, "rule" | "name"> & { readonly seconds: number })[];
    }
  | { readonly type: "begins"; readonly index: number }
  | { readonly type: "ended"; readonly index: number; readonly outcome: Outcome };
