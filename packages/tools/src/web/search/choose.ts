import { WebError } from "../error.ts";
import { braveSearch } from "./brave.ts";
import type { SearchProvider } from "./provider.ts";
import { searxngSearch } from "./searxng.ts";
import { tavilySearch } from "./tavily.ts";

/** Who searches. */
export interface SearchSettings {
  /** `brave`, `tavily` or `searxng`. */
  readonly provider: string;
  /** Where; needed for `searxng` only, which is a server of the user's choice. */
  readonly url?: string;
}

/**
 * The search service that the settings name. Keys come from the environment: `BRAVE_API_KEY`, `TAVILY_API_KEY`. Throws a
 * `WebError` that says what is missing.
 */
export function searchProvider(
  { provider, url }: SearchSettings,
  env: Readonly<Record<string, string | undefined>>,
): SearchProvider {
  const endpoint = url === undefined ? {} : { endpoint: url };
  switch (provider) {
    case "brave":
      return braveSearch({ key: keyIn(env, "BRAVE_API_KEY"), ...endpoint });
    case "tavily":
      return tavilySearch({ key: keyIn(env, "TAVILY_API_KEY"), ...endpoint });
    case "searxng":
      if (url !== undefined && URL.canParse(url)) return searxngSearch({ url });
      throw new WebError("settings", "The search by searxng needs the address of a server. Set search.url.");
    default:
      throw new WebError("settings", `There is no search service '${provider}'. Set brave, tavily or searxng.`);
  }
}

function keyIn(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const key = env[name]?.trim();
  if (key) return key;
  throw new WebError("settings", `The search needs a key. Set ${name}.`);
}
