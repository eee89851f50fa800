// The focus never falls to the document: where the element that had it is replaced, its successor gets it, and until
// there is one the view.

const textMax = 80;

/** What an element and its successor have in common. @param {Element} element */
function keyOf(element) {
  const text = element.getAttribute("aria-label") ?? element.textContent?.slice(0, textMax) ?? "";
  return {id: element.id, name: element.localName, text, seq: element.getAttribute("data-seq")};
}

/** @param {ReturnType<typeof keyOf>} key @returns {HTMLElement | undefined} */
function successor({id, name, text, seq}) {
  if (id) return document.getElementById(id) ?? undefined;
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll(name)]).find((one) => {
    const key = keyOf(one);
    return key.text === text && key.seq === seq && one.checkVisibility();
  });
}

/** @param {HTMLElement} view */
export function keepFocus(view) {
  /** @type {Element | undefined} */
  let last;
  /** @type {ReturnType<typeof keyOf> | undefined} */
  let key;
  let lent = false; // the view has it for one that may come
  document.addEventListener("focusin", ({target}) => {
    if (!(target instanceof Element) || (lent && target === view)) return;
    lent = false;
    last = target;
    key = keyOf(target);
  });
  new MutationObserver(() => {
    const active = document.activeElement;
    const lost = active === document.body && last && !last.isConnected;
    if (!key || !(lost || (lent && active === view))) return;
    const next = successor(key);
    lent = !next;
    if (next ?? lost) (next ?? view).focus({preventScroll: true});
  }).observe(document.body, {childList: true, subtree: true});
  // A dialog gives the focus back to what opened it, which may be gone.
  document.addEventListener(
    "close",
    () => {
      if (document.activeElement === document.body) view.focus({preventScroll: true});
    },
    {capture: true},
  );
}
