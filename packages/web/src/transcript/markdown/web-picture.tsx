import { errorMessage } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { createContext, useContext, useEffect, useRef, useState } from "react";
import { Button } from "../../parts/design/button.tsx";
import { type Page, usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";

export interface NamedPicture {
  readonly src: string;
  readonly alt: string;
  readonly title: string;
}

/** True inside a link, which cannot contain a button. */
export const InsideLink = createContext(false);

/**
 * Shows an image reference in an answer (W59, S12). A model could send data to a host by an image address, so the image
 * loads only on a click. Users without the right to act see the address as text; others get a button that names the
 * host.
 */
export function WebPicture(picture: NamedPicture) {
  const may = useMay();
  const isInside = useContext(InsideLink);
  const address = may("picture.read") ? pictureAddress(picture.src) : undefined;
  if (!address) return <span className="text-soft">{pictureText(picture)}</span>;
  if (isInside) return pictureLabel(picture);
  return <Offered key={address.href} picture={picture} address={address} />;
}

/** Returns the URL if the server may load it: a full HTTP address without credentials. */
function pictureAddress(src: string): URL | undefined {
  if (src.length > LONGEST || !/^https?:\/\//i.test(src) || !URL.canParse(src)) return undefined;
  const address = new URL(src);
  return address.username === "" && address.password === "" ? address : undefined;
}

const LONGEST = 8_000;

function pictureLabel({ alt, title }: NamedPicture): string {
  return `${alt || t("no description")}${title ? ` “${title}”` : ""}`;
}

function pictureText(named: NamedPicture): string {
  const [picture, { src }] = [pictureLabel(named), named];
  return src === "" ? t("[image: {picture}]", { picture }) : t("[image: {picture} at {src}]", { picture, src });
}

interface LoadedPicture {
  readonly address: URL;
  readonly data: string;
  readonly width: number;
  readonly height: number;
}

type State =
  | { readonly is: "offered" | "asked" }
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "shown"; readonly shown: LoadedPicture };

const MOST_KEPT = 12;

/** The images that the user loaded, for the life of the page: a message that scrolls back keeps its images. */
const kept = new WeakMap<Page, Map<string, LoadedPicture>>();

function keptOf(page: Page): Map<string, LoadedPicture> {
  const all = kept.get(page) ?? new Map<string, LoadedPicture>();
  kept.set(page, all);
  return all;
}

/** Loads an image through the server, and decodes it before it is shown, so that its size is known at once (W54). */
async function loadPicture(page: Page, address: URL): Promise<State> {
  const known = keptOf(page).get(address.href);
  if (known) return { is: "shown", shown: known };
  try {
    const { picture, refused } = await page.connection.ask("picture.read", { url: address.href });
    if (!picture) return { is: "refused", why: refused ? pictureRefusal(address, refused) : NO_PICTURE };
    const image = new Image();
    image.src = `data:${picture.mediaType};base64,${picture.data}`;
    const isWhole = await image.decode().then(
      () => true,
      () => false,
    );
    if (!isWhole) return { is: "refused", why: NO_PICTURE };
    const { src: data, naturalWidth: width, naturalHeight: height } = image;
    const shown = { address: new URL(picture.address), data, width, height };
    const all = keptOf(page).set(address.href, shown);
    if (all.size > MOST_KEPT) all.delete(all.keys().next().value as string);
    return { is: "shown", shown };
  } catch (error) {
    return { is: "refused", why: errorMessage(error) };
  }
}

const NO_PICTURE = t("This is not an image that can be shown (PNG, JPEG, GIF, WebP).");

function pictureRefusal({ host }: URL, { why, message }: NonNullable<Result<"picture.read">["refused"]>): string {
  switch (why) {
    case "missing":
      return t("There is no image at this address.");
    case "status":
      return t("{host} refused the request.", { host });
    case "content":
      return NO_PICTURE;
    case "size":
      return t("The image is too large. The limit is 5 MB and 50 million pixels.");
    case "forbidden":
      return t("The image is on a private network, so it is not loaded.");
    case "rule":
      return t("A permission rule for fetch blocks this image.");
    case "redirect":
      return t("{host} redirects to an address that is not allowed.", { host });
    case "time":
      return t("{host} took too long to respond.", { host });
    case "network":
      return t("{host} cannot be reached.", { host });
    default:
      // A reason from a newer server.
      return message;
  }
}

function Offered({ picture, address }: { readonly picture: NamedPicture; readonly address: URL }) {
  const page = usePage();
  const group = useRef<HTMLSpanElement>(null);
  const [state, setState] = useState<State>(() => {
    const shown = keptOf(page).get(address.href);
    return shown ? { is: "shown", shown } : { is: "offered" };
  });
  const hadFocus = useRef(false);
  const show = async () => {
    if (state.is === "asked") return;
    setState({ is: "asked" });
    const come = await loadPicture(page, address);
    // The button disappears: its focus moves to the image.
    hadFocus.current = come.is === "shown" && group.current?.contains(document.activeElement) === true;
    setState(come);
  };
  useEffect(() => {
    if (state.is === "shown" && hadFocus.current) group.current?.focus();
  }, [state]);
  const { host } = address;
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a paragraph can contain no other element with this role. */}
      <span
        ref={group}
        tabIndex={-1}
        role="group"
        aria-label={t("Image from {host}", { host })}
        className={`my-1 inline-flex max-w-full flex-col items-start gap-1 align-top text-sm ${state.is === "shown" ? "" : "rounded-lg border border-hair px-2.5 py-1.5 print:hidden"}`}
      >
        {state.is === "shown" ? (
          <ShownPicture picture={picture} shown={state.shown} />
        ) : (
          <>
            <span className="text-soft">{pictureLabel(picture)}</span>
            <Address of={address} />
            <span className="max-w-full">
              <Button isSmall onClick={show}>
                <span className="min-w-0 [overflow-wrap:anywhere]">{buttonName(state, host)}</span>
              </Button>
              <span role="status" className="ms-2">
                {state.is === "refused" && state.why}
              </span>
            </span>
          </>
        )}
      </span>
      <span className="hidden text-soft print:inline">{pictureText(picture)}</span>
    </>
  );
}

