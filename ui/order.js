// The order in which names are listed: c2 before c10, and what is in trouble before what is not.

const collator = new Intl.Collator("en", {numeric: true});

/** @param {string} a @param {string} b */
export function natural(a, b) {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** "1 queue", "2 queues". @param {number} count @param {string} word */
export function counted(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/**
 * Rows as the server ranks them, the most troubled first, those with the same first state by name; or all by name.
 * @template T
 * @param {T[]} rows ranked by state @param {(row: T) => string} nameOf @param {(row: T) => string | undefined} stateOf
 * @param {boolean} byName
 */
export function ordered(rows, nameOf, stateOf, byName) {
  const ranks = [...new Set(rows.map(stateOf))];
  const rank = (/** @type {T} */ row) => (byName ? 0 : ranks.indexOf(stateOf(row)));
  return [...rows].sort((a, b) => rank(a) - rank(b) || natural(nameOf(a), nameOf(b)));
}

/**
 * A filter as a person types it: words that all must be there, "or" between two choices, -word for what must not be
 * there, and /REGEXP/.
 * @param {string} text
 * @returns {((subject: string) => boolean) | null} null: a regular expression that is none
 */
export function filterOf(text) {
  /** @type {((subject: string) => boolean)[][]} */
  const choices = [[]];
  for (const [word] of text.trim().matchAll(/-?\/(?:[^/\\]|\\.)+\/|\S+/g)) {
    const not = word.length > 1 && word.startsWith("-");
    const bare = not ? word.slice(1) : word;
    if (/^or$/i.test(bare)) {
      choices.push([]);
      continue;
    }
    const test =
      bare.length > 2 && bare.startsWith("/") && bare.endsWith("/") ? byPattern(bare.slice(1, -1)) : byText(bare);
    if (!test) return null;
    choices.at(-1)?.push(not ? (subject) => !test(subject) : test);
  }
  return (subject) => choices.some((all) => all.every((one) => one(subject)));
}

/** @param {string} word @returns {(subject: string) => boolean} */
function byText(word) {
  const wanted = word.toLowerCase();
  return (subject) => subject.toLowerCase().includes(wanted);
}

/** @param {string} pattern @returns {((subject: string) => boolean) | null} */
function byPattern(pattern) {
  try {
    const found = new RegExp(pattern, "i");
    return (subject) => found.test(subject);
  } catch {
    return null;
  }
}
