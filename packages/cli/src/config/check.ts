import { counted } from "@banyan/core/shown";
import {
  type ConfigurationOptions,
  checkConfiguration,
  describeFault,
  directories,
  projectOf,
  readDefinitions,
} from "@banyan/host";
import { type ExitCode, exitCodes } from "../exit.ts";
import { oneLine } from "../show/plain-text.ts";

/**
 * Prints what is wrong in all layers, and in the files of agents, commands and skills; the project's too: it is read for
 * this, and nothing of it is used.
 */
export function check(place: ConfigurationOptions, write: (text: string) => void): ExitCode {
  const project = projectOf(".");
  const definitions = readDefinitions(directories(place.env, place.home), project);
  const faults = [...checkConfiguration({ ...place, project }), ...definitions.faults];
  for (const fault of faults) write(`${oneLine(describeFault(fault))}\n`);
  write(faults.length === 0 ? "The settings are right.\n" : `${counted(faults.length, "problem")}.\n`);
  return faults.length === 0 ? exitCodes.done : exitCodes.usage;
}
