// The only script of a page that was saved as a file which is not compressed: it puts the others and the answers in
// their places. What is kept compressed is a tenth as large.

/** @param {string} name */
function place(name) {
  const element = document.getElementById(name);
  if (!element) throw new Error(`the file has no #${name}`);
  return element;
}

async function unpack() {
  const packed = Uint8Array.from(atob(place("packed").textContent ?? ""), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const parts = /** @type {{answers: string, dygraphs: string, scripts: string}} */ (await new Response(stream).json());
  place("answers").textContent = parts.answers;
  for (const [type, text] of [
    ["text/javascript", parts.dygraphs],
    ["module", parts.scripts],
  ]) {
    const script = document.createElement("script");
    script.type = type ?? "";
    script.textContent = text ?? "";
    document.body.append(script);
  }
}

unpack().catch((error) => {
  place("view").textContent = `This file cannot be unpacked by this browser, or is not whole: ${error}`;
});
