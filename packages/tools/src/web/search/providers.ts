import { refuseUnknown } from "@banyan/core/conversation";
import { z } from "zod";
import { WebError } from "../error.ts";
import { askSearchService } from "./ask.ts";

/** A page that a search service found. See {@link searxngSearch}. */
export interface SearchResult {
  readonly title: string;
  readonly address: string;
  /** The part of the page that fits the query. The text can be empty. */
  readonly snippet: string;
}

/**
 * A web search service. `search` returns at most `limit` results, best first; empty if nothing was found. Rejects with
 * a `WebError`, or with the signal's reason. The results are untrusted text. See {@link searxngSearch}.
 */
export interface SearchProvider {
  search(
    query: string,
    options: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly SearchResult[]>;
}

const MOST = 20;

const BRAVE = "https://api.search.brave.com/res/v1/web/search";
const braveAnswer = z.object({
  web: z
    .object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default("") })) })
    .optional(),
});

/**
 * Creates a search with Brave Search. Format: https://api-dashboard.search.brave.com/app/documentation/web-search
 * @example new Agent({ model, tools: webTools({ search: braveSearch({ key: process.env.BRAVE_API_KEY ?? "" }) }) });
 */
export function braveSearch(options: { key: string; endpoint?: string }): SearchProvider {
  refuseUnknown("braveSearch", options, { key: true, endpoint: true });
  const { key, endpoint = BRAVE } = options;
  return {
    async search(query, { limit, signal }) {
      const address = new URL(endpoint);
      address.search = new URLSearchParams({
        q: query,
        count: String(Math.min(limit, MOST)),
        text_decorations: "false",
      }).toString();
      const headers = { "x-subscription-token": key };
      const { web } = await askSearchService({ service: "Brave Search", address, headers, signal }, braveAnswer);
      return (web?.results ?? []).slice(0, limit).map(({ title, url, description }) => ({
        title,
        address: url,
        snippet: description,
      }));
    },
  };
}

const searxngAnswer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

/**
 * Creates a search with a SearXNG server, which queries other services. Its setting `search.formats` must contain
 * `json`; otherwise the server answers 403. Format: https://docs.searxng.org/dev/search_api.html
 * @example const results = await searxngSearch({ url: "http://127.0.0.1:8888" }).search("oak", { limit: 3, signal });
 */
export function searxngSearch(options: { url: string }): SearchProvider {
  refuseUnknown("searxngSearch", options, { url: true });
  const { url } = options;
  return {
    async search(query, { limit, signal }) {
      const address = new URL(url);
      address.pathname = `${address.pathname.replace(/\/+$/, "")}/search`;
      address.search = new URLSearchParams({ q: query, format: "json" }).toString();
      const { results } = await askSearchService({ service: "SearXNG", address, signal }, searxngAnswer);
      return results.slice(0, limit).map(({ title, url: found, content }) => ({
        title,
        address: found,
        snippet: content ?? "",
      }));
    },
  };
}

const TAVILY = "https://api.tavily.com/search";
const tavilyAnswer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().default("") })),
});

/**
 * Creates a search with Tavily and an API key. Format: https://docs.tavily.com/documentation/api-reference/endpoint/search
 * @example new Agent({ model, tools: [webSearchTool(tavilySearch({ key: process.env.TAVILY_API_KEY ?? "" }))] });
 */
export function tavilySearch(options: { key: string; endpoint?: string }): SearchProvider {
  refuseUnknown("tavilySearch", options, { key: true, endpoint: true });
  const { key, endpoint = TAVILY } = options;
  return {
    async search(query, { limit, signal }) {
      const address = new URL(endpoint);
      const headers = { authorization: `Bearer ${key}` };
      const body = { query, max_results: Math.min(limit, MOST), search_depth: "basic" };
      const { results } = await askSearchService({ service: "Tavily", address, headers, body, signal }, tavilyAnswer);
      return results.slice(0, limit).map(({ title, url, content }) => ({ title, address: url, snippet: content }));
    },
  };
}

/**
 * The choice of a search service.
 * @example
 * searchProvider({ provider: "searxng", url: "http://127.0.0.1:8888" }, process.env);
 */
export interface SearchSettings {
  /** `brave`, `tavily` or `searxng`. */
  readonly provider: string;
  /** The server's address. Required for `searxng`, because users run its server themselves. */
  readonly url?: string;
}

/**
 * Creates the search that the settings choose. Keys come from the environment: `BRAVE_API_KEY`, `TAVILY_API_KEY`.
 * Throws a `WebError` that names the missing setting.
 * @example const search = searchProvider({ provider: "tavily" }, process.env);
 */
export function searchProvider(
  options: SearchSettings,
  env: Readonly<Record<string, string | undefined>>,
): SearchProvider {
  refuseUnknown("searchProvider", options, { provider: true, url: true });
  const { provider, url } = options;
  const endpoint = url === undefined ? {} : { endpoint: url };
  switch (provider) {
    case "brave":
      return braveSearch({ key: requireKey(env, "BRAVE_API_KEY"), ...endpoint });
    case "tavily":
      return tavilySearch({ key: requireKey(env, "TAVILY_API_KEY"), ...endpoint });
    case "searxng":
      if (url !== undefined && URL.canParse(url)) return searxngSearch({ url });
      throw new WebError("settings", "A search with searxng needs the address of a server. Set search.url.");
    default:
      throw new WebError("settings", `There is no search service '${provider}'. Set brave, tavily or searxng.`);
  }
}

function requireKey(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const key = env[name]?.trim();
  if (key) return key;
  throw new WebError("settings", `Web search needs an API key. Set ${name}.`);
}
