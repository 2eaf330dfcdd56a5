import { WebError } from "./error.ts";

/** An address that may be fetched, from text; a relative one is seen from `base`. Throws a `WebError`. */
export function webAddress(text: string, base?: URL): URL {
  const address = URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (address === undefined)
    throw new WebError("address", `${text} is no address. Write it in full, as in https://example.org/page.`);
  if (address.protocol !== "http:" && address.protocol !== "https:")
    throw new WebError("address", `${address.protocol} addresses are not fetched, only http: and https:.`);
  if (address.username !== "" || address.password !== "")
    throw new WebError("address", "An address with a user name or password in it is not fetched. Leave them out.");
  return address;
}

/**
 * Where a redirect leads. Throws a `WebError` when that is no address to fetch, or would give up encryption that there
 * was.
 */
export function redirectTarget(from: URL, location: string): URL {
  const to = webAddress(location, from);
  if (from.protocol === "https:" && to.protocol === "http:")
    throw new WebError(
      "redirect",
      `${from.href} leads on to ${to.href}, which is not encrypted, and was not followed.`,
    );
  return to;
}

/** Whether who may go to one of them may go to the other: the same origin, or the same host encrypted. */
export function isSamePlace(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const haveUsualPorts = from.port === "" && to.port === "";
  return haveUsualPorts && from.hostname === to.hostname && to.protocol === "https:";
}
