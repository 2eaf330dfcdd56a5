import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The built page is next to the server in the package, or where this repository builds it. */
const PLACES = ["./page/", "../../web/dist/"];

/**
 * Returns the directory of the built page; `undefined` if it was not built.
 * @example console.log(builtPage() ?? "The page is not built: npm run build.");
 */
export function builtPage(): string | undefined {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return places.find((place) => existsSync(`${place}index.html`));
}
