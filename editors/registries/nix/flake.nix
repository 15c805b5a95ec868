{
  description = "hiera-ls, language server and command-line checker for Hiera";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    hiera-ls = { url = "git+REPOSITORY?ref=refs/tags/v0.1.0"; flake = false; };
  };

  outputs = { nixpkgs, hiera-ls, ... }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "hiera-ls";
          version = "0.1.0";
          src = hiera-ls;
          cargoLock.lockFile = "${hiera-ls}/Cargo.lock";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The tests ask git and a control repository of the checkout.
          doCheck = false;
          postInstall = ''
            installShellCompletion --cmd hiera-ls \
              --bash <($out/bin/hiera-ls completions bash) \
              --zsh <($out/bin/hiera-ls completions zsh) \
              --fish <($out/bin/hiera-ls completions fish)
            $out/bin/hiera-ls man > hiera-ls.1 && installManPage hiera-ls.1
          '';
          meta = {
            description = "Language server and command-line checker for Hiera, the data of Puppet and OpenVox";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "hiera-ls";
          };
        };
      });
    };
}
