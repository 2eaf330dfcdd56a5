import type { Tool } from "@banyan/core";
import type { EnvironmentVariables } from "@banyan/models";
import { WebError, type WebToolsOptions } from "@banyan/tools/web";
import type { Settings } from "../settings/index.ts";

/**
 * Returns the tool `fetch`, and the search tool if the settings have a search service. `loopbackOf`: access to servers
 * that commands run.
 */
export async function toolsOfTheWeb(
  {
    settings: { search },
    env,
    whyNotFetched: whyNot,
  }: {
    readonly settings: Pick<Settings, "search">;
    readonly env: EnvironmentVariables;
    whyNotFetched(address: URL, from: URL): string | undefined;
  },
  loopbackOf: WebToolsOptions["loopbackOf"],
): Promise<{
  readonly tools: readonly Tool[];
  readonly notices: readonly string[];
}> {
  const { searchProvider, webTools } = await import("@banyan/tools/web");
  if (!search) return { tools: webTools({ whyNot, loopbackOf }), notices: [] };
  try {
    const { provider, url } = search;
    return {
      tools: webTools({
        whyNot,
        loopbackOf,
        search: searchProvider(url === undefined ? { provider } : { provider, url }, env),
      }),
      notices: [],
    };
  } catch (error) {
    if (!(error instanceof WebError)) throw error;
    return { tools: webTools({ whyNot, loopbackOf }), notices: [`Web search is off: ${error.message}`] };
  }
}
