import { z } from "zod";
import { ask } from "./ask.ts";
import type { SearchProvider } from "./provider.ts";

const answer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

/**
 * A SearXNG server, which asks other services in turn. Its settings must have `json` among `search.formats`; it answers
 * 403 otherwise. Format: https://docs.searxng.org/dev/search_api.html
 */
export function searxngSearch({ url }: { url: string }): SearchProvider {
  return {
    async search(query, { limit, signal }) {
      const address = new URL(url);
      address.pathname = `${address.pathname.replace(/\/+$/, "")}/search`;
      address.search = new URLSearchParams({ q: query, format: "json" }).toString();
      const { results } = await ask({ service: "SearXNG", address, signal }, answer);
      return results.slice(0, limit).map(({ title, url: found, content }) => ({
        title,
        address: found,
        snippet: content ?? "",
      }));
    },
  };
}
