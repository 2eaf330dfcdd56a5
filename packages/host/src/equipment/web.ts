import type { Tool } from "@banyan/core";
import type { Environment } from "@banyan/models";
import { WebError } from "@banyan/tools/web";
import type { Settings } from "../settings/index.ts";

/** The tools of the web, with a search where the settings name a service. */
export async function toolsOfTheWeb(
  { search }: Settings,
  env: Environment,
): Promise<{ readonly tools: readonly Tool[]; readonly notices: readonly string[] }> {
  const { searchProvider, webTools } = await import("@banyan/tools/web");
  if (!search) return { tools: webTools(), notices: [] };
  try {
    const { provider, url } = search;
    return {
      tools: webTools({ search: searchProvider(url === undefined ? { provider } : { provider, url }, env) }),
      notices: [],
    };
  } catch (error) {
    if (!(error instanceof WebError)) throw error;
    return { tools: webTools(), notices: [`There is no search of the web: ${error.message}`] };
  }
}
