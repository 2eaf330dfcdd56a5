import { lstatSync } from "node:fs";

/** A name beside a place for what is put aside there; nothing has it yet. */
export function unusedName(place: string): string {
  for (let number = 1; ; number++) {
    const name = `${place}-put-aside${number === 1 ? "" : `-${number}`}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}
