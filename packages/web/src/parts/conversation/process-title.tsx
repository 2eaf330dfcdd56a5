import { visibleLine } from "@banyan/core/shown";

/** The addresses of a process's open ports, at the end of its title (S39). */
const OPEN_PORTS = /^(.*) \((http:\/\/127\.0\.0\.1:\d+(?:, http:\/\/127\.0\.0\.1:\d+)*)\)$/s;

/** Returns the words of a title and the addresses after them. On another machine, the addresses lead nowhere. */
export function titleParts(title: string, pageHost: string): { text: string; addresses: readonly string[] } {
  const isHere = pageHost === "localhost" || pageHost === "[::1]" || pageHost.startsWith("127.");
  const [, text = title, addresses] = (isHere && OPEN_PORTS.exec(title)) || [];
  return { text: visibleLine(text), addresses: addresses?.split(", ") ?? [] };
}

/** The title of a background process, with links to its open ports. */
export function ProcessTitle({ title }: { readonly title: string }) {
  const { text, addresses } = titleParts(title, location.hostname);
  return (
    <>
      {text}
      {addresses.map((address) => (
        <a key={address} href={address} target="_blank" rel="noopener noreferrer" className="ms-2 underline">
          {address}
        </a>
      ))}
    </>
  );
}
