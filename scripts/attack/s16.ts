import { once } from "node:events";
import { modelServer, type ServerAnswer } from "../../packages/cli/src/testing/model-server.ts";
import { RemoteServer } from "../../packages/server/src/client/index.ts";
import { plantPrograms } from "../../packages/tools/src/workspace/planted.fixture.ts";
import type { Attack, Place } from "./attack.ts";

// S16: no program runs because of what lies in a folder that nobody trusts.

const WAYS = ["config", "gitdir", "commondir", "include"] as const;

const calls: NonNullable<ServerAnswer["calls"]> = [
  { tool: "list", input: { path: ".", depth: 5 } },
  { tool: "search", input: { pattern: "needle" } },
  { tool: "read", input: { path: "notes.md" } },
  { tool: "write", input: { path: "new.md", content: "new\n" } },
  { tool: "edit", input: { path: "notes.md", old_text: "needle", new_text: "thread" } },
];

const MODEL = ["--model", "openai-compatible/test"];

/** What a person or a guest does in the folder. */
const doings: Readonly<Record<string, (place: Place, env: Readonly<Record<string, string>>) => Promise<void>>> = {
  async "file.find at the server"(place, env) {
    const token = "a-token-of-an-attack";
    const server = place.start(["serve", "--port", "0", ...MODEL], { env: { ...env, BANYAN_TOKEN: token } });
    let said = "";
    server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    while (!said.includes("/?token=")) await once(server.stdout, "data");
    const [address = ""] = /http:\/\/[^/]*/.exec(said) ?? [];
    const remote = await RemoteServer.connect({ address, token, client: "an attack" });
    try {
      const { files } = await remote.ask("file.find", { query: "notes" });
      if (!files.includes("notes.md")) throw new Error(`The files were not found: ${files.join(", ")}`);
    } finally {
      remote.close();
    }
  },
  async "a run of all file tools"(place, env) {
    const run = await place.banyan(["-p", "go @notes.md @tools/", "--approval", "edits", ...MODEL], { env });
    if (run.code !== 0) throw new Error(`It ended with ${run.code}: ${run.stderr}`);
  },
  async "banyan changes"(place, env) {
    const run = await place.banyan(["-p", "go", "--approval", "edits", "--output", "json", ...MODEL], { env });
    const { conversation } = JSON.parse(run.stdout);
    const { stdout, stderr } = await place.banyan(["changes", conversation], { env });
    if (!`${stdout}${stderr}`.includes("new.md")) throw new Error(`There were no changes: ${stdout}${stderr}`);
  },
};

export const attacks: readonly Attack[] = Object.entries(doings).flatMap(([name, act]) =>
  WAYS.map((way) => ({
    rule: "S16" as const,
    name: `programs that a folder names in its settings of git (${way}) and in PATH, by ${name}`,
    async attempt(place: Place) {
      const planted = plantPrograms(place.folder, way);
      await using model = await modelServer({ calls }, { text: "done" });
      const acted = act(place, { ...model.env, PATH: planted.path });
      // What ran in the place of a program may have spoilt the rest, too: it is told first.
      await acted.catch(() => {});
      const ran = planted.ran();
      if (ran !== "") return `it ran: ${ran.slice(0, 300)}`;
      await acted;
      return undefined;
    },
  })),
);
