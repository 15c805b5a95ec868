# frozen_string_literal: true

# Calls the functions of hierarchy levels for hiera-ls, and backends of Hiera 3, with the Puppet that
# this Ruby finds: JSON messages, one a line, over the original standard input and output. hiera-ls
# resolves; this process finds one function, calls it for one key at one location, and asks back for
# interpolation and lookups. wire.rs has the other end of each message.

# The protocol's descriptors are moved before any other code runs, and are closed on exec: output
# of a function or its children goes to standard error.
REQUESTS = $stdin.dup
ANSWERS = $stdout.dup
$stdin.reopen(File::NULL)
$stdout.reopen($stderr)
REQUESTS.set_encoding(Encoding::UTF_8)
ANSWERS.set_encoding(Encoding::UTF_8)

require 'json'

# Ends this process and all that it started, as far as these can be found.
module Ending
  COOKIE = ENV.fetch('HIERA_LS_BRIDGE', nil)
  TAKE_ORPHANS = 36 # PR_SET_CHILD_SUBREAPER
  private_constant :COOKIE, :TAKE_ORPHANS

  module_function

  # On Linux, children of processes that ended become children of this one.
  def take_orphans
    return unless RUBY_PLATFORM.include?('linux')

    require 'fiddle'
    control = Fiddle::Handle::DEFAULT['prctl']
    long = Fiddle::TYPE_LONG
    Fiddle::Function.new(control, [Fiddle::TYPE_INT, *[long] * 4], Fiddle::TYPE_INT).call(TAKE_ORPHANS, 1, 0, 0, 0)
  rescue LoadError, Fiddle::DLError
    nil # hiera-ls takes them.
  end

  # Each process is stopped first, so that it starts no other.
  def now
    ignore_signals
    stopped = []
    while (found = (descendants | strays) - stopped).any?
      signal(:STOP, found)
      stopped += found
    end
    signal(:KILL, stopped)
    Process.kill(:KILL, 0) if Process.respond_to?(:getpgrp) && Process.getpgrp == Process.pid
  ensure
    exit!(0)
  end

  # The end of hiera-ls leaves this group of processes without a parent. The kernel then sends HUP to a
  # group with a stopped process, which would end this process before it kills those that it stopped.
  def ignore_signals
    %w[HUP INT TERM].each { |name| trap(name, 'IGNORE') rescue nil }
  end

  def signal(name, processes)
    processes.each { |pid| Process.kill(name, pid) rescue nil }
  end

  def descendants
    children = Dir.glob('/proc/[0-9]*/stat').filter_map do |file|
      [File.read(file)[/.*\) . (\d+)/m, 1].to_i, file[/\d+/].to_i]
    rescue SystemCallError
      nil
    end
    children = children.group_by(&:first)
    found = [Process.pid]
    found.each { |pid| found.concat(children.fetch(pid, []).map(&:last)) }
    found.drop(1)
  end

  # Processes that left the tree, where the system lists environments of processes (Linux).
  def strays
    return [] unless COOKIE

    needle = "HIERA_LS_BRIDGE=#{COOKIE}\0"
    Dir.glob('/proc/[0-9]*/environ').filter_map do |file|
      pid = file[/\d+/].to_i
      pid if pid != Process.pid && "#{File.binread(file)}\0".include?(needle)
    rescue SystemCallError
      nil
    end
  end
end

# The bounds of this process and of its children, where the system has them (Linux). They are hard:
# no process may lift them again.
module Limits
  MEMORY = Integer(ENV.fetch('HIERA_LS_MEMORY')) << 20
  PROCESSES = Integer(ENV.fetch('HIERA_LS_PROCESSES'))
  private_constant :MEMORY, :PROCESSES

  module_function

  def bound
    return unless RUBY_PLATFORM.include?('linux')

    Process.setrlimit(:AS, *Process.getrlimit(:AS).map { |limit| [limit, MEMORY].min })
    @is_bounded = true
    bound_processes
  rescue SystemCallError, NotImplementedError
    nil
  end

  # The system counts the processes and threads of the user, also those that are not listed here: of
  # other containers. Where too many are, no bound is possible.
  def bound_processes
    soft, hard = Process.getrlimit(:NPROC)
    most = own_tasks + PROCESSES
    return if soft <= most

    Process.setrlimit(:NPROC, most, hard)
    Thread.new { nil }.join
    Process.setrlimit(:NPROC, most, most)
  rescue ThreadError
    Process.setrlimit(:NPROC, soft, hard)
  end

  def own_tasks
    Dir.glob('/proc/[0-9]*').sum do |folder|
      File.stat(folder).uid == Process.uid ? Dir.children("#{folder}/task").size : 0
    rescue SystemCallError
      0
    end
  end

  def told(message)
    @is_bounded ? "#{message}: hiera-ls lets functions have at most #{MEMORY >> 20} MiB of memory" : message
  end
