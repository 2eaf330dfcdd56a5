import { z } from "zod";

const YES_OR_NO = "true or false";
const SERVER = "the name of a program, or its whole path, and its arguments";
const ENDINGS = 'an object with languages by the ends of file names, as in {".oak":"oak"}';
/** The schema of the setting `languageServers`. */
export const languageServerSettings = z.strictObject(
  {
    enabled: z.boolean(YES_OR_NO).describe("Checks files after a change. Default: `true`.").optional(),
    servers: z
      .record(
        z.string().regex(/^[\w-]{1,32}$/, "a name of at most 32 letters, digits, _ and -"),
        z.strictObject(
          {
            enabled: z.boolean(YES_OR_NO).describe("`false` switches the server off.").optional(),
            command: z
              .array(z.string(SERVER).min(1, SERVER), SERVER)
              .min(1, SERVER)
              .describe("The program and its arguments. Default: the program that Banyan knows for the server's name.")
              .optional(),
            files: z
              .record(z.string().regex(/^\.\w+$/, ENDINGS), z.string(ENDINGS).min(1, ENDINGS), ENDINGS)
              .describe(
                "The language for each ending of file names. The server checks only files with these endings. Default: the endings that Banyan knows for the server's name.",
              )
              .optional(),
          },
          "an object with enabled, command or files",
        ),
        "an object with servers by their names",
      )
      .describe("Language servers to add to those that Banyan knows.")
      .optional(),
  },
  "an object with enabled or servers",
);

/** The schema of the setting `formatters`. */
export const formatterSettings = z.strictObject(
  { enabled: z.boolean(YES_OR_NO).describe("Formats files after a change. Default: `true`.").optional() },
  "an object with enabled",
);
