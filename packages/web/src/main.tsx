import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Page, PageProvider } from "./page.ts";
import { router } from "./routes.tsx";
import { applyTheme } from "./shell/preferences.ts";
import "./styles.css";

applyTheme();

const { protocol, host } = window.location;
const page = new Page(`${protocol === "https:" ? "wss" : "ws"}://${host}/api/v1/socket`);
const root = document.getElementById("page");
if (!root) throw new Error("index.html has no place for the page.");

createRoot(root).render(
  <StrictMode>
    <PageProvider value={page}>
      <RouterProvider router={router} />
    </PageProvider>
  </StrictMode>,
);
