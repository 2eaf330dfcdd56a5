import { z } from "zod";
import { ask } from "./ask.ts";
import type { SearchProvider } from "./provider.ts";

const ENDPOINT = "https://api.search.brave.com/res/v1/web/search";
/** Results that the service gives at once. */
const MOST = 20;

const answer = z.object({
  web: z
    .object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default("") })) })
    .optional(),
});

/** Brave Search, with a key of its API. Format: https://api-dashboard.search.brave.com/app/documentation/web-search */
export function braveSearch({ key, endpoint = ENDPOINT }: { key: string; endpoint?: string }): SearchProvider {
  return {
    async search(query, { limit, signal }) {
      const address = new URL(endpoint);
      address.search = new URLSearchParams({
        q: query,
        count: String(Math.min(limit, MOST)),
        // Without marks around the words that fit.
        text_decorations: "false",
      }).toString();
      const headers = { "x-subscription-token": key };
      const { web } = await ask({ service: "Brave Search", address, headers, signal }, answer);
      return (web?.results ?? []).slice(0, limit).map(({ title, url, description }) => ({
        title,
        address: url,
        snippet: description,
      }));
    },
  };
}
