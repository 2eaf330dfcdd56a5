import { lazy } from "react";

/** Milliseconds before each further try. */
const PAUSES = [250, 1_000, 2_000, 4_000];

/** A part of the page that is loaded when it is first shown. On a bad link it may take several tries until it has come. */
export const lazily: typeof lazy = (load) =>
  lazy(async () => {
    for (const pause of PAUSES) {
      try {
        return await load();
      } catch {
        // The connection was cut, as a rule; the last try tells what else it is.
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    return load();
  });
