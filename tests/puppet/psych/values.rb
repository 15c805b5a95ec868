# Reads JSON strings, one a line: each is a YAML text. Answers each with one line of JSON: the value that Puppet's yaml_data
# gets from it, or why it gets none. Calls that Puppet::Util::Yaml.safe_load and HieraConfig.symkeys_to_string make, without Puppet.
require 'json'
require 'yaml'

def without_symbol_keys(value)
  case value
  when Hash
    value.each_with_object({}) { |(k, v), all| all[k.is_a?(Symbol) ? k.to_s : without_symbol_keys(k)] = without_symbol_keys(v) }
  when Array then value.map { |item| without_symbol_keys(item) }
  else value
  end
end

def encode(value)
  case value
  when nil, true, false then value
  when Integer then { i: value.to_s }
  when Float then { f: value.nan? ? 'NaN' : [value].pack('G').unpack1('H*') }
  when Symbol then { s: value.to_s }
  when String
    text = value.dup.force_encoding('UTF-8')
    text.valid_encoding? ? text : { b: value.unpack1('H*') }
  when Array then value.map { |item| encode(item) }
  when Hash then { h: value.map { |k, v| [encode(k), encode(v)] } }
  else { class: value.class.name }
  end
end

$stdin.each_line do |line|
  text = JSON.parse(line, quirks_mode: true)
  answer =
    begin
      value = YAML.safe_load(text, permitted_classes: [Symbol], aliases: true)
      { value: encode(without_symbol_keys(value)) }
    rescue Psych::SyntaxError
      { error: 'syntax' }
    rescue SystemStackError
      { error: 'stack level too deep' }
    rescue StandardError => e
      { error: e.message }
    end
  puts JSON.generate(answer, max_nesting: 0)
end
