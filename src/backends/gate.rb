# frozen_string_literal: true

# Holds back the code of a repository: of its files only those are loaded that the user lets run, and
# these only with the content that was there when the user agreed. Ruby's own libraries and gems are
# not held back. Code that runs may still read a file by itself and evaluate it.

require 'digest'

module Gate
  # A file that must not be loaded. No `rescue` without a class, and none of StandardError, catches it.
  class Refused < SecurityError
    attr_reader :file, :is_changed

    def initialize(file, is_changed)
      @file = file
      @is_changed = is_changed
      super("#{file} is not let run")
    end

    def to_h
      { 'message' => message, 'refused' => String.new(file, encoding: Encoding::UTF_8).scrub, 'changed' => is_changed }
    end
  end

  @allowed = {}
  @repository = []
  @refused = nil
  @own = []

  module_function

  # Begins: the folders that Ruby loads from now are its own. `allowed` has the digests of files by
  # their real paths.
  def close(allowed)
    @allowed = allowed.transform_keys(&:b)
    folders = $LOAD_PATH.map(&:to_s) + Gem.path + RbConfig::CONFIG.values_at('rubylibprefix', 'sitedir', 'vendordir')
    @own = folders.compact.filter_map { |folder| real(folder) }.uniq
    RubyVM::InstructionSequence.singleton_class.prepend(OfFiles)
    Puppet::Util::Autoload.singleton_class.prepend(OfAutoload)
    Puppet::Pops::Loader::ModuleLoaders::FileBased.prepend(OfLoaders)
    Puppet::Pops::Loader::Runtime3TypeLoader.prepend(OfResourceTypes)
    Puppet::Pops::Parser::Lexer2.prepend(OfManifests)
    Puppet::Parser::TemplateWrapper.prepend(OfTemplates)
    [Kernel, Kernel.singleton_class].each { |owner| guard_require(owner) }
  end

  # Wraps `require`: the method of all objects, and that of the module.
  def guard_require(owner)
    own = owner.instance_method(:require)
    owner.define_method(:require) do |name|
      Gate.check_library(name)
      own.bind_call(self, name)
    end
    owner.send(:private, :require) if owner == Kernel
  end

  # Folders of the repository, which are none of Ruby's although they lie in one.
  def repository=(folders)
    @repository = folders.filter_map { |folder| real(folder) }.uniq
  end

  # Returns the text of a file of the repository, and nil for a file of Ruby's own. The text is the
  # one whose digest was compared: the file is not read again.
  def text(path)
    file = real(path)
    return if file.nil? || own?(file)

    digest = @allowed.fetch(file) { refuse(path, false) }
    text = File.binread(file)
    refuse(path, true) unless Digest::SHA256.hexdigest(text) == digest
    text.force_encoding(Encoding::UTF_8)
  end

  # Whether a file or folder, which exists, is one of Ruby's own: the innermost folder counts.
  def own?(path)
    innermost(@own, path) > innermost(@repository, path)
  end

  def allowed?(path)
    file = real(path)
    file && (own?(file) || @allowed.key?(file))
  end

  def check(path)
    refuse(path, false) unless allowed?(path)
  end

  # Refuses a library of machine code of the repository.
  def check_library(name)
    kind, path = $LOAD_PATH.resolve_feature_path(name)
    refuse(path, false) if kind == :so && real(path) && !own?(real(path))
  rescue LoadError, TypeError
    nil # Ruby's own `require` reports it.
  end

  # Returns the refusal of a block, also of one whose error was caught; nil where there is none.
  def refusal
    outer = @refused
    @refused = nil
    yield
    @refused
  rescue Refused => e
    e
  ensure
    @refused = outer
  end

  # Raises the refusal of a file whose error was caught, if there is one.
  def raise_refusal
    raise @refused if @refused
  end

  # Calls a block; a file that it must not load is one that is not there: nil is returned.
  def without_refused
    outer = @refused
    yield
  rescue Refused
    nil
  ensure
    @refused = outer
  end

  def refuse(path, is_changed)
    @refused ||= Refused.new(path, is_changed)
    raise @refused
  end

  def real(path)
    File.realpath(path).b
  rescue SystemCallError
    nil
  end

  # The length of the longest of these folders that holds a path.
  def innermost(folders, path)
    folders.map { |folder| path == folder || path.start_with?("#{folder}/") ? folder.length : 0 }.max || 0
  end

  # `require`, `require_relative`, `load` and `autoload`: Ruby asks for the code of each file here.
  module OfFiles
    def load_iseq(path)
      text = Gate.text(path)
      text && RubyVM::InstructionSequence.compile(text, path, Gate.real(path))
    end
  end

  # Puppet's types, providers, features and functions of Puppet 3: those of the same name that Puppet
  # has are first, and of "all" files those count that may be loaded.
  module OfAutoload
    def search_directories(environment)
      super.partition { |folder| (real = Gate.real(folder)) && Gate.own?(real) }.flatten
    end

    # Asked first: what is loaded counts as loaded from then on, also where that fails.
    def get_file(name, environment)
      file = super
      Gate.check(file) if file
      file
    end

    def files_in_dir(folder, path)
      super.select do |name|
        Gate.allowed?(File.join(folder, name))
      end
    end
  end

  # Functions and types, in Ruby and in Puppet's language.
  module OfLoaders
    def get_contents(path) = Gate.text(path) || super
  end

  # For each type that code names, Puppet first looks for a resource type of the name: it loads
  # types in Ruby and parses manifests. Those of the repository are no types here unless they may run.
  module OfResourceTypes
    def find(typed_name) = Gate.without_refused { super }
  end

  # Manifests, and templates in Puppet's language.
  module OfManifests
    def lex_file(file)
      text = File.exist?(file) ? Gate.text(file) : nil
      text ? lex_string(text, file) : super
    end
  end

  # Templates in Ruby.
  module OfTemplates
    def result(string = nil)
      Gate.text(@__file__) unless string
      super
    end
  end
end
