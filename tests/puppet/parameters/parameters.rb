# frozen_string_literal: true

# Compiles small environments with the installed Puppet. Standard input has the folder of an
# environment a line; the answer is a line of JSON: the parameters of each class of the catalog
# ({"classes":{"m":{"x":1}}}), or {"error":…} with Puppet's message up to the place in the manifest.

require 'fileutils'
require 'json'
require 'tmpdir'
require 'puppet'
require 'puppet/node'
require 'puppet/parser/compiler'

def plain(value)
  case value
  when nil, true, false, Numeric, String then value
  when Array then value.map { |item| plain(item) }
  when Hash then value.to_h { |key, item| [key.to_s, plain(item)] }
  else value.to_s
  end
end

def compile(root)
  config = File.join(root, 'environment.conf')
  folders = File.exist?(config) ? File.read(config)[/^modulepath *= *(.*)$/, 1].split(':') : ['modules']
  folders = folders.map { |folder| File.join(root, folder) }
  env = Puppet::Node::Environment.create(:production, folders, File.join(root, 'manifests'))
  environments = Puppet::Environments::Static.new(env)
  environments.define_singleton_method(:get_conf) { |_| Puppet::Settings::EnvironmentConf.load_from(root, []) }
  catalog = Puppet.override(environments: environments, current_environment: env) do
    Puppet::Parser::Compiler.compile(Puppet::Node.new('node.example.org', environment: env))
  end
  classes = catalog.resources.select { |one| one.type == 'Class' }
  classes.reject! { |one| %w[Main Settings].include?(one.title.to_s.capitalize) }
  parameters = lambda do |one|
    one.to_hash.transform_keys(&:to_s).reject { |name, _| name == 'name' }.transform_values { |value| plain(value) }
  end
  { 'classes' => classes.to_h { |one| [one.title.downcase, parameters.call(one)] } }
rescue StandardError => e
  { 'error' => e.message.gsub(root, '<env>').sub(/ \((?:file|line): .*\z/m, '') }
end

scratch = Dir.mktmpdir
at_exit { FileUtils.remove_entry(scratch) }
Puppet.initialize_settings(['--confdir', "#{scratch}/conf", '--vardir', "#{scratch}/var", '--codedir', "#{scratch}/code"])
Puppet::Util::Log.close_all
Puppet::Util::Log.level = :err
$stdin.each_line { |line| puts JSON.generate(compile(line.chomp)) }