end

# The channel to hiera-ls.
module Channel
  OWNER = Process.pid
  LONGEST = 64 << 20
  DEEPEST = 100
  INCOMING = Queue.new

  module_function

  # A thread reads, so that the end of hiera-ls is seen while a function runs.
  def start
    reader = Thread.new do
      REQUESTS.each_line { |line| INCOMING << line }
    ensure
      Ending.now
    end
    reader.report_on_exception = false
  end

  def read = JSON.parse(INCOMING.pop, max_nesting: 4 * DEEPEST)

  # A process that a function forked off and that comes back here must not answer, too.
  def write(message)
    exit!(0) unless Process.pid == OWNER
    line = JSON.generate(message, max_nesting: 4 * DEEPEST)
    if line.bytesize > LONGEST
      raise Wire::TooMuch, "hiera-ls takes no more than #{LONGEST >> 20} MiB from a function"
    end

    ANSWERS.write(line, "\n")
    ANSWERS.flush
  end
end

Limits.bound
Ending.take_orphans

begin
  require 'puppet'
  require 'puppet/pops'
  require 'puppet/node'
  require 'puppet/parser/compiler'
  require 'tmpdir'
  require_relative 'gate'
rescue LoadError => e
  Channel.write('refused' => "there is no Puppet for #{RbConfig.ruby}: #{e.message}")
  exit!(1)
end

