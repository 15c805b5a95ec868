# frozen_string_literal: true

# Compiles the catalogs of nodes with the installed Puppet. The argument is the folder of an
# environment; standard input has the top scope of a node a line. The answer is a line of JSON:
# `classes`, the parameters of each class of the catalog; `asked`, each key that Puppet looked up for
# a parameter, with whether it was found and its value; or `error`.

require 'json'
require_relative '../oracle/puppet_tree'

# Notes the keys that are looked up for parameters.
module Noted
  def self.keys = (@keys ||= {})

  def search_and_merge(name, invocation, merge, apl = true)
    Noted.keys[name] = nil if apl
    found = super
    Noted.keys[name] = [found] if apl
    found
  end
end

def plain(value)
  case value
  when nil, true, false, Integer, Float, String then value
  when Array then value.map { |item| plain(item) }
  when Hash then value.to_h { |key, item| [key.to_s, plain(item)] }
  when Puppet::Pops::Types::PSensitiveType::Sensitive then { '__ptype' => 'Sensitive', '__pvalue' => plain(value.unwrap) }
  else value.to_s
  end
end

def environment(root)
  path = File.read(File.join(root, 'environment.conf'))[/^modulepath\s*=\s*(.*)$/, 1].strip
  folders = path.split(':').map { |folder| File.join(root, folder) }
  env = Puppet::Node::Environment.create(:production, folders, File.join(root, 'manifests'))
  environments = Puppet::Environments::Static.new(env)
  environments.define_singleton_method(:get_conf) { |_| Puppet::Settings::EnvironmentConf.load_from(root, []) }
  [env, environments]
end

def node(scope, env)
  own = scope.reject { |name, _| PuppetTree::OWN.include?(name) }
  name = scope['trusted']['certname']
  node = Puppet::Node.new(name, environment: env, parameters: own, facts: Puppet::Node::Facts.new(name, scope['facts']))
  node.trusted_data = scope['trusted']
  node
end

def compile(root, scope)
  Noted.keys.clear
  env, environments = environment(root)
  catalog = Puppet.override(environments: environments, current_environment: env) do
    Puppet::Parser::Compiler.compile(node(scope, env))
  end
  classes = catalog.resources.select { |one| one.type == 'Class' && !%w[Main Settings].include?(one.title.to_s.capitalize) }
  parameters = lambda do |one|
    one.to_hash.transform_keys(&:to_s).reject { |name, _| name == 'name' }.transform_values { |value| plain(value) }
  end
  asked = Noted.keys.transform_values { |found| found ? { 'value' => plain(found[0]) } : {} }
  { 'classes' => classes.to_h { |one| [one.title.downcase, parameters.call(one)] }, 'asked' => asked }
rescue StandardError => e
  { 'error' => e.message.gsub(root, '<env>') }
end

answers = $stdout.dup
$stdout.reopen($stderr)
PuppetTree.start do
  Puppet[:code] = ''
  Puppet::Pops::Lookup.singleton_class.prepend(Noted)
  $stdin.each_line do |line|
    scope = JSON.parse(line)
    answers.puts JSON.generate({ 'node' => scope['trusted']['certname'] }.merge(compile(ARGV[0], scope)))
  end
end
