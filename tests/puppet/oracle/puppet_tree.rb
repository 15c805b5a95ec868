# frozen_string_literal: true

# Real Puppet over a folder: the folder is the only environment, and a scope is given in place of
# the one that Puppet makes of a node's facts. Shared by the programs that ask Puppet for values.

require 'json'
require 'tmpdir'
require 'puppet'
require 'puppet/pops'
require 'puppet/node'
require 'puppet/parser/compiler'

module PuppetTree
  # Puppet's own variables. A scope's members of these names are set the way Puppet sets them; all
  # other members are top-scope variables.
  OWN = %w[facts trusted server_facts environment].freeze

  # Finds one environment, in a folder of any name. Puppet's own finder goes by names of folders.
  class OneEnvironment
    include Puppet::Environments::EnvironmentLoader

    def initialize(name, folder)
      @name = name.to_sym
      @folder = folder
    end

    def search_paths = ["file://#{File.dirname(@folder)}"]

    def list = [get(@name)]

    def get_conf(name)
      Puppet::Settings::EnvironmentConf.load_from(@folder, []) if name.to_sym == @name
    end

    # Puppet reads environment.conf for the module path. Manifests take no part in a lookup, and
    # `config_version` would run a program of the folder's.
    def get(name)
      return unless name.to_sym == @name

      @environment ||= begin
        Puppet.settings.clear_environment_settings(@name) # those of the folder before
        path = Puppet.settings.values(@name, Puppet.settings.preferred_run_mode).interpolate(:modulepath)
        folders = Puppet::Node::Environment.split_path(path)
        Puppet::Node::Environment.create(@name, folders, Puppet::Node::Environment::NO_MANIFEST)
      end
    end
  end

  module_function

  # Starts Puppet with folders of its own, below a temporary one that is removed after the block:
  # nothing of this machine's Puppet configuration counts. `settings` are Puppet's, by name.
  def start(settings = {})
    owner = Process.pid
    home = Dir.mktmpdir('hiera-ls-oracle')
    folders = %w[conf var code].to_h { |name| ["#{name}dir", File.join(home, name)] }
    folders.each_value { |folder| Dir.mkdir(folder) }
    given = { **folders, 'basemodulepath' => '', 'vendormoduledir' => '', **settings }
    Puppet.initialize_settings(given.flat_map { |name, value| ["--#{name}", value] }, false)
    Puppet[:code] = 'undef' # as `puppet lookup` sets it: no manifest is read
    Puppet::Util::Log.level = :err
    Puppet::Util::Log.newdestination(:console)
    Puppet.push_context(Puppet.base_context(Puppet.settings), 'hiera-ls oracle')
    yield home
  ensure
    FileUtils.remove_entry(home) if home && Process.pid == owner
  end

  # Loads what Puppet loads on first use, before processes begin for the jobs. Yields an environment's
  # folder, in which the block looks `k` up.
  def load_all(home)
    %w[hiera deep_merge hocon hiera/backend/eyaml/encryptor hiera/backend/eyaml/parser/parser].each do |library|
      require library
    rescue LoadError
      next # lookups that need it will say so
    end
    root = File.join(home, 'first')
    FileUtils.mkdir_p(File.join(root, 'data'))
    levels = { 'yaml_data' => '"k": {"a": "%{lookup(\'n\')}"}', 'json_data' => '{"k": {"b": [1]}}', 'hocon_data' => 'n = 1' }
    hierarchy = levels.map do |function, text|
      File.write(File.join(root, 'data', function), text)
      { 'name' => function, 'path' => function, 'data_hash' => function }
    end
    File.write(File.join(root, 'hiera.yaml'), { 'version' => 5, 'hierarchy' => hierarchy }.to_json)
    yield root
    GC.start
  end

  # Yields Puppet's top scope over `folder`, with the variables of `scope`. `global` is the global
  # layer's hiera.yaml; nil is a Puppet without one.
  def scope(folder, scope, global)
    Puppet.settings[:hiera_config] = global || File.join(folder, 'no-global-layer', 'hiera.yaml')
    name = (scope['environment'] || 'production').to_s
    raise Errno::ENOENT, folder unless File.directory?(folder)

    environments = OneEnvironment.new(name, folder)
    Puppet.override(environments: environments) do
      environment = environments.get!(name)
      extend_load_path(environment)
      Puppet.override(current_environment: environment) do
        compiler = Puppet::Parser::Compiler.new(node(scope, environment))
        # The scope is complete within the block of `compile` only.
        compiler.compile do |catalog|
          qualified(scope).each { |path, value| compiler.qualified_variables[path] = value }
          yield compiler.topscope
          catalog
        end
      end
    end
  end

  # The `lib` folders of modules are where Ruby looks for files, as under `puppet lookup`.
  def extend_load_path(environment)
    environment.each_plugin_directory { |folder| $LOAD_PATH << folder unless $LOAD_PATH.include?(folder) }
  end

  # Drops the data that lookups have read so far, like a new process.
  def forget(scope)
    Puppet::Pops::Lookup::LookupAdapter.clear(scope.compiler)
    Puppet::Pops::Lookup::EnvironmentContext.clear(scope.compiler.environment)
    Puppet::Pops::Lookup::Invocation.current = nil if Puppet::Pops::Lookup::Invocation.current
  end

  # Returns UTF-8 text; for a text that is not valid UTF-8, the bytes as Ruby prints them.
  def utf8(text)
    text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
    text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless text.encoding == Encoding::UTF_8
    text.valid_encoding? ? text : text.b.inspect
  end

  def node(scope, environment)
    facts = scope['facts'].is_a?(Hash) ? scope['facts'] : {}
    variables = scope.reject { |name, _| OWN.include?(name) || name.include?('::') }
    node = Puppet::Node.new('oracle', environment: environment, parameters: variables,
                                      facts: Puppet::Node::Facts.new('oracle', facts))
    local = Puppet::Node.new('oracle', parameters: facts)
    node.trusted_data = scope['trusted'] || Puppet::Context::TrustedInformation.local(local).to_h
    server_facts = scope['server_facts']
    node.define_singleton_method(:server_facts) { server_facts } if server_facts
    node
  end

  def qualified(scope)
    scope.select { |name, _| name.include?('::') }.transform_keys { |name| name.delete_prefix('::') }
  end
end