# Values as JSON. What JSON has no word for is `{"__t": kind, …}`.
module Wire
  TYPES = Puppet::Pops::Types
  # A value that is not data.
  class NoData < StandardError; end
  # A value that is too large or nested too deeply.
  class TooMuch < StandardError; end

  module_function

  # Raises NoData for a value that Puppet's type of values looked up does not cover for certain;
  # `lenient` writes it down all the same.
  def write(value, lenient: false, depth: 0)
    raise TooMuch, "hiera-ls takes no value from a function that is nested deeper than #{Channel::DEEPEST}" if depth > Channel::DEEPEST

    case value
    when nil, true, false then value
    when Integer then value.bit_length < 64 ? value : { '__t' => 'int', 'v' => value.to_s }
    when Float then { '__t' => 'float', 'v' => value.to_s }
    when String then text(value)
    when Symbol then symbol(value, lenient)
    when Array then list(value, lenient, depth)
    when Hash then hash(value, lenient, depth)
    else rich(value, lenient, depth)
    end
  end

  def text(value)
    utf8 = value.encoding == Encoding::BINARY ? value.dup.force_encoding(Encoding::UTF_8) : value.encode(Encoding::UTF_8)
    utf8.valid_encoding? ? String.new(utf8) : { '__t' => 'bytes', 'v' => [value].pack('m0') }
  rescue EncodingError
    { '__t' => 'bytes', 'v' => [value].pack('m0') }
  end

  def symbol(value, lenient)
    raise NoData unless lenient || %i[default undef].include?(value)

    { '__t' => 'symbol', 'v' => value.to_s }
  end

  def list(value, lenient, depth)
    raise NoData unless lenient || value.instance_of?(Array)

    value.map { |item| write(item, lenient: lenient, depth: depth + 1) }
  end

  def hash(value, lenient, depth)
    raise NoData unless lenient || value.instance_of?(Hash)

    plain = value.each_key.all? { |key| key.is_a?(String) && key != '__t' && text(key).is_a?(String) }
    return value.to_h { |key, item| [text(key), write(item, lenient: lenient, depth: depth + 1)] } if plain

    pairs = value.map do |key, item|
      raise NoData unless lenient || key.is_a?(String) || key.is_a?(Numeric)

      [key, item].map { |part| write(part, lenient: lenient, depth: depth + 1) }
    end
    { '__t' => 'hash', 'v' => pairs }
  end

  def rich(value, lenient, depth)
    case value
    when TYPES::PSensitiveType::Sensitive
      { '__t' => 'sensitive', 'v' => write(value.unwrap, lenient: true, depth: depth + 1) }
    when TYPES::PBinaryType::Binary then { '__t' => 'binary', 'v' => [value.binary_buffer].pack('m0') }
    when Regexp then { '__t' => 'regexp', 'v' => value.source }
    when TYPES::PAnyType then { '__t' => 'type', 'v' => value.to_s }
    else
      raise NoData unless lenient || Puppet::Pops::Lookup::DataProvider.value_type.instance?(value)

      other(value)
    end
  end

  def other(value)
    type = TYPES::TypeCalculator.singleton.infer(value).simple_name
    { '__t' => 'rich', 'type' => type, 'v' => shown(value), 'class' => value.class.name.to_s }
  end

  def shown(value)
    case value
    when Puppet::Pops::Time::Timestamp, Puppet::Pops::Time::Timespan then value.nsecs.to_s
    else
      shown = text(TYPES::StringConverter.singleton.convert(value, '%s'))
      shown.is_a?(String) ? shown : ''
    end
  rescue StandardError
    ''
  end

  def read(value)
    case value
    when Array then value.map { |item| read(item) }
    when Hash
      kind = value['__t']
      kind ? special(kind, value['v']) : value.transform_values { |item| read(item) }
    else value
    end
  end

  def special(kind, value)
    case kind
    when 'int' then Integer(value)
    when 'float' then float(value)
    when 'hash' then value.to_h { |key, item| [read(key), read(item)] }
    when 'sensitive' then TYPES::PSensitiveType::Sensitive.new(read(value))
    when 'symbol' then value.to_sym
    when 'bytes' then value.unpack1('m').force_encoding(Encoding::BINARY)
    when 'binary' then TYPES::PBinaryType::Binary.from_base64(value)
    when 'regexp' then Regexp.new(value)
    when 'type' then TYPES::TypeParser.singleton.parse(value)
    when 'timestamp' then Puppet::Pops::Time::Timestamp.new(Integer(value))
    when 'timespan' then Puppet::Pops::Time::Timespan.new(Integer(value))
    when 'semver' then SemanticPuppet::Version.parse(value)
    when 'semver_range' then SemanticPuppet::VersionRange.parse(value)
    when 'uri' then URI.parse(value)
    else value
    end
  end

  def float(text)
    { 'NaN' => Float::NAN, 'Infinity' => Float::INFINITY, '-Infinity' => -Float::INFINITY }.fetch(text) { Float(text) }
  end
end

# An error that hiera-ls answered a question with. It carries the number of the question, so that
# hiera-ls recognises its own error when a function lets it pass.
module Asked
  attr_accessor :hiera_ls_question

  CLASSES = { 'lookup' => Puppet::DataBinding::LookupError, 'puppet' => Puppet::Error }.freeze

  module_function

  def error(question, told)
    kind = CLASSES.fetch(told['class'], ArgumentError)
    issue = told['issue']
    error = issue && kind == Puppet::DataBinding::LookupError ? kind.new(told['message'], nil, nil, nil, nil, issue) : kind.new(told['message'])
    error.extend(Asked)
    error.hiera_ls_question = question
    error
  end
end

# Environments: one, in a folder of any name. Puppet's own finder goes by the names of folders.
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

  # Manifests take no part, and `config_version` would run a program of the folder's.
  def get(name)
    return unless name.to_sym == @name

    @environment ||= begin
      Puppet.settings.clear_environment_settings(@name)
      path = Puppet.settings.values(@name, Puppet.settings.preferred_run_mode).interpolate(:modulepath)
      folders = Puppet::Node::Environment.split_path(path)
      Puppet::Node::Environment.create(@name, folders, Puppet::Node::Environment::NO_MANIFEST)
    end
  end
end

