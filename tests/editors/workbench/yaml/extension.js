// Red Hat's yaml-language-server as Red Hat's extension starts it, which npm does not have: for every YAML file.
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

exports.activate = () => {
  const run = { module: process.env.YAML_LANGUAGE_SERVER, transport: TransportKind.ipc };
  const client = new LanguageClient("yaml", "YAML", { run, debug: run }, { documentSelector: [{ language: "yaml", scheme: "file" }] });
  return client.start();
};
