# Reads JSON strings, one a line: each is a JSON text. Answers each with whether Ruby's library accepts it, and its
# value written with the types spelled out.
require 'json'

# A lone low surrogate becomes three bytes that are no UTF-8; written here as one U+FFFD.
def valid(text)
  text.b.gsub(/\xED[\xA0-\xBF][\x80-\xBF]/n, "\uFFFD".b).force_encoding('UTF-8')
end

def spelled(value)
  case value
  when Hash then ['hash', value.map { |key, inner| [valid(key), spelled(inner)] }]
  when Array then ['array', value.map { |inner| spelled(inner) }]
  when Float then ['float', [value].pack('G').unpack1('H*')]
  when Integer then ['integer', value.to_s]
  when String then ['string', valid(value)]
  else ['other', value.inspect]
  end
end

$stdin.each_line do |line|
  text = JSON.parse(line, quirks_mode: true)
  begin
    answer = { ok: true, value: spelled(JSON.parse(text)) }
  rescue JSON::ParserError
    answer = { ok: false }
  end
  puts JSON.generate(answer, max_nesting: false)
end
