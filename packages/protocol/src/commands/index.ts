import { z } from "zod";
import { id } from "../shapes/shapes.ts";
import { answerCommands } from "./answers.ts";
import { branchCommands } from "./branches.ts";
import type { CommandDefinition } from "./command.ts";
import { conversationCommands } from "./conversations.ts";
import { feedCommands } from "./feed.ts";
import { fileCommands } from "./files.ts";
import { noteCommands } from "./notes.ts";
import { settingsCommands } from "./settings.ts";
import { shareCommands } from "./shares.ts";
import { turnCommands } from "./turns.ts";

/**
 * All commands by name.
 * @example for (const [name, { does }] of Object.entries(commands)) console.log(name, does);
 */
export const commands = {
  ...conversationCommands,
  ...feedCommands,
  ...turnCommands,
  ...branchCommands,
  ...answerCommands,
  ...noteCommands,
  ...settingsCommands,
  ...fileCommands,
  ...shareCommands,
} as const;

type Commands = typeof commands;

/** Name of a command: the `type` of its frame. See {@link rightFor}. */
export type CommandName = keyof Commands;

/** The frame of a command, as the client sends it. See {@link commandSchema}. */
export type Command<Name extends CommandName = CommandName> = {
  readonly [Each in Name]: {
    readonly type: Each;
    readonly id: string;
  } & Readonly<z.infer<z.ZodObject<Commands[Each]["input"]>>>;
}[Name];

/** The result of a command. See {@link Client}. */
export type Result<Name extends CommandName = CommandName> = z.infer<Commands[Name]["result"]>;

/** Made when needed: a program uses few of its commands. */
const schemas = new Map<string, z.ZodType>();

/**
 * Returns the schema of a command's frame. Returns nothing for an unknown name.
 * @example const command = commandSchema("turn.say")?.parse(JSON.parse(await readFile("command.json", "utf8")));
 */
export function commandSchema(type: string): z.ZodType<Command> | undefined {
  if (!schemas.has(type) && Object.hasOwn(commands, type)) {
    const { input }: CommandDefinition = commands[type as CommandName];
    const ofCommand = id.describe("The client chooses the id. Commands with the same id take effect only once.");
    schemas.set(type, z.object({ type: z.literal(type), id: ofCommand, ...input }));
  }
  return schemas.get(type) as z.ZodType<Command> | undefined;
}