function buttonName({ is }: State, host: string): string {
  if (is === "asked") return t("Loading from {host} …", { host });
  return is === "refused" ? t("Try again") : t("Show image from {host}", { host });
}

function ShownPicture({ picture, shown }: { readonly picture: NamedPicture; readonly shown: LoadedPicture }) {
  const { data, width, height, address } = shown;
  return (
    <>
      <img
        src={data}
        alt={picture.alt}
        title={picture.title || undefined}
        width={width}
        height={height}
        style={{ width: `min(${width}px, calc(24rem * ${width / height}))`, aspectRatio: `${width} / ${height}` }}
        className="h-auto max-w-full rounded-lg outline outline-hair -outline-offset-1"
      />
      <span className="max-w-full text-soft text-xs print:hidden">
        {t("From {host}", { host: address.host })} <Address of={address} />
      </span>
    </>
  );
}

const BEGINNING = 60;
const END = 24;

function Address({ of: { href } }: { readonly of: URL }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = href.length > BEGINNING + END + 1;
  const words = isLong && !isWhole ? `${href.slice(0, BEGINNING)}…${href.slice(-END)}` : href;
  return (
    <span className="flex max-w-full flex-wrap items-center gap-x-2">
      <bdi dir="ltr" title={href} className="min-w-0 break-all font-mono text-soft text-xs">
        {words}
      </bdi>
      {isLong && (
        <Button isSmall look="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {t("Full address ({count} characters)", { count: href.length })}
        </Button>
      )}
    </span>
  );
}
