#!/usr/bin/env ruby
# frozen_string_literal: true

# Answers lookups with the installed Puppet. README.md beside this file has the protocol.

require 'json'
require 'optparse'

ANSWERS = $stdout.dup
ANSWERS.set_encoding(Encoding::UTF_8)
$stdout.reopen($stderr) # Puppet's log must not come between the answers

workers = 1
seconds = 120
settings = {}
show_version = false
copies = false
OptionParser.new do |options|
  options.banner = 'usage: oracle.rb [options] < jobs.jsonl > answers.jsonl'
  options.on('--workers N', Integer, 'jobs that are answered at the same time (1)') { |n| workers = n }
  options.on('--seconds N', Integer, 'how many seconds of processor time one job may take (120)') { |n| seconds = n }
  options.on('--strict LEVEL', "Puppet's setting: off, warning or error") { |level| settings['strict'] = level }
  options.on('--codedir DIR', "Puppet's setting, below which a version 3 config has its data") { |folder| settings['codedir'] = folder }
  options.on('--copies', 'each read of a data file gives new objects') { copies = true }
  options.on('--version', 'the versions of Puppet and its libraries, as JSON') { show_version = true }
end.parse!

begin
  require_relative 'puppet_tree'
rescue LoadError => e
  abort "there is no Puppet for #{RbConfig.ruby}: #{e.message}"
end

if show_version
  ANSWERS.puts JSON.generate('puppet' => Puppet.version, 'ruby' => RUBY_VERSION, 'psych' => Psych::VERSION,
                             'libyaml' => Psych::LIBYAML_VERSION)
  exit
end

# Puppet hands out the same strings for each location that names a file.
module Copies
  def cached_file_data(path) = Marshal.load(Marshal.dump(super))
end
Puppet::Pops::Lookup::EnvironmentContext.prepend(Copies) if copies

