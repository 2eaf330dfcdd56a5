import type { Tool } from "@banyan/core";
import { type FetchOptions, fetchTool } from "./fetch.ts";
import type { SearchProvider } from "./search/providers.ts";
import { webSearchTool } from "./search/tool.ts";

export type { Reach } from "./checked-lookup.ts";
export { WebError, type WebErrorCode } from "./error.ts";
export { type FetchOptions, fetchTool, type ReadPageOptions, readPage } from "./fetch.ts";
export { type ReadPictureOptions, readPicture, type WebPicture, WebPictures } from "./picture.ts";
export { isPublicAddress } from "./public-address.ts";
export type { SearchProvider, SearchResult } from "./search/providers.ts";
export { braveSearch, type SearchSettings, searchProvider, searxngSearch, tavilySearch } from "./search/providers.ts";
export { webSearchTool } from "./search/tool.ts";

/**
 * Who searches, and how pages are got.
 * @example
 * new Agent({ model, tools: webTools({ search: searchProvider({ provider: "brave" }, process.env) }) });
 */
export interface WebToolsOptions extends FetchOptions {
  /** Without one there is no search. */
  readonly search?: SearchProvider;
}

/** The tools fetch and, with a search service, web_search. */
export function webTools({ search, ...options }: WebToolsOptions = {}): readonly Tool[] {
  return [fetchTool(options), ...(search === undefined ? [] : [webSearchTool(search)])];
}
