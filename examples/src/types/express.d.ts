/** The part of Express that the example uses: its types are a package of their own. */
declare module "express" {
  import type { RequestListener, Server } from "node:http";

  interface Application {
    use(path: string, listener: RequestListener): void;
    listen(port: number, hostname: string): Server;
  }
  // biome-ignore lint/style/noDefaultExport: Express has a default export.
  export default function express(): Application;
}
