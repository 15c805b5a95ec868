// Reads hovers (a JSON array of Markdown) from standard input, and prints what a reader could follow
// or load in them: a JSON array of addresses. `marked` is the engine of VS Code's hovers.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { Marked } = createRequire(process.argv[2] + "/")("marked");
const marked = new Marked({ gfm: true, breaks: false });
const found = [];
for (const hover of JSON.parse(readFileSync(0, "utf8"))) {
  marked.walkTokens(marked.lexer(hover), (token) => {
    if (token.type === "link") found.push(token.href);
    if (token.type === "image") found.push("image:" + token.href);
    if (token.type === "html") found.push("html:" + token.raw);
    if (token.type === "def") found.push("definition:" + token.href);
  });
}
console.log(JSON.stringify(found));
