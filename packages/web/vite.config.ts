import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/**
 * Puts everything that the page loads first into one file, which compresses better and needs fewer requests. Modules of the
 * sign-in page stay separate, because that is a small page of its own.
 */
function firstOfThePage(id: string, modules: Modules): string | undefined {
  return isOfSigningIn(id, modules) ? undefined : "first";
}

function isOfSigningIn(id: string, modules: Modules, seen = new Set<string>()): boolean {
  if (id.endsWith("/sign-in.html")) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return [...(modules.getModuleInfo(id)?.importers ?? [])].some((importer) => isOfSigningIn(importer, modules, seen));
}

interface Modules {
  getModuleInfo(id: string): { readonly importers: readonly string[] } | null;
}

// Builds plain files without inline scripts, so that the content security policy can forbid those.
export default defineConfig({
  plugins: [tailwindcss()],
  build: {
    outDir: "dist",
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      // The build ignores the mark that a module is for browsers or servers.
      checks: { moduleLevelDirective: false },
      input: ["index.html", "sign-in.html"],
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: firstOfThePage, debugName: "first", tags: ["$initial"] }],
        },
      },
    },
  },
  // Run `vite` next to `banyan serve`; /sign-in.html accepts the server's token.
  server: {
    // The frame for model content needs the headers that only the server sends.
    proxy: { "/api": { target: "http://127.0.0.1:4180", ws: true }, "/frame.html": "http://127.0.0.1:4180" },
  },
});
