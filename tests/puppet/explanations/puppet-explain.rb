#!/usr/bin/env ruby
# frozen_string_literal: true

# Asks the installed Puppet for explanations, many in one process: the code of `puppet lookup` itself is run (its options, its renderers, its
# exit codes), with the job's scope in place of the one that the command makes from the node's facts.
#
# In, JSON lines: {"root": DIR, "global": FILE?, "scope": {…}, "asks": [{"keys": […], "arguments": {…}}, …]}
# Out, a line for each: [{"exit": 0, "out": "…"} or {"exit": 1, "out": "", "error": "…"}, …]
# `arguments` are the command's options by the names that it has for them within (`explain`, `merge`, `render_as`, …).

require 'json'
require 'stringio'

ANSWERS = $stdout.dup
ANSWERS.set_encoding('UTF-8')
$stdout.reopen($stderr)

require_relative '../oracle/puppet_tree'
require 'puppet/application/lookup'

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
    PuppetTree.forget(@given)
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

def answers(job)
  found = nil
  PuppetTree.scope(job['root'], { 'trusted' => {}, **job['scope'] }, job['global']) do |scope|
    found = job['asks'].map { |ask| Asked.new(scope, ask['keys'], ask['arguments']).answer }
  end
  found
end

# Returns UTF-8 without the parts that differ from run to run: addresses of objects, folders of this process.
def text(value, home)
  case value
  when String then value.dup.force_encoding('UTF-8').scrub('?').gsub(/:0x\h{16}/, '').gsub(home, '<home>')
  when Hash then value.transform_values { |member| text(member, home) }
  else value
  end
end

# What the block returns in a process of its own: the classes of functions and backends, and the
# configuration of Hiera 3, are one for a process.
def apart
  from_child, to_parent = IO.pipe(Encoding::UTF_8)
  child = fork do
    from_child.close
    to_parent.write(yield)
    to_parent.close
    exit!
  end
  to_parent.close
  from_child.read.tap { Process.wait(child) }
end

PuppetTree.start do |home|
  PuppetTree.load_all(home) do |root|
    asks = %w[json s].map { |format| { 'keys' => ['k'], 'arguments' => { 'explain' => true, 'render_as' => format, 'merge' => 'deep' } } }
    answers('root' => root, 'scope' => {}, 'asks' => asks)
  end
  $stdin.set_encoding('UTF-8')
  $stdin.each_line do |line|
    ANSWERS.puts(apart { JSON.generate(answers(JSON.parse(line)).map { |answer| text(answer, home) }) })
    ANSWERS.flush
  end
end
