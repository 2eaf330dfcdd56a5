import { modelServer } from "../../../packages/cli/src/testing/model-server.ts";
import type { Attack } from "../attack.ts";

// S12: no text of a model controls the terminal of its reader.

/** Sets the clipboard, clears the screen, changes colours, reverses text, and overwrites the line. */
const EVIL = "said\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m\u202ebla\u2066\rx";
const ACTS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u;

const looks: Readonly<Record<string, (id: string) => readonly string[]>> = {
  "the list of conversations": () => ["conversations", "list"],
  "a search": () => ["conversations", "search", "said"],
  "the text of a conversation": (id) => ["conversations", "show", id],
  "an export as Markdown": (id) => ["conversations", "export", id, "--format", "markdown"],
  "an export as HTML": (id) => ["conversations", "export", id, "--format", "html"],
  "an export as JSON": (id) => ["conversations", "export", id, "--format", "json"],
};

export const attacks: readonly Attack[] = Object.entries(looks).map(([name, argumentsFor]) => ({
  rule: "S12",
  name: `what controls a terminal, in ${name}`,
  async attempt(place) {
    await using model = await modelServer({ text: EVIL });
    await place.banyan(["-p", EVIL, "--model", "openai-compatible/test"], { env: model.env });
    const { stdout: list } = await place.banyan(["conversations", "list"]);
    const id = /^[0-9a-z]{20,}/m.exec(list)?.[0];
    if (id === undefined) throw new Error(`There is no conversation: ${list}`);
    const { stdout, stderr } = await place.banyan(argumentsFor(id));
    if (!stdout.includes("said")) throw new Error(`It was not shown: ${stdout}${stderr}`);
    return ACTS.test(stdout + stderr) ? "it stands there as it is" : undefined;
  },
}));
