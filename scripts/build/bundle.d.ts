/** Where a bundle goes, and what it holds beside the package. */
export interface BundleOptions {
    /** `dist` of the package when absent. */
    readonly dist?: string;
    /** Whether something that `importer` imports by its name becomes part of the bundle; nothing does when absent. */
    readonly inlines?: (id: string, importer: string | undefined) => boolean;
    /** By which name something that stays an import is imported; by its own when absent. */
    readonly named?: (dependency: string) => string;
}
/**
 * Bundles the entries of the package in `folder` into `dist`, each into one module. What several of them need, and
 * what is loaded only when it is wanted (`await import("./...")`), becomes a module beside them. Dependencies and Node's
 * own modules stay imports. Answers what each entry exports. Throws when the bundler has anything to warn of.
 */
export declare function bundle(folder: string, entries: Readonly<Record<string, string>>, { dist, inlines, named }?: BundleOptions): Promise<ReadonlyMap<string, readonly string[]>>;
