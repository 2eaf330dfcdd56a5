import { homedir } from "node:os";
import { type Configuration, formatKey, readConfiguration, redactor } from "@banyan/host";
import { ownCommand } from "@banyan/host/own-command";
import { describeLayers, settingLines, withProjectTrust } from "../config/shown-settings.ts";
import { excerptLine, wrapSentence } from "../show/fit-text.ts";
import type { ConversationContext, OwnContext } from "./command.ts";

/** Prints the settings from the start of this program or, in a chat on a server, the user's own settings. */
export function showConfig(context: ConversationContext, key: string): void {
  if (context.own) showOwn(context, key, context.own);
  else showUsers(context, key);
}

function showOwn(context: ConversationContext, argument: string, { host }: OwnContext): void {
  const { env, home, project, configuration, redact } = host;
  writeSettings(context, argument, configuration, redact, [
    ...describeLayers(configuration, { env, home }, project),
    `These settings were read when this program started. /status shows the current settings. \`${ownCommand("config set")}\` changes a setting.`,
  ]);
}

function showUsers(context: ConversationContext, argument: string): void {
  const place = withProjectTrust({ env: process.env, home: homedir() });
  const configuration = readConfiguration(place);
  writeSettings(context, argument, configuration, redactor({ env: process.env }), [
    ...describeLayers(configuration, place, place.project),
    "These are your own settings. While you use a server, only your settings for keys, theme and notifications apply. /status shows the server's settings.",
  ]);
}

function writeSettings(
  { write, screen: { columns, style } }: ConversationContext,
  wanted: string,
  { entries }: Pick<Configuration, "entries">,
  redact: (text: string) => string,
  sentences: readonly string[],
): void {
  const shown = entries.filter(({ path }) => formatKey(path).startsWith(wanted));
  if (shown.length === 0) write(`No setting begins with ${excerptLine(wanted, 40)}.`);
  else {
    write(...settingLines(shown, redact, columns), "");
    for (const sentence of sentences) write(style.dim(wrapSentence(sentence, columns)));
  }
}
