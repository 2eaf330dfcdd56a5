import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, shell } from "../../../packages/cli/src/testing/model-server.ts";
import { PLANTED, planted } from "../../../packages/cli/src/testing/planted.ts";
import type { Attack, Place } from "../attack.ts";

// S17: a log contains facts, never permissions. The attacker hands over a conversation so that its model runs a command.

const ways: Readonly<Record<string, (place: Place, file: string) => Promise<void>>> = {
  "that is imported": (place, file) => imported(place, file, place.env),
  "that is imported beside one of its own name": async (place, file) => {
    await imported(place, file, place.env);
    await imported(place, file, place.env);
  },
  "that is imported, exported and imported": async (place, file) => {
    await imported(place, file, place.env);
    const { stdout } = await place.banyan(["conversations", "export", PLANTED, "--format", "json"]);
    await place.banyan(["conversations", "remove", PLANTED, "--yes"]);
    writeFileSync(file, stdout);
    await imported(place, file, place.env);
  },
  "whose file is copied among others": async (place, file) => {
    await place.banyan(["-p", "hello", "--model", "demo/offline"], { cwd: place.home });
    await copied(place, file);
  },
  "whose file is the first there is": copied,
};

const steps: Readonly<Record<string, readonly string[]>> = {
  "and gone on with": ["--continue"],
  "and gone on with, edits being free": ["--continue", "--approval", "edits"],
};

export const attacks: readonly Attack[] = Object.entries(ways).flatMap(([way, arrive]) =>
  Object.entries(steps).map(([step, args]) => ({
    rule: "S17" as const,
    name: `a conversation ${way}, ${step}`,
    async attempt(place: Place) {
      const marker = join(place.folder, "marker");
      const file = join(place.home, "theirs.json");
      writeFileSync(file, planted(place.folder, `touch ${marker}`));
      await arrive(place, file);
      await using model = await modelServer(shell(`touch ${marker}`), { text: "done" });
      const { stderr } = await place.banyan(["-p", "go on", "--model", "openai-compatible/test", ...args], {
        env: model.env,
      });
      if (model.asked.length === 0) throw new Error(`The model was not asked: ${stderr}`);
      if (!JSON.stringify(model.asked).includes("Tidy up")) throw new Error("The conversation was not gone on with.");
      return existsSync(marker) ? "the planted command ran" : undefined;
    },
  })),
);

async function imported(place: Place, file: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { code, stderr } = await place.banyan(["conversations", "import", file], { env });
  if (code !== 0) throw new Error(`Not imported: ${stderr}`);
}

/** Copies a file that a program of another user wrote, without the marks of an import. */
async function copied(place: Place, file: string): Promise<void> {
  const theirs = join(place.home, "theirs");
  await imported(place, file, { BANYAN_HOME: theirs });
  const name = join("data", "conversations", `${PLANTED}.sqlite`);
  mkdirSync(join(place.home, ".banyan", "data", "conversations"), { recursive: true });
  unmark(join(theirs, name));
  copyFileSync(join(theirs, name), join(place.home, ".banyan", name));
  rmSync(join(place.home, ".banyan", "data", "catalogue.sqlite"), { force: true });
}

/** Removes the events that the import added after the log. */
function unmark(file: string): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(file);
  const last = database.prepare("SELECT max(seq) AS seq FROM events WHERE type = 'input.queued'").get();
  database.prepare("DELETE FROM events WHERE seq > ?").run(Number(last?.seq));
  database.close();
}
