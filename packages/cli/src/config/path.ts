import { existsSync } from "node:fs";
import { type ConfigurationOptions, projectOf, TrustRecord, userSettingsFile } from "@banyan/host";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";

/** Prints where settings and decisions are kept, or would be. */
export function path(place: ConfigurationOptions, write: (text: string) => void): void {
  const project = projectOf(".");
  const trust = new TrustRecord(place);
  const { state } = trust.trustOf(".");
  const theirs = state === "nothing" || state === "trusted" ? "" : "not used: the project is not trusted";
  const rows = [
    ["user", userSettingsFile(place), ""],
    ["project", project.settings, theirs],
    ["project", project.mcp, theirs],
    ["trust", trust.file, ""],
  ];
  const lines = table(
    rows.map(([what = "", file = "", note = ""]) => [what, oneLine(file), existsSync(file) ? note : "not there"]),
  );
  for (const line of lines) write(`${line}\n`);
}
