# frozen_string_literal: true

# Asks the installed Puppet whether values are of types that name aliases of a module. Standard input
# has JSON lines {"aliases":{"M::A":TEXT},"checks":[[TYPE,VALUE],…]}; the answer is a JSON list a
# line, with one item for each check: null where the value fits, the list of messages where it does
# not, {"error":…} where the text is no type.

require 'fileutils'
require 'json'
require 'tmpdir'
require 'puppet'
require 'puppet/pops'

Puppet[:log_level] = :err
PT = Puppet::Pops::Types

# A value of data: hashes with other keys than strings, and Sensitive values, are written as such.
def value_of(json)
  case json
  when Array then json.map { |item| value_of(item) }
  when Hash
    return PT::PSensitiveType::Sensitive.new(value_of(json['__sensitive'])) if json.key?('__sensitive')
    return json['__pairs'].to_h { |key, value| [value_of(key), value_of(value)] } if json.key?('__pairs')

    json.transform_values { |item| value_of(item) }
  else json
  end
end

def check(text, value, loader)
  type = PT::TypeParser.singleton.parse(text, loader)
  parameters = PT::TypeFactory.struct({ 'x' => type })
  PT::TypeMismatchDescriber.validate_parameters('Class[C]', parameters, { 'x' => value_of(value) })
  nil
rescue Puppet::ParseError, ArgumentError, Puppet::Error => e
  message = e.message
  return { 'error' => message } unless message.start_with?('Class[C]:')

  message.delete_prefix('Class[C]:').split(/\n  ?(?=parameter 'x')/).map(&:strip).reject(&:empty?)
rescue StandardError, SystemStackError => e
  { 'error' => e.class.name }
end

groups = $stdin.each_line.map { |line| JSON.parse(line) }
Dir.mktmpdir do |root|
  groups.each_with_index do |group, number|
    group['aliases'].each do |name, text|
      file = File.join(root, "modules/m#{number}/types/#{name.split('::')[1].downcase}.pp")
      FileUtils.mkdir_p(File.dirname(file))
      File.write(file, "type #{name} = #{text}\n".gsub('M::', "M#{number}::"))
    end
  end
  environment = Puppet::Node::Environment.create(:production, [File.join(root, 'modules')])
  Puppet.override(environments: Puppet::Environments::Static.new(environment), current_environment: environment) do
    loaders = Puppet::Pops::Loaders.new(environment)
    Puppet.push_context(loaders: loaders)
    loader = loaders.private_environment_loader
    groups.each_with_index do |group, number|
      answers = group['checks'].map do |text, value|
        answer = check(text.gsub('M::', "M#{number}::"), value, loader)
        JSON.parse(JSON.generate(answer).gsub("M#{number}::", 'M::'), create_additions: false)
      end
      puts JSON.generate(answers)
    end
  end
end
