import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/**
 * What the page loads first is one file: together it packs better, and asks less of a bad link. What signing in needs, too, stays
 * apart: that is a small page of its own.
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

// Built to plain files that the server sends: no inline script, so that its content security policy can forbid them.
export default defineConfig({
  plugins: [tailwindcss()],
  build: {
    outDir: "dist",
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      // Whether a module is meant for a browser or for a server makes no difference here.
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
  // `vite` beside a running `banyan serve`; /sign-in.html takes its token.
  server: {
    // The frame for what a model wrote is safe by its headers, which the server gives it.
    proxy: { "/api": { target: "http://127.0.0.1:4180", ws: true }, "/frame.html": "http://127.0.0.1:4180" },
  },
});
