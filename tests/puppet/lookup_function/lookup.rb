# frozen_string_literal: true

# Calls the `lookup` function of real Puppet: an environment's folder as argument, an options hash a line in, an answer a line out.
#
#   in:  {"name": NAME or [NAME, …], "value_type": "Integer", "default_value": …, "default_values_hash": …, "override": …, "merge": …}
#   out: {"value": …}, {"found": false} or {"error": "message"}

require 'json'
require 'puppet'
require 'puppet/pops'
require 'puppet/node'
require 'puppet/parser/compiler'
require 'tmpdir'

answers = $stdout.dup
$stdout.reopen($stderr)

def plain(value)
  case value
  when Array then value.map { |item| plain(item) }
  when Hash then value.to_h { |key, item| [key.to_s, plain(item)] }
  when Puppet::Pops::Types::PSensitiveType::Sensitive then { '__ptype' => 'Sensitive', '__pvalue' => plain(value.unwrap) }
  else value
  end
end

def answer(scope, options)
  Puppet::Pops::Lookup::LookupAdapter.clear(scope.compiler)
  type = options['value_type']
  options = options.merge('value_type' => Puppet::Pops::Types::TypeParser.singleton.parse(type)) if type
  { 'value' => plain(scope.call_function('lookup', [options])) }
rescue Puppet::DataBinding::LookupError => e
  e.message.start_with?('Function lookup() did not find') ? { 'found' => false, 'message' => e.message } : { 'error' => e.message }
rescue StandardError => e
  { 'error' => e.message }
end

Dir.mktmpdir do |home|
  environments = File.join(home, 'environments')
  Dir.mkdir(environments)
  File.symlink(File.expand_path(ARGV[0]), File.join(environments, 'production'))
  Puppet.initialize_settings(['--confdir', home, '--vardir', home, '--hiera_config', File.join(home, 'none.yaml')])
  Puppet::Util::Log.level = :err
  loader = Puppet::Environments::Directories.new(environments, [])
  Puppet.override(environments: loader) do
    environment = loader.get!(:production)
    Puppet.override(current_environment: environment) do
      facts = { 'role' => 'web' }
      node = Puppet::Node.new('n', environment: environment, facts: Puppet::Node::Facts.new('n', facts), parameters: facts)
      compiler = Puppet::Parser::Compiler.new(node)
      compiler.compile do |catalog|
        $stdin.each_line { |line| answers.puts JSON.generate(answer(compiler.topscope, JSON.parse(line))) }
        catalog
      end
    end
  end
end
