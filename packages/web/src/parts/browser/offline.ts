import { language, t } from "../phrases/phrases.ts";

const KEPT = "banyan-offline";

/**
 * Makes the browser show a translated sentence when the page is opened and its server does not answer (W75). Stores
 * only this sentence in the browser. Stores no conversation, and none of the page's files, because the browser caches
 * these files itself.
 */
export async function installOfflinePage(): Promise<void> {
  if (!("serviceWorker" in navigator) || !("caches" in window)) return;
  const kept = await caches.open(KEPT);
  await kept.put("/offline", new Response(offlineDocument(), { headers: HEADERS }));
  await navigator.serviceWorker.register("/service-worker.js");
}

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
};

function offlineDocument(): string {
  const head = t("Banyan can't be reached");
  const what = t(
    "Your conversations are on the Banyan server, which does not respond. Start the server or check your connection.",
  );
  const side = document.documentElement.dir;
  return `<!doctype html>
<html lang="${language}" dir="${side}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Banyan</title>
<style>body{font:1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:20vh auto;padding:0 1.5rem}h1{font-size:1.5rem}a{color:inherit}</style>
<h1>${head}</h1>
<p>${what}</p>
<p><a href="">${t("Try again")}</a></p>
</html>`;
}
