// Shows the offline document when the page is opened and the server does not answer (W75). The page writes the document in its
// language. Nothing else is stored, so that conversations are only on the server's disk.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  // Requests for frames, files and data pass through.
  if (event.request.mode !== "navigate" || event.request.destination !== "document") return;
  event.respondWith(fetch(event.request).catch(async () => (await caches.match("/offline")) ?? Response.error()));
});
