import { total } from "./total.mjs";

/** `Total: 5.20 €`. */
export function receipt(basket) {
  return `Total: ${total(basket).toFixed(2)} €`;
}
