import { join } from "node:path";
import { builtProject } from "./built.ts";
import type { Places } from "./measure.ts";
import { COMMANDS, installed, isPeer } from "./peers.ts";

/** Built subjects by name, in the folder of the project that installed our packages. */
const BUILT: Places = {
  engine: "engine.js",
  "engine, SQLite": "engine-sqlite.js",
  "engine, provider-package": "engine-over-package.js",
  banyan: "node_modules/banyan/banyan.js",
};

/** Returns the peer of a subject, also of a combination: `engine, provider-package` needs `provider-package`. */
export function peerOf(subject: string) {
  return subject.split(", ").find(isPeer);
}

/** Builds our packages and installs the peers of the subjects. Returns failed installs with the reason, by peer. */
export async function placesFor(
  subjects: readonly string[],
): Promise<{ places: Places; missing: Map<string, string> }> {
  const places: Record<string, string> = {};
  const missing = new Map<string, string>();
  for (const peer of new Set(subjects.map(peerOf))) {
    if (peer === undefined) continue;
    try {
      const folder = await installed(peer);
      const place = COMMANDS.includes(peer) ? `node_modules/.bin/${peer}` : `clients/${peer}.js`;
      places[peer] = join(folder, place);
    } catch (error) {
      missing.set(peer, `It could not be installed. ${error instanceof Error ? error.message : error}`);
    }
  }
  const project = await builtProject();
  for (const [subject, file] of Object.entries(BUILT)) places[subject] = join(project, file);
  return { places, missing };
}
