import { join } from "node:path";
import type { AlwaysOpenPorts } from "@banyan/tools/workspace";
import type { Directories } from "../places/directories.ts";
import { readJsonFile, replaceJsonFile } from "../settings/json-file.ts";
import { isPlainObject } from "../settings/key.ts";

/**
 * The ports that a user always opens, by the folder of their commands (S39). Commands cannot write the file of these
 * ports.
 */
export class OpenPorts implements AlwaysOpenPorts {
  readonly #file: string;

  constructor({ state }: Pick<Directories, "state">) {
    this.#file = join(state, "ports.json");
  }

  list(folder: string): readonly number[] {
    return this.#read().get(folder) ?? [];
  }

  has(folder: string, port: number): boolean {
    return this.list(folder).includes(port);
  }

  /** Throws a `SettingsError` if the file cannot be written. */
  add(folder: string, port: number): void {
    this.#write(folder, [...this.list(folder).filter((each) => each !== port), port]);
  }

  /** Returns false if the port was not kept. An open port stays open. Throws a `SettingsError` if the file cannot be written. */
  remove(folder: string, port: number): boolean {
    if (!this.has(folder, port)) return false;
    this.#write(
      folder,
      this.list(folder).filter((each) => each !== port),
    );
    return true;
  }

  #write(folder: string, ports: readonly number[]): void {
    const all = this.#read().set(folder, ports);
    replaceJsonFile(this.#file, Object.fromEntries([...all].filter(([, kept]) => kept.length > 0)));
  }

  /** A damaged file keeps no ports. */
  #read(): Map<string, readonly number[]> {
    const json = readJsonFile(this.#file);
    const entries = json.state === "read" && isPlainObject(json.value) ? Object.entries(json.value) : [];
    const isPort = (value: unknown): value is number => Number.isInteger(value);
    return new Map(entries.map(([folder, ports]) => [folder, Array.isArray(ports) ? ports.filter(isPort) : []]));
  }
}