# Stands for the data provider of a layer: the functions' providers ask it for the module, and fail
# through it.
class Layer
  attr_reader :module_name

  def initialize(module_name, config_path)
    @module_name = module_name
    @config_path = config_path
  end

  def config(_) = self

  def fail(issue, args = {})
    raise Puppet::DataBinding::LookupError.new(issue.format(args.merge(label: self)), @config_path, nil, nil, nil, issue.issue_code)
  end

  def name = @module_name ? 'Module' : 'Environment'

  # As Puppet's own providers of layers check the whole of a data_hash function's answer.
  def checker
    @checker ||=
      if @module_name
        Puppet::Pops::Lookup::ModuleDataProvider.new(@module_name)
      else
        Puppet::Pops::Lookup::EnvironmentDataProvider.new
      end
  end
end

# The context of one level and location: Puppet's own, but for interpolation.
class LevelContext < Puppet::Pops::Lookup::FunctionContext
  def interpolate(value, invocation, _allow_methods)
    return value unless tokens?(value)

    Bridge.ask('interpolate', 'value' => Wire.write(value, lenient: true))
  end

  private

  def tokens?(value)
    case value
    when String then value.include?('%{')
    when Array then value.any? { |item| tokens?(item) }
    when Hash then value.any? { |key, item| tokens?(key) || tokens?(item) }
    else false
    end
  end
end

# The lookup in progress, as a function sees it: `explain` sends its texts to hiera-ls.
class CallInvocation < Puppet::Pops::Lookup::Invocation
  attr_accessor :texts

  # The lookup in progress is one for all, where Puppet has one for each class.
  def self.current = Puppet::Pops::Lookup::Invocation.current

  def self.current=(invocation)
    Puppet::Pops::Lookup::Invocation.current = invocation
  end

  def report_text
    texts << yield if texts
  end
end

