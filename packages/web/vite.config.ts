import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Built to plain files that the server sends: no inline script, so that its content security policy can forbid them.
export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "dist",
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: ["index.html", "sign-in.html"] },
  },
  // `npm run dev` beside a running `banyan serve`; /sign-in.html takes its token.
  server: { proxy: { "/api": { target: "http://127.0.0.1:4180", ws: true } } },
});
