import { formatBytes } from "./amounts.ts";
import { oneLine } from "./plain-text.ts";

/** What became of what a person wrote: here, or on a server. */
export interface WrittenAbout {
  readonly attached: readonly { readonly name: string; readonly kind: string; readonly size: number }[];
  readonly problems: readonly string[];
  readonly isRedacted: boolean;
}

/** What a person is told before their message is sent: what goes along with its size, what does not, and why. */
export function attachedLines({ attached, problems, isRedacted }: WrittenAbout): string[] {
  const sizes = attached.map(({ name, kind, size }) => `${oneLine(name)} (${kind}, ${formatBytes(size)})`);
  return [
    ...(isRedacted ? ["What looks like a secret was taken out of your message."] : []),
    ...(sizes.length > 0 ? [`Attached: ${sizes.join(", ")}`] : []),
    ...problems.map(oneLine),
  ];
}
