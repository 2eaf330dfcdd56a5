import { visibleLine } from "@banyan/core/shown";
import { type Host, settingAt } from "@banyan/host";
import manifest from "../../package.json" with { type: "json" };
import { oneLine } from "../show/plain-text.ts";
import { wrap } from "../show/wrap.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The first lines of a chat: what this is, where it works, with which model and why, and what is not as one may think. */
export function greet(terminal: Terminal, host: Host, notices: readonly string[]): void {
  const { style } = terminal;
  const say = (sentence: string) => terminal.write(`${wrap(sentence, terminal.columns)}\n`);
  const { name, reason } = host.model;
  say(`${style.bold(`banyan ${manifest.version}`)} in ${visibleLine(host.workspace)}`);
  say(style.dim(oneLine(reason)));
  if (name.startsWith("demo/")) say(style.warning("This is the offline demo: a few rules, not a language model."));
  if (host.approval === "edits") say(style.warning("Approval: files of this directory are changed without asking."));
  if (host.approval === "all") {
    const [layer] = settingAt(host.configuration, ["approval"])?.layers ?? [];
    const from = layer === "flags" ? "--approval all" : layer === "environment" ? "BANYAN_APPROVAL" : "the settings";
    const loud = `APPROVAL IS OFF (${from}): every call runs without asking. Use this in a sandbox only.`;
    say(style.bad(style.bold(loud)));
  }
  for (const notice of notices) say(style.warning(oneLine(notice)));
  say(style.dim("/help lists the commands; Ctrl-C interrupts."));
}
