import { join, resolve } from "node:path";
import type { EnvironmentVariables } from "@banyan/models";
import { expandHome } from "@banyan/tools/named-path";
import type { NetworkAccess } from "@banyan/tools/sandbox";
import type { Directories } from "../places/directories.ts";
import { changeSetting, type Settings, SettingsError } from "../settings/index.ts";
import { readOneSetting } from "../settings/layer.ts";
import type { Confinement } from "../worktrees/placed-tools.ts";
import { packageRegistries } from "./package-registries.ts";

/**
 * Opens the sandbox that the settings describe, if it is available (S9). Rejects if a required sandbox is missing. With
 * `again`, tests the sandbox now. Without `again`, uses the result of an earlier test; if there is none, the first
 * command tests the sandbox.
 */
export async function openConfinement({
  places,
  settings,
  workspace,
  env,
  home,
  network,
  hiddenIn,
  again = false,
}: {
  readonly places: Directories;
  readonly settings: Settings;
  readonly workspace: string;
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly network: NetworkAccess | undefined;
  /** Returns the paths in a folder that rules hide from programs (S42). */
  hiddenIn(folder: string): Promise<readonly string[]>;
  readonly again?: boolean;
}): Promise<Confinement> {
  const { enabled = "auto", writable, home: readable } = settings.sandbox ?? {};
  if (enabled === "off") return unconfined("Commands run without a sandbox, because your settings turn it off.", []);
  const { openSandbox } = await import("@banyan/tools/sandbox");
  const options = {
    root: workspace,
    env,
    home,
    ...(network && { network }),
    own: [places.config, places.data, places.state],
    trials: join(places.state, "sandbox.json"),
    hidden: () => hiddenIn(workspace),
    again,
    // The user's settings may forbid commands without a sandbox.
    exceptions: enabled === "require" ? (["network"] as const) : (["network", "outside"] as const),
    ...(readable ? { readable } : {}),
    ...(writable ? { writable } : {}),
  };
  const first = await openSandbox(options);
  // An earlier failure is no reason to refuse a start.
  const opening = first.available || enabled !== "require" ? first : await openSandbox({ ...options, again: true });
  if (opening.available) {
    const { sandbox } = opening;
    const places = new Intl.ListFormat("en-GB").format(["the workspace", ...sandbox.writable]);
    return {
      sandbox,
      get description() {
        const limits = `Commands run in a sandbox: they write only in ${places}, and reach only allowed network addresses.`;
        return sandbox.isShared === false ? `${limits} ${OWN_NETWORKS}` : limits;
      },
      notices: opening.notices,
      [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
    };
  }
  const { reason } = opening;
  if (enabled === "require") throw new Error(`${reason} The settings require a sandbox (sandbox.enabled).`);
  return unconfined(reason, [reason]);
}

const OWN_NETWORKS =
  "Each command has its own network, because this machine permits no shared network. A command cannot reach a server that another command runs.";

function unconfined(description: string, notices: readonly string[]): Confinement {
  return { sandbox: undefined, description, notices, [Symbol.asyncDispose]: async () => {} };
}

/**
 * Returns the addresses that commands can reach (S38). `file`: the user's settings, which store the addresses that the
 * user allowed in all conversations. Undefined if the settings turn the sandbox off.
 */
export async function networkAccess({
  settings: { sandbox = {} },
  network: named,
  file,
  workspace,
  home,
  env,
  canAsk,
}: {
  readonly settings: Settings;
  /** Addresses of a flag. */
  readonly network: readonly string[];
  readonly file: string;
  readonly workspace: string;
  readonly home: string;
  readonly env: EnvironmentVariables;
  readonly canAsk: boolean;
}): Promise<NetworkAccess | undefined> {
  const { enabled, network, writable = [] } = sandbox;
  if (enabled === "off") return undefined;
  const { NetworkAccess } = await import("@banyan/tools/sandbox");
  return new NetworkAccess({
    domains: [...(network?.allow ?? []), ...named],
    canAsk,
    advice: (address) => `The flag --network ${address} or the setting sandbox.network.allow allows the connection.`,
    registries: () =>
      packageRegistries({
        home,
        env,
        writable: [workspace, ...writable.map((folder) => resolve(workspace, expandHome(folder, home)))],
      }),
    keep: (address, isAllowed) => keepAddress(file, address, isAllowed),
  });
}

function keepAddress(file: string, address: string, isAllowed: boolean): void {
  const { settings, faults } = readOneSetting(file, "sandbox");
  if (faults[0]) throw new SettingsError(faults[0]);
  const others = (settings.sandbox?.network?.allow ?? []).filter((each) => each !== address);
  changeSetting(file, ["sandbox", "network", "allow"], isAllowed ? [...others, address] : others);
}
