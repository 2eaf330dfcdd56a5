import { z } from "zod";
import { ask } from "./ask.ts";
import type { SearchProvider } from "./provider.ts";

const ENDPOINT = "https://api.tavily.com/search";
/** Results that the service gives at once. */
const MOST = 20;

const answer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().default("") })),
});

/** Tavily, with a key of its API. Format: https://docs.tavily.com/documentation/api-reference/endpoint/search */
export function tavilySearch({ key, endpoint = ENDPOINT }: { key: string; endpoint?: string }): SearchProvider {
  return {
    async search(query, { limit, signal }) {
      const address = new URL(endpoint);
      const headers = { authorization: `Bearer ${key}` };
      const body = { query, max_results: Math.min(limit, MOST), search_depth: "basic" };
      const { results } = await ask({ service: "Tavily", address, headers, body, signal }, answer);
      return results.slice(0, limit).map(({ title, url, content }) => ({ title, address: url, snippet: content }));
    },
  };
}
