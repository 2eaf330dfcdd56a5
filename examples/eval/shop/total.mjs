import { readFileSync } from "node:fs";

const prices = JSON.parse(readFileSync(new URL("prices.json", import.meta.url), "utf8"));

/** Euros for a basket such as `{ apple: 2 }`. */
export function total(basket) {
  return Object.entries(basket).reduce((sum, [name, count]) => sum + count * prices[name], 0);
}
