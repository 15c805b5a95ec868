class HieraLs < Formula
  desc "Language server and command-line checker for Hiera, the data of Puppet"
  homepage "REPOSITORY"
  url "REPOSITORY/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"hiera-ls", "completions", shells: [:bash, :zsh, :fish])
    (buildpath/"hiera-ls.1").write Utils.safe_popen_read(bin/"hiera-ls", "man")
    man1.install "hiera-ls.1"
  end

  test do
    (testpath/"hiera.yaml").write <<~YAML
      version: 5
      hierarchy:
        - {name: Common, path: common.yaml}
    YAML
    (testpath/"data").mkpath
    (testpath/"data/common.yaml").write "motd: hello\n"
    assert_match "hello", shell_output("#{bin}/hiera-ls lookup motd")
  end
end
