import "./base/tokens.css";
import "./base/reset.css";
import { mount } from "svelte";
import App from "./app/App.svelte";

const target = document.getElementById("app");
if (target !== null) mount(App, { target });
