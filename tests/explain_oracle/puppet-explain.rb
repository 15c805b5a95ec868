#!/usr/bin/env ruby
# frozen_string_literal: true

# Asks the installed Puppet for explanations, many in one process: the code of `puppet lookup` itself is run (its options, its renderers, its
# exit codes), with a scope of ours in place of the one that the command makes from the node's facts.
#
# In, JSON lines: {"root": DIR, "global": FILE?, "scope": {…}, "asks": [{"keys": […], "arguments": {…}}, …]}
# Out, a line for each: [{"exit": 0, "out": "…"} or {"exit": 1, "out": "", "error": "…"}, …]
# `arguments` are the command's options by the names that it has for them within (`explain`, `merge`, `render_as`, …).

require 'json'
require 'stringio'
require 'tmpdir'

ANSWERS = $stdout.dup
ANSWERS.set_encoding('UTF-8')
$stdout.reopen($stderr)

require 'puppet'
require 'puppet/pops'
require 'puppet/node'
require 'puppet/parser/compiler'
require 'puppet/application/lookup'

# One folder as the only environment.
class OneEnvironment
  NAME = :production

  def initialize(root)
    @root = root
    @environment = Puppet::Node::Environment.create(NAME, [File.join(root, 'modules')], Puppet::Node::Environment::NO_MANIFEST)
  end

  def search_paths = ["file://#{File.dirname(@root)}"]
  def list = [@environment]
  def get(name) = name.to_sym == NAME ? @environment : nil
  def get!(name) = get(name) || raise(Puppet::Environments::EnvironmentNotFound, name)
  def get_conf(name) = name.to_sym == NAME ? (@conf ||= Puppet::Settings::EnvironmentConf.load_from(@root, [])) : nil
  def guard(_name); end
  def unguard(_name); end
  def clear_all; end
end

# The command, asked in a scope that is given.
class Asked < Puppet::Application::Lookup
  Line = Struct.new(:subcommand_name, :args)

  def initialize(scope, keys, arguments)
    super(Line.new('lookup', keys))
    @given = scope
    options.update(arguments.transform_keys(&:to_sym))
    options[:render_as] = options[:render_as].to_sym if options[:render_as]
  end

  def generate_scope
    yield @given
  end

  def answer
    Puppet::Pops::Lookup::LookupAdapter.clear(@given.compiler) # nothing is left of the question before
    Puppet::Pops::Lookup::Invocation.current = nil if Puppet::Pops::Lookup::Invocation.current
    written = StringIO.new(+'', 'w')
    written.set_encoding('UTF-8')
    kept, $stdout = $stdout, written
    begin
      main
    rescue SystemExit => e
      { 'exit' => e.status, 'out' => written.string }
    rescue StandardError, ScriptError, SystemStackError => e
      { 'exit' => 1, 'out' => '', 'error' => e.message.to_s }
    ensure
      $stdout = kept
    end
  end
end

RESERVED = %w[facts trusted server_facts environment].freeze

def node(scope, environment)
  node = Puppet::Node.new('scenario', environment: environment, facts: Puppet::Node::Facts.new('scenario', scope['facts'] || {}))
  scope.each { |name, value| node.parameters[name] = value unless RESERVED.include?(name) || name.include?('::') }
  node.trusted_data = scope['trusted'] || {}
  node
end

def answers(job)
  Puppet.settings[:hiera_config] = job['global'] || File.join(job['root'], 'no', 'hiera.yaml')
  environments = OneEnvironment.new(job['root'])
  Puppet.override(environments: environments, current_environment: environments.get!(:production)) do
    compiler = Puppet::Parser::Compiler.new(node(job['scope'], environments.get!(:production)))
    found = nil
    compiler.compile do |catalog|
      job['scope'].each { |name, value| compiler.qualified_variables[name] = value if name.include?('::') }
      found = job['asks'].map { |ask| Asked.new(compiler.topscope, ask['keys'], ask['arguments']).answer }
      catalog
    end
    found
  end
end

# UTF-8, without what another run has otherwise: addresses of objects, folders of this process.
def text(value, home)
  case value
  when String then value.dup.force_encoding('UTF-8').scrub('?').gsub(/:0x\h{16}/, '').gsub(home, '<home>')
  when Hash then value.transform_values { |member| text(member, home) }
  else value
  end
end

Dir.mktmpdir('puppet-explain') do |home|
  folders = %w[conf var code].map { |name| File.join(home, name).tap { |folder| Dir.mkdir(folder) } }
  Puppet.initialize_settings(['--confdir', folders[0], '--vardir', folders[1], '--codedir', folders[2], '--vendormoduledir', ''], false)
  Puppet::Util::Log.level = :err
  Puppet::Util::Log.newdestination(:console)
  Puppet[:code] = 'undef' # as the command does: no manifest takes part
  Puppet.push_context(Puppet.base_context(Puppet.settings), 'explain')
  $stdin.set_encoding('UTF-8')
  $stdin.each_line do |line|
    ANSWERS.puts JSON.generate(answers(JSON.parse(line)).map { |answer| text(answer, home) })
    ANSWERS.flush
  end
end
