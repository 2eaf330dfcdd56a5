// Says so where a page of this server is asked for and nobody answers (W75). It keeps the one document that says it, which the
// page wrote in its language, and nothing of any conversation: what one has read is on no disk but the server's.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  // Frames, files and everything that is asked by the page itself go their way.
  if (event.request.mode !== "navigate" || event.request.destination !== "document") return;
  event.respondWith(fetch(event.request).catch(async () => (await caches.match("/offline")) ?? Response.error()));
});
