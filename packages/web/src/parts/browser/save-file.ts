const KEPT_FOR = 60_000;

export function saveFile({
  name,
  mediaType,
  text,
}: {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string;
}): void {
  const address = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has started the download by then.
  setTimeout(() => URL.revokeObjectURL(address), KEPT_FOR);
}
