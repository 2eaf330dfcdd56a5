import type { Json, ModelSettings } from "@banyan/core";
import { isJsonRecord } from "@banyan/core/shown";
import type { ResponsesProvider } from "./provider.ts";

type JsonObject = Readonly<Record<string, Json>>;

/** The tools that a provider runs itself, as one request has them. */
export interface HostedTools {
  /** Fields of the request. */
  readonly fields: readonly JsonObject[];
  /** Map from the user's names of tools to their kinds, such as `web_search`. */
  readonly kinds: ReadonlyMap<string, string>;
  /** Map from the kinds of tools to the user's names. */
  readonly names: ReadonlyMap<string, string>;
  /** True if the provider runs commands in a container of its own. */
  readonly hasContainer: boolean;
}

/** Encodes the server tools of a provider. Their arguments have the form of the provider's AI SDK package. */
export function hostedTools({ serverTools = [] }: ModelSettings, provider: ResponsesProvider): HostedTools {
  const own = serverTools.flatMap(({ id, name, args = {} }) =>
    id.startsWith(`${provider}.`) ? [{ kind: id.slice(provider.length + 1), name, args }] : [],
  );
  const encode = provider === "xai" ? xaiTool : openAITool;
  return {
    fields: own.map(({ kind, name, args }) => encode(kind, name, args)),
    kinds: new Map(own.map(({ kind, name }) => [name, kind])),
    names: new Map(own.map(({ kind, name }) => [kind, name])),
    hasContainer: own.some(
      ({ kind, args: { environment } }) =>
        kind === "shell" && isJsonRecord(environment) && /^container/.test(String(environment.type)),
    ),
  };
}

function xaiTool(kind: string, _name: string, args: JsonObject): JsonObject {
  return { type: kind === "code_execution" ? "code_interpreter" : kind, ...snakeKeys(args) };
}

function openAITool(kind: string, name: string, args: JsonObject): JsonObject {
  const { ranking, container, ...others } = args;
  const fields = snakeKeys(others);
  switch (kind) {
    case "file_search":
      return { type: kind, ...fields, ...(ranking === undefined ? {} : { ranking_options: snakeCase(ranking) }) };
    case "code_interpreter":
      return {
        type: kind,
        ...fields,
        container: typeof container === "string" ? container : { type: "auto", ...snakeKeys(container) },
      };
    case "mcp":
      return { type: kind, require_approval: "never", ...fields };
    case "custom":
      return { type: kind, name, ...fields };
    default:
      return { type: kind, ...fields };
  }
}

/** Keys whose values have names of users, not of the format. */
const OPAQUE: ReadonlySet<string> = new Set(["headers", "parameters", "metadata", "schema", "env"]);

/** Converts the names of fields, at any depth, from the form of the AI SDK's packages to that of the API. */
export function snakeCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(snakeCase);
  return isJsonRecord<JsonObject>(value) ? snakeKeys(value) : value;
}

function snakeKeys(fields: Json | undefined): JsonObject {
  if (!isJsonRecord<JsonObject>(fields)) return {};
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]): [string, Json] => {
      // A kind of environment or skill is a name of the format too.
      if (key === "type" && typeof value === "string") return [key, snakeName(value)];
      if (key === "providerReference" && isJsonRecord<JsonObject>(value)) return ["skill_id", value.openai ?? null];
      return [snakeName(key), OPAQUE.has(key) ? value : snakeCase(value)];
    }),
  );
}

export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