# A value of Puppet's as JSON text. What JSON has no word for is `{"__ptype": TYPE, "__pvalue": …}`.
module Written
  TYPES = Puppet::Pops::Types
  module_function

  def value(given)
    case given
    when nil, true, false, Integer then given.to_json
    when Float then given.finite? ? given.to_json : typed('Float', given.to_s.to_json)
    when Symbol then given.to_s.to_json
    when String then string(given)
    when Array then "[#{given.map { |item| value(item) }.join(',')}]"
    when Hash then "{#{given.map { |key, item| "#{name(key)}:#{value(item)}" }.join(',')}}"
    when TYPES::PSensitiveType::Sensitive then typed('Sensitive', value(given.unwrap))
    when TYPES::PBinaryType::Binary then typed('Binary', given.to_s.to_json)
    when TYPES::PRuntimeType then typed('Runtime', given.to_s.to_json)
    when TYPES::PAnyType then typed('Type', given.to_s.to_json)
    else typed(TYPES::TypeCalculator.singleton.infer(given).simple_name,
               TYPES::StringConverter.singleton.convert(given, '%s').to_json)
    end
  end

  def typed(type, text) = %({"__ptype":#{type.to_json},"__pvalue":#{text}})

  # Bytes that are no text are written like a value of Puppet's type Binary.
  def string(given)
    text = given.encoding == Encoding::UTF_8 ? given : given.dup.force_encoding(Encoding::UTF_8)
    text.valid_encoding? ? text.to_json : typed('Binary', [given].pack('m0').to_json)
  end

  # JSON's names are strings; hashes of Puppet's may have others.
  def name(key) = PuppetTree.utf8(key.to_s).to_json
end

# The lookups of one job, all in one scope.
class Job
  NOTHING = Object.new.freeze

  def initialize(job)
    @job = job
  end

  # A line of JSON, with an answer for each question or why there is none.
  def line
    answers = []
    PuppetTree.scope(@job.fetch('root'), @job.fetch('scope', {}), @job['global_hiera_config']) do |scope|
      @job.fetch('questions').each { |question| answers << answer(scope, question) }
    end
    %({"id":#{@job['id'].to_json},"answers":[#{answers.join(',')}]})
  rescue StandardError, ScriptError, SystemStackError, SystemExit => e
    { id: @job['id'], failed: PuppetTree.utf8("#{e.class}: #{e.message}") }.to_json
  end

  private

  def answer(scope, question)
    PuppetTree.forget(scope) unless @job['memory'] == 'catalog'
    key = question.fetch('key')
    invocation = Puppet::Pops::Lookup::Invocation.new(scope)
    found = Puppet::Pops::Lookup.lookup(key, nil, NOTHING, true, question['merge'], invocation)
    return %({"key":#{key.to_json},"found":false}) if found.equal?(NOTHING)

    %({"key":#{key.to_json},"found":true,"value":#{Written.value(found)}})
  rescue Exception => e # The library of Hiera 3 raises it.
    # Puppet raises some errors once a catalog only.
    PuppetTree.forget(scope)
    message = e.message.to_s.empty? ? e.class.name : e.message.to_s
    { key: key, error: PuppetTree.utf8(message) }.to_json
  end
end

# Answers jobs in processes of their own, so that nothing of one job reaches another, and one that
# never ends can be ended. Answers come in the order in which they are ready.
class Workers
  # The time of a job in all, in times of its processor time.
  WALL_FACTOR = 10

  def initialize(count, seconds)
    @seconds = seconds
    @jobs = SizedQueue.new(count)
    @forking = Mutex.new
    @writing = Mutex.new
    @threads = Array.new(count) { Thread.new { work } }
  end

  def give(line) = @jobs << line

  def finish
    @jobs.close
    @threads.each(&:value)
  end

  private

  def work
    while (line = @jobs.pop)
      job = JSON.parse(line)
      answer = apart(job)
      # A process that is forked while another thread iterates over a hash cannot add to the hash. Such a job is asked again.
      answer = apart(job) if answer.nil? || failed?(answer)
      answer ||= { id: job['id'], failed: failure }.to_json
      @writing.synchronize do
        ANSWERS.puts answer
        ANSWERS.flush
      end
    end
  end

  def failed?(answer) = answer.include?('"failed"') && JSON.parse(answer).key?('failed')

  def failure = "no answer within #{@seconds} s of processor time and #{@seconds * WALL_FACTOR} s in all"

  # The answer of a process for one job; nil if it ended without one or was ended. The processor time
  # is limited: a busy machine delays answers and must not change them. The time in all is limited
  # for a process that waits.
  def apart(job)
    child, from_child = begin_child(job)
    text = +''.b
    deadline = now + (@seconds * WALL_FACTOR)
    while (left = deadline - now).positive? && from_child.wait_readable(left)
      piece = from_child.read_nonblock(1 << 16, exception: false)
      break if piece.nil?

      text << piece unless piece == :wait_readable
      break if text.end_with?("\n")
    end
    text.force_encoding(Encoding::UTF_8).chomp if text.end_with?("\n")
  ensure
    Process.kill(:KILL, child)
    Process.wait(child)
    from_child.close
  end

  # The writing end is closed here before another process begins, which would hold it open.
  def begin_child(job)
    @forking.synchronize do
      from_child, to_parent = IO.pipe(Encoding::BINARY)
      child = fork do
        from_child.close
        Process.setrlimit(:CPU, processor_seconds + @seconds)
        to_parent.write(Job.new(job).line.b, "\n")
        to_parent.flush
        exit!
      end
      to_parent.close
      [child, from_child]
    end
  end

  # The processor time of this process so far, in whole seconds.
  def processor_seconds = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID).ceil

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

PuppetTree.start(settings) do |home|
  questions = %w[unique hash deep].map { |merge| { 'key' => 'k', 'merge' => merge } }
  PuppetTree.load_all(home) { |root| Job.new('root' => root, 'questions' => questions).line }
  pool = Workers.new(workers, seconds)
  $stdin.set_encoding(Encoding::UTF_8)
  $stdin.each_line { |line| pool.give(line) unless line.strip.empty? }
  pool.finish
end
