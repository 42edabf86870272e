import "./base/tokens.css";
import "./base/reset.css";
import { mount } from "svelte";
import App from "./app/App.svelte";

const target = document.getElementById("app");
if (target !== null) mount(App, { target });

// A server's page is always as new as the server; a page of static files should also work without a network.
const isServed = document.querySelector('meta[name="parallax-server"]') !== null;
if (import.meta.env.PROD && import.meta.env.MODE !== "single" && !isServed && "serviceWorker" in navigator && location.protocol.startsWith("http")) {
  window.addEventListener("load", () => {
    // Private windows and embedded pages refuse; everything but "offline" works without.
    navigator.serviceWorker.register("./sw.js").catch(() => undefined);
  });
}
