import { defineTool, type Tool } from "@banyan/core";
import { z } from "zod";
import { textMeta } from "../files/path-argument.ts";
import type { BackgroundCommands } from "./background.ts";

const LONGEST_WAIT = 600_000;
const LONGEST_INPUT = 30_000;

/** Returns the tool `processes {process?, from?, wait?, stop?}`: the output and the end of background commands. */
export function processesTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "processes",
    description: "Returns the new output and the state of a background command. Without `process`, lists all.",
    input: z.object({
      process: z.string().optional().describe("Its name, such as p1."),
      from: z.int().min(0).optional().describe("Position in the output, in characters."),
      wait: z.int().min(0).max(LONGEST_WAIT).optional().describe("Milliseconds to wait for more output or the end."),
      stop: z.boolean().optional().describe("Ends the command and its child processes."),
    }),
    effects: "idempotent",
    control: true,
    about: ({ process, stop = false }) => ({
      title: process === undefined ? "list of background commands" : stop ? `stop ${process}` : process,
    }),
    async execute({ process, from, wait, stop = false }, context) {
      if (!stop) await background.offerPorts(context);
      if (process === undefined) return background.list(context);
      return stop ? background.stop(process, context) : background.read(process, { from, wait }, context);
    },
  });
}

/** Returns the tool `process_input {process, typed, end?}`, which writes to a background command. */
export function processInputTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "process_input",
    description: "Writes to the input of a background command, and returns its immediate output.",
    input: z.object({
      process: z.string().describe("Its name."),
      typed: z.string().max(LONGEST_INPUT).meta(textMeta("Sent unchanged: end each line with a line feed.")),
      end: z.boolean().optional().describe("Closes the input afterwards."),
    }),
    effects: "external",
    about: ({ process }) => ({ title: `input for ${process}` }),
    execute: ({ process, typed, end = false }, context) => background.write(process, typed, end, context),
  });
}