# One scope over the environment: a compiler that compiles nothing.
class Session
  PROVIDERS = {
    'data_hash' => Puppet::Pops::Lookup::DataHashFunctionProvider,
    'lookup_key' => Puppet::Pops::Lookup::LookupKeyFunctionProvider,
    'data_dig' => Puppet::Pops::Lookup::DataDigFunctionProvider,
    'v4_data_hash' => Puppet::Pops::Lookup::V4DataHashFunctionProvider
  }.freeze
  # Puppet's own variables. A scope's members of these names are set the way Puppet sets them; all
  # other members are top-scope variables.
  OWN = %w[facts trusted server_facts environment].freeze
  # Variables of Puppet's top scope that cannot be set.
  OF_CLASSES = %w[module_name caller_module_name name title].freeze

  def self.open(params)
    folder = params.fetch('root')
    name = params.fetch('environment')
    Puppet.settings[:hiera_config] = File.join(folder, 'no-global-layer', 'hiera.yaml')
    environments = OneEnvironment.new(name, folder)
    Puppet.override(environments: environments) do
      environment = environments.get!(name)
      Gate.repository = [folder, *environment.modulepath, *environment.modules.map(&:path)]
      extend_load_path(environment)
      Puppet.override(current_environment: environment) do
        scope = Wire.read(params.fetch('scope'))
        compiler = Puppet::Parser::Compiler.new(node(params.fetch('node'), scope, environment))
        # The scope is complete within the block of `compile` only.
        compiler.compile do |catalog|
          qualified(scope).each { |path, value| compiler.qualified_variables[path] = value }
          yield new(compiler)
          catalog
        end
      end
    end
  end

  # As `puppet lookup` does before anything else.
  def self.extend_load_path(environment)
    environment.each_plugin_directory { |folder| $LOAD_PATH << folder unless $LOAD_PATH.include?(folder) }
  end

  def self.node(name, scope, environment)
    facts = scope['facts'].is_a?(Hash) ? scope['facts'] : {}
    variables = scope.reject { |variable, _| OWN.include?(variable) || OF_CLASSES.include?(variable) || variable.include?('::') }
    node = Puppet::Node.new(name, environment: environment, parameters: variables, facts: Puppet::Node::Facts.new(name, facts))
    local = Puppet::Node.new(name, parameters: facts)
    node.trusted_data = scope['trusted'] || Puppet::Context::TrustedInformation.local(local).to_h
    server_facts = scope['server_facts']
    node.define_singleton_method(:server_facts) { server_facts } if server_facts
    node
  end

  def self.qualified(scope)
    scope.select { |name, _| name.include?('::') }.transform_keys { |name| name.delete_prefix('::') }
  end

  def initialize(compiler)
    @compiler = compiler
    @scope = compiler.topscope
    @refusals = {}
    forget
    replace_lookup
  end

  def forget
    @providers = {}
    @contexts = {}
    @options = {}
    Puppet::Pops::Lookup::EnvironmentContext.clear(@compiler.environment)
  end

  # `lookup()` and its kin within functions ask hiera-ls.
  def replace_lookup
    adapter = Puppet::Pops::Lookup::LookupAdapter.adapt(@compiler)
    adapter.define_singleton_method(:lookup) do |key, invocation, merge|
      merge = merge.configuration if merge.is_a?(Puppet::Pops::MergeStrategy)
      Bridge.ask('lookup', 'key' => Wire.text(key.to_s), 'merge' => Wire.write(merge, lenient: true),
                           'global_only' => invocation.global_only?,
                           'overrides' => Wire.write(invocation.override_values, lenient: true),
                           'defaults' => Wire.write(invocation.default_values, lenient: true),
                           'order_override' => Wire.write(invocation.hiera_v3_location_overrides, lenient: true))
    end
  end

  # Makes the backends of Hiera 3 of a hiera.yaml as Puppet does when it first needs its levels. The
  # configuration of Hiera 3 is one for the process; here it is one for the scope, as in a process of
  # its own.
  def prepare(params)
    error = nil
    refusal = Gate.refusal { error = make_backends(params) }
    error = refusal.to_h if refusal
    error ? { 'error' => error } : { 'result' => {} }
  end

  # A function that was refused a file is not called again: it may have gone on without it.
  def call(params)
    function = params.fetch('function')
    unless @refusals.key?(function)
      reply = nil
      refusal = Gate.refusal { reply = answer(params) }
      return reply unless refusal

      @refusals[function] = refusal
    end
    { 'error' => @refusals[function].to_h }
  end

  private

  # Returns the error, if there is one.
  def make_backends(params)
    Hiera::Config.instance_variable_set(:@config, nil) if defined?(Hiera::Config)
    config = Puppet::Pops::Lookup::HieraConfigV5.allocate
    layer = Layer.new(nil, params['config'])
    written = written_config(params)
    @scope = Hiera::Scope.new(@compiler.topscope) if written
    params.fetch('backends').each do |given|
      settings = written || settings_of(given)
      @providers[given.fetch('level')] =
        config.create_hiera3_backend_provider(given.fetch('title'), given.fetch('name'), layer, given['datadir'], nil, settings)
    end
    nil
  rescue StandardError, ScriptError => e
    describe(e)
  end

  def answer(params)
    texts = params['explain'] ? [] : nil
    answer = nil
    found = false
    catch(:no_such_key) do
      answer = params['kind'] == 'hiera3_backend' ? hiera3(params, texts) : function(params, texts)
      found = true
    end
    reply = found ? { 'result' => answer } : { 'not_found' => true }
    with_texts(reply, texts)
  rescue Exception => e # The library of Hiera 3 raises it; Puppet would end.
    raise if e.is_a?(SignalException) && !e.is_a?(Interrupt)

    with_texts({ 'error' => describe(e) }, texts)
  end

  # A file of version 3 is the configuration as it stands; nil for one of version 5.
  def written_config(params)
    return unless params['text']

    written = Puppet::Util::Yaml.safe_load(params['text'], [Symbol], params['config'])
    # Of a datadir hiera-ls may know another folder on this machine.
    params.fetch('backends').each do |given|
      settings = written[given['name'].to_sym] || written[given['name']]
      key = %w[datadir].flat_map { |name| [name.to_sym, name] }.find { |name| settings.is_a?(Hash) && settings.key?(name) }
      settings[key] = given['datadir'] if key && given['datadir']
    end
    written
  end

  # As HieraConfigV5#create_configured_data_providers has them.
  def settings_of(given)
    name = given.fetch('name')
    options = { datadir: given.fetch('datadir') }
    Wire.read(given['options'] || {}).each_pair { |key, value| options[key.to_sym] = value }
    sources = given.fetch('sources').map { |source| source.end_with?(".#{name}") ? source[0..-(name.length + 2)] : source }
    { hierarchy: sources, name.to_sym => options, backends: [name], logger: 'puppet' }
  end

  def hiera3(params, texts)
    within_lookup(params, texts) do |invocation|
      invocation.set_global_only if params['global_only']
      sources = Wire.read(params['order_override'])
      invocation.set_hiera_v3_location_overrides(sources) unless sources.empty?
      provider = @providers.fetch(params.fetch('level'))
      merge = Puppet::Pops::MergeStrategy.strategy(Wire.read(params.fetch('merge')))
      key = Puppet::Pops::Lookup::LookupKey.new(params.fetch('key'))
      checked(provider.data_dig(key, invocation, nil, merge), provider)
    end
  end

  # A text that is none breaks the explanation of Puppet, too.
  def with_texts(reply, texts)
    return reply if texts.nil? || texts.empty?

    reply.merge('texts' => texts.map { |text| text.is_a?(String) ? Wire.text(text) : { '__t' => 'none', 'v' => text.class.to_s } })
  end

  def describe(error)
    return { 'asked' => error.hiera_ls_question } if error.is_a?(Asked)

    message = error.message.to_s
    message = error.class.to_s if message.empty?
    message = Limits.told(message) if error.is_a?(NoMemoryError)
    text = Wire.text(message)
    lookup = error.is_a?(Puppet::DataBinding::LookupError)
    { 'message' => text.is_a?(String) ? text : message.b.inspect, 'lookup' => lookup,
      'puppet' => error.is_a?(Puppet::Error), 'issue' => lookup && !error.issue_code.nil? }
  end

  # The call happens within a lookup, as far as Puppet's own functions look.
  def within_lookup(params, texts)
    Puppet::Pops::Lookup::Invocation.current # makes the place for it
    scope = params['kind'] == 'hiera3_backend' ? @scope : @compiler.topscope
    invocation = CallInvocation.new(scope)
    invocation.texts = texts
    invocation.lookup(Puppet::Pops::Lookup::LookupKey.new('hiera_ls'), params['module']) { yield invocation }
  end

  def function(params, texts)
    within_lookup(params, texts) do |invocation|
      kind = params.fetch('kind')
      provider = (@providers[params.fetch('level')] ||= provider(kind, params))
      function = provider.send(:function, invocation)
      kept = function_context(params, function)
      next { 'pairs' => [] }.merge(member(kept.data_hash, params['member'], provider)) if params.key?('member')

      context = Puppet::Pops::Lookup::Context.new(kept, invocation)
      arguments = kind == 'v4_data_hash' ? [] : [*key_argument(kind, params), options(params), context]
      value = function.call(@compiler.topscope, *arguments)
      next pairs(kept, value, provider, params) if %w[data_hash v4_data_hash].include?(kind)

      checked(value, provider)
    end
  end

  def provider(kind, params)
    layer = Layer.new(params['module'], params['config'])
    PROVIDERS.fetch(kind).new(params['level'], layer, params.fetch('function'), {}, nil)
  end

  def function_context(params, function)
    @contexts[[params.fetch('level'), params.fetch('location_number')]] ||=
      LevelContext.new(Puppet::Pops::Lookup::EnvironmentContext.adapt(@compiler.environment), params['module'], function)
  end

  def key_argument(kind, params)
    case kind
    when 'lookup_key' then [params.fetch('key')]
    when 'data_dig' then [Wire.read(params.fetch('segments'))]
    else []
    end
  end

  # Without a location the options of a level are one hash for all calls.
  def options(params)
    shared = (@options[params.fetch('level')] ||= params['options'] ? Wire.read(params['options']) : {}.freeze)
    location = params['location']
    location ? shared.merge(location) : shared
  end

  def checked(value, provider)
    { 'value' => Wire.write(value, lenient: provider.value_is_validated?) }
  rescue Wire::NoData
    return { 'value' => Wire.write(value, lenient: true) } if Puppet::Pops::Lookup::DataProvider.value_type.instance?(value)

    { 'invalid' => Puppet::Pops::Types::TypeCalculator.singleton.infer(value).to_s }
  end

  # Of a data hash each value is checked by itself, when its key is looked up.
  def pairs(kept, hash, provider, params)
    layer = Layer.new(params['module'], nil)
    hash = layer.checker.validate_data_hash(hash) do
      text = "Value returned from #{provider.full_name}"
      params['location'] ? "#{text}, when using location '#{params['location'].values.first}'," : text
    end
    given = hash.map do |key, value|
      { 'key' => Wire.write(key, lenient: true) }.merge(checked(value, provider))
    end
    return { 'pairs' => given } unless hash.default_proc || !hash.default.nil?

    kept.data_hash = hash # It has every key, by its default.
    { 'pairs' => given, 'default' => true }
  end

  # What a hash with a default has for a key that it does not hold.
  def member(hash, key, provider)
    value = hash[key]
    throw :no_such_key if value.nil? && !hash.include?(key)
    checked(value, provider)
  end
