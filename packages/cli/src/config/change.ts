import {
  type ConfigurationOptions,
  changeSetting,
  changeSettingByText,
  formatKey,
  projectOf,
  userSettingsFile,
} from "@banyan/host";
import type { ConfigArguments } from "../subcommands.ts";
import { keyIn } from "./key.ts";

/** Changes a setting, or takes it away, in the user's file or the project's. All else in the file is kept. */
export function change(
  place: ConfigurationOptions,
  args: Extract<ConfigArguments, { action: "set" | "unset" }>,
  write: (text: string) => void,
): void {
  const path = keyIn(args.key);
  const file = args.project ? projectOf(".").settings : userSettingsFile(place);
  const owner = args.project ? "project" : "user";
  if (args.action === "set") changeSettingByText(file, path, args.value, owner);
  else changeSetting(file, path, undefined, owner);
  write(`${formatKey(path)} is ${args.action === "set" ? "set" : "taken away"} in ${file}.\n`);
}
