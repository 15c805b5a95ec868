#!/bin/sh
# Drives Kakoune as a user works, through kakoune-lsp, with the shipped editors/kakoune/hiera.kak as its kakrc. The working directory is a copy of
# tests/control-repo; kak, kak-lsp and hiera-ls are on PATH. Exit status 0: everything held.
set -eu
folder=$(mktemp -d) # Short, as sockets lie in it.
session=hiera$$
mkdir -p "$folder/config/kak"
cp "$HIERA_LS_KAK" "$folder/config/kak/kakrc"
export XDG_CONFIG_HOME="$folder/config" XDG_RUNTIME_DIR="$folder" TMPDIR="$folder"
node=data/nodes/web-01.oslo.example.net.yaml
common=data/common.yaml

kak -ui dummy -s $session $node >/dev/null 2>"$folder/errors" &
kakoune=$!
trap 'kill $kakoune 2>/dev/null || true; cat "$folder/errors" >&2; rm -rf "$folder"' EXIT

# Runs commands in the client, as if they were typed.
run() { printf 'evaluate-commands -client client0 %%§ %s §\n' "$1" | kak -p $session 2>/dev/null || true; }
# Prints the text to which Kakoune expands its argument.
value() { run "echo -to-file $folder/value \"$1\"" && sleep 0.1 && cat "$folder/value" 2>/dev/null || true; }

# Repeats the commands until their output contains this text; the place is selected each time, as by a user who tries again.
shows() { # what, commands, how to look, text
  for _ in $(seq 200); do
    run "$2"
    sleep 0.2
    seen=$(eval "$3")
    case $seen in *"$4"*) echo "ok: $1" && return ;; esac
  done
  echo "never came: $1; seen: $seen" >&2
  exit 1
}
text() {
  rm -f "$folder/buffer"
  printf "evaluate-commands -buffer '%s' %%{ write -force %s }\n" "$1" "$folder/buffer" | kak -p $session 2>/dev/null || true
  sleep 0.1
  cat "$folder/buffer" 2>/dev/null || true
}
errors='value "%opt{lsp_diagnostic_error_count}"'

shows "the hover shows the value" "edit $node; select 3.5,3.5; lsp-hover-buffer" "text '*hover*'" "keepalive: 75"
shows "a token leads to its key" "edit $common; select 34.25,34.25; lsp-definition" 'value "%val{buffile}:%val{cursor_line}"' "$(grep -n '^profile::base::contact:' $common | sed "s|\([0-9]*\):.*|$common:\1|")"
line=$(grep -n "^chrony::servers" $common | cut -d: -f1)
run "edit $common; select $line.19,$line.19; execute-keys 'ipool<space><esc>'"
shows "a broken alias is an error" "nop" "$errors" 1
shows "which is listed" "edit $common; lsp-diagnostics" "text '*diagnostics*'" "$common:$line:24: error: \`alias\` is only permitted"
run "edit $common; execute-keys u"
shows "mending it ends it" "nop" "$errors" 0
echo 'kill!' | kak -p $session
wait $kakoune
trap 'rm -rf "$folder"' EXIT
echo "held: $(kak -version), $(kak-lsp --version)"
