import { type CompactionResult, type Cost, totalTokens, type Usage } from "@banyan/core/conversation";
import { formatCost, inEnglish, type Say } from "@banyan/core/shown";

/**
 * Formats a duration, such as `0.3 s`, `12.0 s` or `3 min 5 s`.
 * @example formatDuration(185_000) // "3 min 5 s"
 */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}

/**
 * Formats a duration in whole seconds, such as `4 s` or `3 min 5 s`.
 * @example formatSeconds(4_200) // "4 s"
 */
export function formatSeconds(milliseconds: number): string {
  return milliseconds < 59_500 ? `${Math.round(milliseconds / 1_000)} s` : formatDuration(milliseconds);
}

/**
 * Formats a duration for the end of a line, such as `, 1.2 s`. Empty below 50 ms.
 * @example formatTook(1_200) // ", 1.2 s"
 */
export function formatTook(milliseconds: number): string {
  return milliseconds < 50 ? "" : `, ${formatDuration(milliseconds)}`;
}

/**
 * Formats the effect of a compaction, in percent of the context, or in tokens for an unknown context size (F99).
 * @example compactedLine({ messages: 12, before: 90_000, after: 9_000, size: 100_000 })
 */
export function compactedLine({ messages, before, after, size }: CompactionResult, say: Say = inEnglish): string {
  const share = (tokens: number) => Math.round((tokens / (size || 1)) * 100);
  if (size)
    return say.count(
      messages,
      "Compacted {count} message: from {before} % to {after} % of the context",
      "Compacted {count} messages: from {before} % to {after} % of the context",
      { before: share(before), after: share(after) },
    );
  return say.count(
    messages,
    "Compacted {count} message: from about {before} to {after} tokens",
    "Compacted {count} messages: from about {before} to {after} tokens",
    { before, after },
  );
}

/**
 * Formats tokens as `1,200 (1,000 cached) tokens in, 5 out (3 reasoning)`. Empty for no tokens or unknown usage.
 * @example formatTokens({ input: 1_200, cached: 1_000, cacheWrite: 0, output: 5, reasoning: 3 })
 */
export function formatTokens(usage: Usage, say: Say = inEnglish): string {
  if (totalTokens(usage) === 0) return "";
  const { input, output, cached, reasoning } = usage;
  const sent =
    cached > 0 ? say("{input} ({cached} cached) tokens in", { input, cached }) : say("{input} tokens in", { input });
  const said =
    reasoning > 0
      ? say("{output} out ({reasoning} reasoning)", { output, reasoning })
      : say("{output} out", { output });
  return `${sent}, ${said}`;
}

/**
 * Formats tokens and cost of model calls. Empty for no tokens or unknown usage.
 * @example formatSpent({ input: 1_200, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 }, 0.0012)
 */
export function formatSpent(usage: Usage, cost: Cost, say: Say = inEnglish): string {
  const tokens = formatTokens(usage, say);
  return tokens === "" ? "" : `${tokens} · ${say("cost {cost}", { cost: formatCost(cost, say) })}`;
}

/**
 * Formats bytes in units of thousands, such as `820 B`, `3.4 kB` or `12 MB`.
 * @example formatBytes(3_400) // "3.4 kB"
 */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let [amount, unit] = [bytes / 1_000, 0];
  while (amount >= 999.5 && unit < units.length - 1) {
    amount /= 1_000;
    unit++;
  }
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${units[unit]}`;
}

/**
 * Formats a count as a short text, such as `812`, `3.4k`, `120k` or `1.2M`.
 * @example shortCount(120_000) // "120k"
 */
export function shortCount(count: number): string {
  if (count < 1_000) return String(count);
  const [amount, unit] = count < 999_500 ? [count / 1_000, "k"] : [count / 1_000_000, "M"];
  return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)}${unit}`;
}
