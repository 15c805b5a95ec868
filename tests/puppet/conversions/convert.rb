# frozen_string_literal: true

# Converts values as real Puppet's `convert_to` does: JSON lines [value, convert_to] in, {"value": …} or {"error": "message"} out.

require 'json'
require 'puppet'
require 'puppet/pops'
require 'puppet/node'
require 'puppet/parser/compiler'
require 'tmpdir'
require 'timeout'

TYPES = Puppet::Pops::Types
answers = $stdout.dup
$stdout.reopen($stderr)
$VERBOSE = nil

def utf8(text)
  text = text.dup.force_encoding(Encoding::UTF_8)
  text.valid_encoding? ? text : text.b.inspect
end

def plain(value)
  case value
  when Float then value.finite? ? value : { '__ptype' => 'Float', '__pvalue' => value.to_s }
  when nil, true, false, Integer then value
  when String then utf8(value)
  when Symbol then value.to_s
  when Array then value.map { |item| plain(item) }
  when Hash then value.map { |key, item| [key.to_s, plain(item)] }.to_h
  when TYPES::PSensitiveType::Sensitive then { '__ptype' => 'Sensitive', '__pvalue' => plain(value.unwrap) }
  when TYPES::PBinaryType::Binary then { '__ptype' => 'Binary', '__pvalue' => value.to_s }
  when TYPES::PAnyType then { '__ptype' => 'Type', '__pvalue' => value.to_s }
  else
    { '__ptype' => TYPES::TypeCalculator.singleton.infer(value).simple_name,
      '__pvalue' => TYPES::StringConverter.singleton.convert(value, '%s') }
  end
end

def convert(adapter, invocation, value, convert_to)
  result = Timeout.timeout(5) { adapter.convert_result('k', { 'convert_to' => convert_to }, invocation, -> { value }) }
  { 'value' => plain(result) }
rescue StandardError => e
  { 'error' => utf8(e.message) }
end

Dir.mktmpdir do |home|
  Puppet.initialize_settings(['--confdir', home, '--vardir', home])
  Puppet::Util::Log.level = :err
  environment = Puppet::Node::Environment.create(:production, [])
  Puppet.override(environments: Puppet::Environments::Static.new(environment), current_environment: environment) do
    compiler = Puppet::Parser::Compiler.new(Puppet::Node.new('n', environment: environment))
    compiler.compile do |catalog|
      adapter = Puppet::Pops::Lookup::LookupAdapter.get(compiler) || Puppet::Pops::Lookup::LookupAdapter.adapt(compiler)
      invocation = Puppet::Pops::Lookup::Invocation.new(compiler.topscope)
      $stdin.each_line do |line|
        value, convert_to = JSON.parse(line)
        answers.puts JSON.generate(convert(adapter, invocation, value, convert_to))
      end
      catalog
    end
  end
end
