import { createRequire } from "node:module";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** A frame in either direction. */
export interface AcpFrame {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * Checks frames with the schema of the protocol's SDK: requests by their method, responses by their request. `unstable` is for
 * editors that announce capabilities beyond the stable protocol.
 */
export class AcpJudge {
  readonly #fitting: (what: string) => ValidateFunction | undefined;
  /** Open requests, by sender and id. */
  readonly #asked = new Map<string, string>();
  /** Descriptions of invalid frames. */
  readonly faults: string[] = [];

  constructor({ unstable = false }: { readonly unstable?: boolean } = {}) {
    this.#fitting = unstable ? ofUnstable() : ofStable();
  }

  /** Checks a frame of one side. */
  take(by: "editor" | "agent", frame: AcpFrame): void {
    const { id, method, params, result, error } = frame;
    const fault = (what: string) => this.faults.push(`${by}: ${what}: ${JSON.stringify(frame).slice(0, 500)}`);
    if (frame.jsonrpc !== "2.0") fault("no JSON-RPC");
    if (method !== undefined) {
      if (id !== undefined) this.#asked.set(`${by} ${id}`, method);
      // A custom method begins with an underscore and has its own schema.
      if (!method.startsWith("_")) this.#fits(`call ${method}`, params, fault);
      return;
    }
    const asked = `${by === "agent" ? "editor" : "agent"} ${id}`;
    const request = this.#asked.get(asked);
    this.#asked.delete(asked);
    if (error) {
      if (!Number.isInteger(error.code) || error.message === "") fault("an error without code or words");
    } else if (request === undefined) fault("an answer to nothing");
    else if (!request.startsWith("_")) this.#fits(`answer ${request}`, result ?? {}, fault);
  }

  #fits(what: string, value: unknown, fault: (what: string) => void): void {
    const fits = this.#fitting(what);
    if (!fits) return fault(`no ${what} in the protocol`);
    if (!fits(value)) fault(`${what} does not fit: ${JSON.stringify(fits.errors?.slice(0, 3))}`);
  }
}

/** The stable schema decides where it can, and the unstable one otherwise; `ofUnstable` is the reverse. */
const ofStable = once(() => fittingBy(["schema.unstable", "schema"]));
const ofUnstable = once(() => fittingBy(["schema", "schema.unstable"]));

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function fittingBy(names: readonly string[]): (what: string) => ValidateFunction | undefined {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const types = new Map<string, string>();
  for (const name of names) {
    const schema = createRequire(import.meta.url)(`@agentclientprotocol/sdk/schema/v1/${name}.json`);
    ajv.addSchema(schema, name);
    for (const [type, { "x-method": method }] of Object.entries<Record<string, string>>(schema.$defs)) {
      const kind = type.endsWith("Response") ? "answer" : "call";
      if (method !== undefined) types.set(`${kind} ${method}`, `${name}#/$defs/${type}`);
    }
  }
  return (what) => {
    const type = types.get(what);
    return type === undefined ? undefined : ajv.getSchema(type);
  };
}