end

# The conversation.
module Bridge
  @questions = 0

  module_function

  # Serves requests until one ends the session; opens sessions.
  def serve
    loop do
      request = Channel.read
      case request['method']
      when 'open' then open_sessions(request)
      else Channel.write('id' => request['id'], 'error' => { 'message' => 'no session is open' })
      end
    end
  end

  # Each session runs within the block of its compiler; a request for the next one leaves it.
  def open_sessions(request)
    while request
      request = catch(:hiera_ls_next_session) do
        open_session(request)
        nil
      end
    end
  end

  def open_session(request)
    opened = false
    Session.open(request.fetch('params')) do |session|
      Gate.raise_refusal
      opened = true
      Channel.write('id' => request['id'], 'result' => {})
      @session = session
      loop { handle(Channel.read) }
    end
  rescue StandardError, ScriptError, SystemStackError, Gate::Refused => e
    raise if opened

    error = e.is_a?(Gate::Refused) ? e.to_h : { 'message' => "#{e.class}: #{e.message}" }
    Channel.write('id' => request['id'], 'error' => error)
  end

  def handle(message)
    case message['method']
    when 'call' then reply(answer(message))
    when 'hiera3' then reply({ 'id' => message['id'] }.merge(@session.prepare(message.fetch('params'))))
    when 'forget'
      @session.forget
      Channel.write('id' => message['id'], 'result' => {})
    when 'open' then throw :hiera_ls_next_session, message
    else Channel.write('id' => message['id'], 'error' => { 'message' => 'unknown method' })
    end
  end

  def reply(answer)
    Channel.write(answer)
  rescue Wire::TooMuch, JSON::JSONError => e
    Channel.write('id' => answer['id'], 'error' => { 'message' => e.message })
  end

  def answer(message)
    outer = @call
    @call = message['id']
    { 'id' => message['id'] }.merge(@session.call(message.fetch('params')))
  ensure
    @call = outer
  end

  # Asks hiera-ls; calls that come in before the answer are needed for it.
  def ask(method, params)
    number = (@questions += 1)
    Channel.write('ask' => number, 'call' => @call, 'method' => method, 'params' => params)
    loop do
      message = Channel.read
      next handle(message) unless message['answer'] == number

      throw :no_such_key if message['not_found']
      raise Asked.error(number, message['error']) if message['error']

      return Wire.read(message['value'])
    end
  end
