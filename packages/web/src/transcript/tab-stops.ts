/** Elements that the Tab key may reach. */
const REACHED = "a[href], button, input, select, textarea, summary, [tabindex]";

/** A row of the transcript: a message, or a line that stands for folded ones. */
const ROW = "[data-index]";

/** Elements that Tab reaches however much the message holds: its actions. */
const ALWAYS = "[data-actions]";

/** Elements that wait for an answer. */
const CARD = "fieldset[tabindex], form";

/** Stops among the messages up to which all that the message in focus holds is reached with Tab. */
const MOST = 18;

/**
 * Keeps the way with the Tab key through the messages short, however many they are and whatever they hold (W92). Tab reaches the
 * message in focus with what it holds, the folded lines beside it, and the first card that waits. Of a message that holds too
 * much, it reaches what can be done about the message; Enter goes into it. Returns what ends this.
 */
export function keepTabStops(log: HTMLElement): () => void {
  let isTab = false;
  const ended = new AbortController();
  const { signal } = ended;
  window.addEventListener(
    "keydown",
    ({ key }) => {
      isTab = key === "Tab";
      // The browser has moved the focus then.
      if (isTab) setTimeout(() => (isTab = false));
    },
    { signal, capture: true },
  );
  const enter = (event: FocusEvent) => {
    const { target, relatedTarget } = event;
    const from = relatedTarget instanceof Node ? relatedTarget : null;
    if (!isTab || log.contains(from) || !(target instanceof HTMLElement)) return;
    const stops = messageStops(log);
    if (stops.includes(target)) return;
    // The message of the element would take itself for the one in focus.
    event.stopPropagation();
    const isBackward = from !== null && isBehind(log, from);
    (isBackward ? stops.at(-1) : stops[0])?.focus();
  };
  log.addEventListener("focusin", enter, { signal, capture: true });
  log.addEventListener("keydown", (event) => {
    const { key, target, shiftKey, altKey, ctrlKey, metaKey, defaultPrevented } = event;
    if (defaultPrevented || altKey || ctrlKey || metaKey || !(target instanceof HTMLElement)) return;
    if (key === "Enter" && target.matches("article")) tabStops(target)[0]?.focus();
    else if (key === "Tab") stopBeside(log, target, { isBackward: shiftKey })?.focus();
    else return;
    event.preventDefault();
  });
  return () => ended.abort();
}

/** The elements below one that the Tab key reaches by itself, in the order of the page. */
function tabStops(of: ParentNode): readonly HTMLElement[] {
  return [...of.querySelectorAll<HTMLElement>(REACHED)].filter(
    (element) =>
      element.tabIndex >= 0 && !element.matches(":disabled") && element.checkVisibility({ visibilityProperty: true }),
  );
}

/** The stops among the messages. */
function messageStops(log: HTMLElement): readonly HTMLElement[] {
  const row = log.querySelector('article[tabindex="0"]')?.closest(ROW);
  const near = row
    ? [...linesBeside(row, "previousElementSibling"), row, ...linesBeside(row, "nextElementSibling")]
    : [];
  const card = log.querySelector(CARD);
  const isOfAnother = (stop: Element) => {
    const own = stop.closest(CARD);
    return own !== null && own !== card && !own.contains(document.activeElement);
  };
  const stops = tabStops(log).filter(
    (stop) => (near.some((each) => each.contains(stop)) && !isOfAnother(stop)) || card?.contains(stop),
  );
  if (stops.length <= MOST) return stops;
  const isNeeded = (stop: Element) => stop.matches("article") || stop.closest(ALWAYS) || stop.closest(CARD);
  return stops.filter((stop) => isNeeded(stop) || !stop.closest("article"));
}

/** The rows beside a row that hold no message. */
function linesBeside(row: Element, side: "previousElementSibling" | "nextElementSibling"): readonly Element[] {
  const lines: Element[] = [];
  for (let at = row[side]; at && at.querySelector("article") === null; at = at[side]) lines.push(at);
  return lines;
}

/** Returns the next stop of Tab from an element of the messages; nothing if Tab leads out of them. */
function stopBeside(
  log: HTMLElement,
  target: HTMLElement,
  { isBackward }: { readonly isBackward: boolean },
): HTMLElement | undefined {
  const stops = messageStops(log);
  // Within a message that was entered, or a card that was clicked, all is reached.
  const group = target.closest(`${CARD}, article`);
  const within = stops.includes(target) || !group ? stops : tabStops(group);
  const beside = (all: readonly HTMLElement[]) =>
    isBackward ? all.findLast((stop) => isBehind(stop, target)) : all.find((stop) => isBehind(target, stop));
  return beside(within) ?? beside(stops) ?? beside(tabStops(document).filter((stop) => !log.contains(stop)));
}

/** Returns whether the second of two elements comes later in the page, or is within the first. */
function isBehind(first: Node, second: Node): boolean {
  return (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
