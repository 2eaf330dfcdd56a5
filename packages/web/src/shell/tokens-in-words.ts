import type { Usage } from "@banyan/core/conversation";
import { shortCount } from "@banyan/core/shown";

/** Tokens by their kind. */
export function tokensInWords({ input, cached, output, reasoning }: Usage): string {
  const kinds = [
    `${shortCount(input)} input`,
    `${shortCount(cached)} cached`,
    `${shortCount(output)} output`,
    `${shortCount(reasoning)} reasoning`,
  ];
  return kinds.join(", ");
}
