import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { counted, visibleLine } from "@banyan/core/shown";
import { type Host, type ProviderStatus, settingAt, TrustRecord } from "@banyan/host";
import manifest from "../../../package.json" with { type: "json" };
import { wrapSentence } from "../../show/fit-text.ts";
import { type DescribedName, nameLines } from "../../show/name-lines.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { approvalSentence } from "./approval-mode.ts";

/**
 * Shows a welcome at the first start: the models found, what runs without asking, and three things to try. Local model
 * servers get at most a second to answer, but the prompt does not wait for them (T40). If the user enters a line
 * earlier, the welcome comes at the next start.
 */
export async function welcome(terminal: Terminal, host: Host, hasBegun: () => boolean): Promise<void> {
  const marker = join(host.places.state, "welcomed");
  if (existsSync(marker)) return;
  const providers = await providersOf(host);
  if (hasBegun()) return;
  const { columns, style } = terminal;
  // If the demo is used because no model was found, the greeting has already said so.
  const rows: DescribedName[] = [
    ...(isStandIn(host) ? [] : [{ name: ["found"], text: foundKeysSentence(providers) }]),
    {
      name: ["model"],
      text: `${isStandIn(host) ? "" : `${plainLine(host.model.name)}. `}Change it with /model`,
    },
    { name: ["trust"], text: trustIn(host) },
    { name: ["asked"], text: askedFirst(host, terminal.live?.keyTable.length ? "Shift+Tab" : "/approval") },
    { name: ["try"], text: "what is in this folder?" },
    { name: [""], text: "@ and a file name in a message attach the file" },
    { name: [""], text: "/tree goes back to any message and starts a branch there" },
  ];
  terminal.write(`\n${wrapSentence(`${style.bold("Welcome!")} ${style.dim("(shown only this time)")}`, columns)}\n`);
  const look = { dim: (text: string) => text, accent: style.accent };
  for (const line of nameLines(rows, columns, look)) terminal.write(`${line}\n`);
  try {
    mkdirSync(host.places.state, { recursive: true, mode: 0o700 });
    writeFileSync(marker, "");
  } catch {}
}

/** Returns whether the demo is used for lack of a model: the settings name none. */
function isStandIn({ model, configuration }: Host): boolean {
  return model.name.startsWith("demo/") && configuration.settings.model === undefined;
}

/** Asks twice if the provider in use missed its time limit while the program was loading. */
async function providersOf(host: Host): Promise<readonly ProviderStatus[]> {
  await host.ready().catch(() => {});
  const providers = await host.listProviders();
  const isHeard = providers.some(({ name, usable }) => usable && host.model.name.startsWith(`${name}/`));
  return isHeard ? providers : host.listProviders();
}

function foundKeysSentence(providers: readonly ProviderStatus[]): string {
  const found = providers.filter(({ name, usable }) => usable && name !== "demo");
  if (found.length === 0) return "No API key is set, and no model server runs on this machine.";
  return found
    .map(({ name, reason, models }) => {
      const listed = models === undefined ? "" : ` (${counted(models.length, "model")})`;
      return `${name}${listed}: ${plainLine(reason)}`;
    })
    .join(" ");
}

function trustIn({ workspace }: Host): string {
  const { state } = new TrustRecord({ env: process.env, home: homedir() }).trustOf(workspace);
  switch (state) {
    case "nothing":
      return "This project has no settings and no AGENTS.md";
    case "trusted":
      return "This project's settings and instructions are used, as you agreed.";
    default:
      return "This project's settings and instructions are not used. --trust turns them on.";
  }
}

function askedFirst({ approval }: Host, changer: string): string {
  const what = {
    plan: "The agent reads freely, and does nothing else until you approve a plan.",
    ask: "The agent reads freely, and asks before edits and commands.",
    edits: "The agent reads and edits freely, and asks before commands.",
    sandbox: "The agent reads and edits freely, and runs commands in the sandbox without asking.",
    all: "The agent runs everything without asking.",
  }[approval];
  return `${what} ${changer} changes the mode.`;
}

/** Prints the first lines of a chat: version, folder, the model and why it was chosen, approval mode and notices. */
export function writeWelcome(terminal: Terminal, host: Host, notices: readonly string[]): void {
  const { style } = terminal;
  const say = (sentence: string) => terminal.write(`${wrapSentence(sentence, terminal.columns)}\n`);
  const { name, reason } = host.model;
  say(`${style.bold(`banyan ${manifest.version}`)} in ${visibleLine(host.workspace)}`);
  say(style.dim(plainLine(reason)));
  if (name.startsWith("demo/") && !isStandIn(host))
    say(style.warning("This is the offline demo: a few rules, not a language model."));
  if (host.approval === "plan") say(approvalSentence("plan"));
  if (host.approval === "edits" || host.approval === "sandbox") say(style.warning(approvalSentence(host.approval)));
  if (host.approval === "all") {
    const [layer] = settingAt(host.configuration, ["approval"])?.layers ?? [];
    const from = layer === "flags" ? "--approval all" : layer === "environment" ? "BANYAN_APPROVAL" : "the settings";
    const loud = `APPROVAL IS OFF (${from}): every call runs without asking. Use this mode in a sandbox only.`;
    say(style.bad(style.bold(loud)));
  }
  for (const notice of notices) say(style.warning(plainLine(notice)));
  say(style.dim("/help lists the commands; Ctrl-C interrupts."));
}

/**
 * Offers memory once (S26) in a chat of a user who has not decided yet. Memory stays off until the user agrees by a
 * command. The offer is not a question, so keys go to the prompt (T40).
 */
export function offerMemory(terminal: Terminal, host: Host): void {
  const marker = join(host.places.state, "memory-offered");
  const [layer] = settingAt(host.configuration, ["memory", "enabled"])?.layers ?? [];
  if ((layer !== undefined && layer !== "built-in") || existsSync(marker)) return;
  const offer = "Memory is off. /memory explains it, /memory agree turns it on.";
  terminal.write(`${wrapSentence(terminal.style.dim(offer), terminal.columns)}\n`);
  try {
    mkdirSync(host.places.state, { recursive: true, mode: 0o700 });
    writeFileSync(marker, "");
  } catch {}
}
