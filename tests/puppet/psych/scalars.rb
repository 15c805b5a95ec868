# Reads JSON strings, one a line: each is a plain scalar. Answers each with its class and value in Psych's words, under
# the class loader that Puppet uses: symbols are permitted, nothing else.
require 'json'
require 'psych'

loader = Psych::ClassLoader::Restricted.new(%w[Symbol], [])
scanner = Psych::ScalarScanner.new(loader)
$stdin.each_line do |line|
  begin
    value = scanner.tokenize(JSON.parse(line, quirks_mode: true))
    answer =
      case value
      when Float then ['Float', value.nan? ? 'NaN' : [value].pack('G').unpack1('H*')]
      when true, false then ['Bool', value.to_s]
      else [value.class.name, value.to_s]
      end
  rescue Psych::DisallowedClass => e
    answer = ['Refused', e.message[/\w+\z/]]
  rescue ArgumentError => e
    answer = ['BadNumber', e.message]
  end
  puts JSON.generate(answer)
end
