// What the injected grammars do to files of YAML: `node scopes.mjs FOLDER GRAMMARS FILE...`, the packages in FOLDER/node_modules, VS Code's YAML
// grammars in FOLDER/package/resources, ours in the folder GRAMMARS.
//
// Prints each token that a scope of ours covers, as `FILE:LINE:COLUMN "text" scopes`. Ends with status 1 where the scopes of YAML's own grammar
// are not the same with ours injected.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, own, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(folder, "x"));
const { INITIAL, parseRawGrammar, Registry } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

await oniguruma.loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const onigLib = Promise.resolve({
  createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
  createOnigString: (text) => new oniguruma.OnigString(text),
});
const grammars = (at) => fs.readdirSync(at).filter((file) => file.endsWith(".tmLanguage.json")).map((file) => path.join(at, file));
const read = (file) => parseRawGrammar(fs.readFileSync(file, "utf8"), file);
const injected = grammars(own).map(read);
const all = new Map([...grammars(path.join(folder, "package/resources")).map(read), ...injected].map((grammar) => [grammar.scopeName, grammar]));

const registry = (injections) => {
  const loadGrammar = async (name) => all.get(name) ?? null;
  const getInjections = (name) => (name === "source.yaml" ? injections : []);
  return new Registry({ onigLib, loadGrammar, getInjections }).loadGrammar("source.yaml");
};
const [bare, full] = await Promise.all([registry([]), registry(injected.map((grammar) => grammar.scopeName))]);
const isOurs = (scope) => /\.(hiera|eyaml)$/.test(scope);

/** The scopes that YAML's own grammar gives each character of a line. */
function ofYaml(line, tokens) {
  const each = tokens.map(({ startIndex, endIndex, scopes }) => Array(endIndex - startIndex).fill(scopes.filter((scope) => !isOurs(scope)).join(" ")));
  // The last token may or may not hold the line's end.
  return each.flat().slice(0, line.length);
}

let differs = 0;
for (const file of files) {
  let [before, state] = [INITIAL, INITIAL];
  for (const [number, line] of fs.readFileSync(file, "utf8").split(/\r?\n/).entries()) {
    const [without, withOurs] = [bare.tokenizeLine(line, before), full.tokenizeLine(line, state)];
    [before, state] = [without.ruleStack, withOurs.ruleStack];
    const [own, under] = [ofYaml(line, without.tokens), ofYaml(line, withOurs.tokens)];
    const at = own.findIndex((scopes, column) => scopes !== under[column]);
    if (at >= 0) {
      differs += 1;
      console.error(`${file}:${number + 1}:${at + 1}: YAML's scopes differ: ${line}\n  without ${own[at]}\n  with    ${under[at]}`);
    }
    for (const { startIndex, endIndex, scopes } of withOurs.tokens) {
      const ours = scopes.filter(isOurs);
      // The last token of a line holds its end, too.
      const text = line.slice(startIndex, Math.min(endIndex, line.length));
      if (ours.length > 0) console.log(`${path.basename(file)}:${number + 1}:${startIndex + 1} ${JSON.stringify(text)} ${ours.join(" ")}`);
    }
  }
}
process.exitCode = differs > 0 ? 1 : 0;
