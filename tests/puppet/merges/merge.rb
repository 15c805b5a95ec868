# Real Puppet's merges: reads one job a line, writes one answer a line.
#
#   job:    {"merge": M, "fold": F}   M: a value of `merge` in lookup_options
#           F: null (nothing found), {"value": V} or [F, ...] (places, folded first)
#   answer: {"value": V}, {"absent": true} or {"error": "message"}
#
# V: JSON, but hashes are {"h": [[key, value], ...]}, long integers {"i": "digits"}, floats {"f": "text"}, symbols {"s": "name"},
# and Sensitive values {"p": V}.
require 'json'
require 'puppet'

Sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive

# An invocation that ignores the records of a lookup.
class Invocation
  def with(_kind, _qualifier)
    yield
  end

  def report_result(value)
    value
  end
end

def decode(given)
  case given
  when Array then given.map { |item| decode(item) }
  when Hash
    kind, content = given.first
    case kind
    when 'h' then content.to_h { |key, value| [decode(key), decode(value)] }
    when 'i' then Integer(content)
    when 'f' then { 'Infinity' => Float::INFINITY, '-Infinity' => -Float::INFINITY }[content] || Float(content)
    when 's' then content.to_sym
    when 'p' then Sensitive.new(decode(content))
    end
  else given
  end
end

def encode(value)
  case value
  when Array then value.map { |item| encode(item) }
  when Hash then { 'h' => value.map { |key, item| [encode(key), encode(item)] } }
  when Integer then value.bit_length > 63 ? { 'i' => value.to_s } : value
  when Float then { 'f' => value.to_s }
  when Symbol then { 's' => value.to_s }
  when Sensitive then { 'p' => encode(value.unwrap) }
  else value
  end
end

def fold(strategy, given)
  case given
  when nil then throw :no_such_key
  when Array then strategy.lookup(given, Invocation.new) { |variant| fold(strategy, variant) }
  else decode(given['value'])
  end
end

def answer(job)
  strategy = Puppet::Pops::MergeStrategy.strategy(decode(job['merge']))
  found = nil
  answered = catch(:no_such_key) do
    found = { 'value' => encode(fold(strategy, job['fold'])) }
    true
  end
  answered ? found : { 'absent' => true }
rescue StandardError, RegexpError => e
  { 'error' => e.message }
end

# `merge_debug` prints, and must not print between the answers.
answers = $stdout.dup
$stdout = File.open(File::NULL, 'w')
$VERBOSE = nil
$stdin.each_line { |line| answers.puts JSON.generate(answer(JSON.parse(line))) }
