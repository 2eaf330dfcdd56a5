import type { Tool } from "@banyan/core";
import { type FetchToolOptions, fetchTool } from "./fetch.ts";
import type { SearchProvider } from "./search/providers.ts";
import { webSearchTool } from "./search/tool.ts";

export type { NetworkReach } from "./checked-lookup.ts";
export { WebError, type WebErrorCode } from "./error.ts";
export { type FetchToolOptions, fetchTool, type ReadPageOptions, readPage, type WebFetchOptions } from "./fetch.ts";
export { type ReadPictureOptions, readWebPicture, type WebPicture, WebPictures } from "./picture.ts";
export { isPublicAddress } from "./public-address.ts";
export type { SearchProvider, SearchResult } from "./search/providers.ts";
export { braveSearch, type SearchSettings, searchProvider, searxngSearch, tavilySearch } from "./search/providers.ts";
export { webSearchTool } from "./search/tool.ts";

/**
 * Options of `webTools`: the search provider, and how pages are fetched.
 * @example
 * new Agent({ model, tools: webTools({ search: searchProvider({ provider: "brave" }, process.env) }) });
 */
export interface WebToolsOptions extends FetchToolOptions {
  /** The search service; absent: no search tool. */
  readonly search?: SearchProvider;
}

/**
 * Returns the tools `fetch` and, with a search service, `web_search`.
 * @example new Agent({ model, tools: webTools() });
 */
export function webTools({ search, ...options }: WebToolsOptions = {}): readonly Tool[] {
  return [fetchTool(options), ...(search === undefined ? [] : [webSearchTool(search)])];
}
