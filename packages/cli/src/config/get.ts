import {
  type ConfigurationOptions,
  describeFault,
  type Entry,
  formatKey,
  readConfiguration,
  redactor,
  settingAt,
} from "@banyan/host";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ConfigArguments } from "../subcommands.ts";
import { keyIn } from "./key.ts";

/** Prints settings as they count, with the layers that they come from. Secrets in them are not shown. */
export function get(
  options: ConfigurationOptions,
  { key, output }: Extract<ConfigArguments, { action: "get" }>,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): void {
  const wanted = key === undefined ? undefined : keyIn(key);
  const configuration = readConfiguration(options);
  for (const fault of configuration.faults) warn(describeFault(fault));
  const one = wanted && settingAt(configuration, wanted);
  const entries = wanted ? (one ? [one] : []) : configuration.entries;
  const redact = redactor({ env: options.env });
  if (output === "json") {
    const found = entries.map(({ path, value, layers }) => ({ key: formatKey(path), value, layers }));
    write(`${redact(JSON.stringify(wanted ? (found[0] ?? null) : found, null, 2))}\n`);
  } else if (wanted && !one) write(`${formatKey(wanted)} is not set.\n`);
  else for (const line of table(entries.map((entry) => rowOf(entry, redact)))) write(`${line}\n`);
}

function rowOf({ path, value, layers }: Entry, redact: (text: string) => string): string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return [oneLine(formatKey(path)), layers.join(", "), oneLine(redact(text))];
}