end

def start_puppet(home)
  folders = %w[conf var code log run public].to_h { |name| ["#{name}dir", File.join(home, name)] }
  folders.each_value { |folder| Dir.mkdir(folder) unless Dir.exist?(folder) }
  strict = ENV.fetch('HIERA_LS_STRICT', nil)
  given = { **folders, 'basemodulepath' => '', 'vendormoduledir' => '' }
  given['strict'] = strict if strict
  Puppet.initialize_settings(given.flat_map { |name, value| ["--#{name}", value] }, false)
  Puppet[:code] = 'undef' # as `puppet lookup` sets it: no manifest is read
  Puppet::Util::Log.level = :err
  Puppet::Util::Log.newdestination(:console)
  Puppet.push_context(Puppet.base_context(Puppet.settings), 'hiera-ls bridge')
end

begin
  start_puppet(ARGV.fetch(0))
rescue StandardError => e
  Channel.write('refused' => "Puppet does not start: #{e.message}")
  exit!(1)
end
hiera3 = begin
  require 'hiera/version'
  Hiera.version
rescue LoadError, NameError
  nil
end
Gate.close(JSON.parse(File.read(ARGV.fetch(1))))
Channel.start
Channel.write('hello' => { 'protocol' => 1, 'puppet' => Puppet.version, 'ruby' => RUBY_VERSION, 'hiera' => hiera3 })
Bridge.serve
