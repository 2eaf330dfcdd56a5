import type { Cost, Usage } from "@banyan/core/conversation";

/** What is less than this is said to be so: four places behind the point would show it as nothing. */
const SMALLEST = 0.0001;

/** US dollars for people; a cost that is unknown is said to be so, never nothing. */
export function costInWords(cost: Cost): string {
  if (cost === undefined) return "unknown";
  if (cost === 0) return "$0";
  if (cost < SMALLEST) return `<$${SMALLEST}`;
  return `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

/** `12k`: a number of tokens, short. */
export function short(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${(count / 1_000).toFixed(count < 9_950 ? 1 : 0)}k`;
  return `${Number((count / 1_000_000).toFixed(1))}M`;
}

/** A time in seconds, for people. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  if (whole < 7_200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
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
