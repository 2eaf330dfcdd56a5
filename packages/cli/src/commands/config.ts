import { homedir } from "node:os";
import { type Configuration, formatKey, readConfiguration, redactor } from "@banyan/host";
import { ownCommand } from "@banyan/host/own-command";
import { asInChat, layerSentences, settingLines } from "../config/shown-settings.ts";
import { excerpt, wrap } from "../show/fit-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

const ABOUT = { name: "config", also: ["settings"], takes: "[key]", anytime: true } as const;

/** `banyan config`, as it was when this program began. */
export const config: Command = {
  ...ABOUT,
  help: "show the settings that hold, and from which file each comes",
  run(context, argument) {
    const { env, home, project, configuration, redact } = context.host;
    show(context, argument, configuration, redact, [
      ...layerSentences(configuration, { env, home }, project),
      `They are as this began with them: /status shows what holds now. \`${ownCommand("config set")}\` changes them.`,
    ]);
    return ASK;
  },
};

/** At a server, which has settings of its own. */
export const configHere: Command<ConversationContext> = {
  ...ABOUT,
  help: "show your own settings, and from which file each comes; the server has others",
  run(context, argument) {
    const place = asInChat({ env: process.env, home: homedir() });
    const configuration = readConfiguration(place);
    show(context, argument, configuration, redactor({ env: process.env }), [
      ...layerSentences(configuration, place, place.project),
      "They are your own. At a server your keys, theme and notifications hold; /status shows what holds of the server's.",
    ]);
    return ASK;
  },
};

function show(
  { columns, style, write }: ConversationContext,
  wanted: string,
  { entries }: Pick<Configuration, "entries">,
  redact: (text: string) => string,
  sentences: readonly string[],
): void {
  const shown = entries.filter(({ path }) => formatKey(path).startsWith(wanted));
  if (shown.length === 0) write(`Nothing that begins with ${excerpt(wanted, 40)} is set.`);
  else {
    write(...settingLines(shown, redact, columns), "");
    for (const sentence of sentences) write(style.dim(wrap(sentence, columns)));
  }
}
