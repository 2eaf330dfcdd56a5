import { join } from "node:path";
import type { EnvironmentVariables } from "@banyan/models";
import type { Directories } from "../places/directories.ts";
import type { Settings } from "../settings/index.ts";
import type { Confinement } from "../worktrees/placed-tools.ts";

/**
 * Opens the sandbox of the settings, if available (S9). Rejects if a required sandbox is missing. With `again`, the
 * sandbox is tried now. Otherwise the result of an earlier trial counts, and the first command tries the sandbox.
 */
export async function openConfinement({
  places,
  settings,
  workspace,
  env,
  home,
  again = false,
}: {
  readonly places: Directories;
  readonly settings: Settings;
  readonly workspace: string;
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly again?: boolean;
}): Promise<Confinement> {
  const { enabled = "auto", network, writable, home: readable } = settings.sandbox ?? {};
  if (enabled === "off") return unconfined("Commands run without a sandbox, because your settings turn it off.", []);
  const { openSandbox } = await import("@banyan/tools/sandbox");
  const options = {
    root: workspace,
    env,
    home,
    network: { allow: network?.allow ?? [] },
    own: [places.config, places.data, places.state],
    trials: join(places.state, "sandbox.json"),
    again,
    ...(readable ? { readable } : {}),
    ...(writable ? { writable } : {}),
  };
  const first = await openSandbox(options);
  // An earlier failure is no reason to refuse a start.
  const opening = first.available || enabled !== "require" ? first : await openSandbox({ ...options, again: true });
  if (opening.available) {
    const { sandbox } = opening;
    const reach = sandbox.domains.length === 0 ? "no network" : `network to ${sandbox.domains.join(", ")}`;
    return {
      sandbox,
      description: `Commands run in a sandbox: they can write only in the workspace, with ${reach}.`,
      notices: opening.notices,
      [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
    };
  }
  const { reason } = opening;
  if (enabled === "require") throw new Error(`${reason} The settings require a sandbox (sandbox.enabled).`);
  return unconfined(reason, [reason]);
}

function unconfined(description: string, notices: readonly string[]): Confinement {
  return { sandbox: undefined, description, notices, [Symbol.asyncDispose]: async () => {} };
}
