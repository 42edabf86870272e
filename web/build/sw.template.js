// Keeps the application usable without a network. Data is never kept here: only the files of the build and the list of samples.
const VERSION = __VERSION__;
const FILES = __FILES__;
const CACHE = `parallax-${VERSION}`;
const LISTING = "samples/index.json";

const here = (path) => new URL(path, self.registration.scope).href;
const shell = new Set(["", ...FILES].map((path) => here(path)));

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(CACHE).then(async (cache) => {
      await cache.addAll([...shell]);
      // Samples are optional: a copy without them must still install.
      await cache.add(here(LISTING)).catch(() => undefined);
      await self.skipWaiting();
    }),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys().then(async (names) => {
      await Promise.all(names.filter((name) => name.startsWith("parallax-") && name !== CACHE).map((name) => caches.delete(name)));
      await self.clients.claim();
    }),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("range")) return;
  const url = new URL(request.url);
  url.search = "";
  url.hash = "";
  if (request.mode === "navigate" && url.href === here("")) {
    event.respondWith(caches.open(CACHE).then(async (cache) => (await cache.match(here("index.html"))) ?? fetch(request)));
  } else if (shell.has(url.href)) {
    event.respondWith(caches.open(CACHE).then(async (cache) => (await cache.match(url.href)) ?? fetch(request)));
  } else if (url.href === here(LISTING)) {
    event.respondWith(
      fetch(request).catch(async () => (await (await caches.open(CACHE)).match(url.href)) ?? Response.json([])),
    );
  }
});
