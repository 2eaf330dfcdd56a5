/** One thing that was found. */
export interface SearchResult {
  readonly title: string;
  readonly address: string;
  /** What is said there that fits the query; may be empty. */
  readonly snippet: string;
}

/**
 * A service that searches the web. `search` answers at most `limit` results, the best first, and none when nothing was
 * found. It rejects with a `WebError`, or with the signal's reason. What it answers was written by strangers.
 */
export interface SearchProvider {
  search(
    query: string,
    options: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly SearchResult[]>;
}
