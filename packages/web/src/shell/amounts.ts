import type { Cost, Usage } from "@banyan/core/conversation";

/** US dollars for people; a cost that is unknown is a dash, never nothing. */
export function costInWords(cost: Cost): string {
  if (cost === undefined) return "—";
  return cost === 0 ? "$0" : `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

/** `12.3k`: a number of tokens, short. */
export function short(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

/** Tokens by their kind. */
export function tokensInWords({ input, cached, output, reasoning }: Usage): string {
  const kinds = [
    `${short(input)} input`,
    `${short(cached)} cached`,
    `${short(output)} output`,
    `${short(reasoning)} reasoning`,
  ];
  return kinds.join(", ");
}
